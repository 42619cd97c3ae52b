"""What an agent author uses: the facade, contexts, verdicts, and the reasons for a belief."""

from ledger_core.harness.agent import LedgerAgent, Observed, Said, Verification
from ledger_core.harness.contexts import RenderedContext, context_at
from ledger_core.harness.logs import JsonlLog
from ledger_core.sealing.generations import ContextSpan, PlainCall

__all__ = [
    "ContextSpan",
    "JsonlLog",
    "LedgerAgent",
    "Observed",
    "PlainCall",
    "RenderedContext",
    "Said",
    "Verification",
    "context_at",
]
