"""A second implementation of the ledger's rules, written from the documents and sharing no code with the first.

It needs the standard library, and `cryptography` where a signature is to be checked. ``python -m ledger_core.audit PATH``
reads a ledger's folder, its SQLite file or an export and recomputes everything that its head stands for.
"""

from ledger_core.audit.auditor import Report, audit
from ledger_core.audit.beliefs import Belief, State, believe
from ledger_core.audit.findings import Finding, FindingKind
from ledger_core.audit.source import SourceError, open_source

__all__ = ["Belief", "Finding", "FindingKind", "Report", "SourceError", "State", "audit", "believe", "open_source"]
