"""Takes secrets out of text before it becomes a blob: the policy `secrets-v1`.

Pure: text in, text out, the same on every machine. What does not belong here: reading files, writing blobs, and any
decision about whom to trust.
"""

from ledger_core.redaction.findings import Finding
from ledger_core.redaction.secrets import POLICY, Redaction, redact, remembered, scan

__all__ = ["POLICY", "Finding", "Redaction", "redact", "remembered", "scan"]
