"""Everything that can be wrong with a ledger, as a closed list, and one such finding."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ledger_core.kernel.statements import LogFamily


class DivergenceKind(StrEnum):
    """Everything that can be wrong with a ledger."""

    LEDGER_MISSING = "ledger-missing"
    """There is no ledger where a checkpoint or the lake says that there was one."""
    UNREADABLE = "unreadable"
    """The store cannot read on: the file is damaged or cut short."""
    OFFSET = "offset"
    """Offsets are not consecutive from 1: an event is missing."""
    POSITION = "position"
    """Epoch or shard are not the ledger's."""
    STATEMENT = "statement"
    """The statement's bytes do not decode to exactly themselves."""
    EVENT_ID = "event-id"
    """The statement's bytes have another event id."""
    FAMILY = "family"
    """The statement belongs to the other family."""
    RECEIPT = "receipt"
    """The receipt does not decode, goes back in time, or names no policy in force."""
    CHAIN = "chain"
    """The chain digest does not follow from what stands before it."""
    GENESIS = "genesis"
    """The log does not begin with its genesis."""
    FACT = "fact"
    """Two statements about one source fact, and none supersedes the other."""
    REFERENCE = "reference"
    """A reference to no earlier event, or to one of a kind that may not stand there."""
    RULE = "rule"
    """Another rule of appending: foreign scope, or a policy that does not succeed the one in force."""
    HEAD = "head"
    """The log ends elsewhere than its recorded head: its end is gone, or was replaced."""
    SIGNATURE = "signature"
    """A checkpoint, proof or receipt that no trusted key signed."""
    CHECKPOINT = "checkpoint"
    """What was kept is no checkpoint of this ledger."""
    PROOF = "proof"
    """A proof that does not lead to the root of its checkpoint."""
    TRUNCATED = "truncated"
    """The log is sound and ends before what was kept of it: it was cut off, or an older state was restored."""
    FORKED = "forked"
    """The log is sound and holds another history than what was kept of it."""
    INDEX = "index"
    """The store's own index contradicts the statements."""
    BLOB_MISSING = "blob-missing"
    BLOB_CORRUPT = "blob-corrupt"
    BLOB_ERASED = "blob-erased"
    """Erased without a `blob.erased` that says so."""
    FOLD = "fold"
    """A cascade or reputation receipt differs from what the statements give."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where a ledger departs from what it must be."""

    kind: DivergenceKind
    family: LogFamily
    offset: int | None
    """Offset of the event concerned; None where no single event is."""
    event_id: str | None
    detail: str

    def __str__(self) -> str:
        place = self.family if self.offset is None else f"{self.family} event {self.offset}"
        return f"{self.kind} at {place}: {self.detail}"
