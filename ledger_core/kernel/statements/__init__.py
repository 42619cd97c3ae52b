"""One canonical record per statement kind (see the ledger's table of kinds in docs/ledger.md).

A statement is an envelope around a typed body; :mod:`.codec` knows the closed set of kinds.
"""

from ledger_core.kernel.statements.codec import (
    CLAIM_KINDS,
    ENTRY_KINDS,
    FAMILIES,
    STATEMENT_TYPES,
    LogFamily,
    Reference,
    Statement,
    content_refs,
    decode_statement,
    family_of,
    references,
)
from ledger_core.kernel.statements.envelope import Lineage, Representation, Scope, SourceFact

__all__ = [
    "CLAIM_KINDS",
    "ENTRY_KINDS",
    "FAMILIES",
    "STATEMENT_TYPES",
    "Lineage",
    "LogFamily",
    "Reference",
    "Representation",
    "Scope",
    "SourceFact",
    "Statement",
    "content_refs",
    "decode_statement",
    "family_of",
    "references",
]
