"""Whether two texts contradict each other: a cheap screen, then a language model asked in both orders."""

from ledger_core.verification.receipts import recomputed
from ledger_core.verification.screening import Screening
from ledger_core.verification.settings import Settings
from ledger_core.verification.texts import Text
from ledger_core.verification.verifier import Finding, Verifier

__all__ = ["Finding", "Screening", "Settings", "Text", "Verifier", "recomputed"]
