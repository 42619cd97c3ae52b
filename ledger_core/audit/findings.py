"""What an audit can find, as a closed list."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """Everything that can be wrong; the names are those of ``docs/ledger.md``."""

    UNREADABLE = "unreadable"
    OFFSET = "offset"
    POSITION = "position"
    STATEMENT = "statement"
    EVENT_ID = "event-id"
    FAMILY = "family"
    RECEIPT = "receipt"
    CHAIN = "chain"
    GENESIS = "genesis"
    FACT = "fact"
    REFERENCE = "reference"
    RULE = "rule"
    HEAD = "head"
    SIGNATURE = "signature"
    CHECKPOINT = "checkpoint"
    PROOF = "proof"
    TRUNCATED = "truncated"
    FORKED = "forked"
    BLOB_MISSING = "blob-missing"
    BLOB_CORRUPT = "blob-corrupt"
    BLOB_ERASED = "blob-erased"
    FOLD = "fold"


@dataclass(frozen=True)
class Finding:
    """The first thing that is wrong, and where."""

    kind: FindingKind
    family: str
    offset: int | None
    detail: str

    def __str__(self) -> str:
        place = f"{self.family} log" if self.offset is None else f"{self.family} event {self.offset}"
        return f"{self.kind} at {place}: {self.detail}"


class FoundError(Exception):
    """Ends an audit with its first finding."""

    def __init__(self, kind: FindingKind, family: str, offset: int | None, detail: str) -> None:
        self.finding = Finding(kind, family, offset, detail)
        super().__init__(str(self.finding))
