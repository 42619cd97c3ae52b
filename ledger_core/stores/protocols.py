"""What every event store and blob store offers, and the values they speak in.

One contract, several stores: `tests/contract/` holds each implementation to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import DigestHex
from ledger_core.kernel.log import Position, Receipt, Role
from ledger_core.kernel.statements import LogFamily, Scope, Statement, decode_statement

Channel = Literal["service", "embedded", "import"]


@dataclass(frozen=True)
class StoredEvent:
    """One event as it lies in the log; statement and receipt are decoded, and thereby checked, on first use."""

    event_id: str
    family: LogFamily
    position: Position
    encoded: bytes
    """Canonical bytes of the statement."""
    receipt_bytes: bytes
    chain: str
    """Hn: the chain digest after this event."""

    @cached_property
    def statement(self) -> Statement:
        """The statement; raises :class:`StatementError` where its bytes do not decode to exactly themselves."""
        return decode_statement(self.encoded)

    @cached_property
    def receipt(self) -> Receipt:
        """The receipt; raises :class:`StatementError` where its bytes do not decode to exactly themselves."""
        return Receipt.decode(self.receipt_bytes)

    @cached_property
    def kind(self) -> str:
        """The statement's kind; raises as :attr:`statement`."""
        return self.statement.kind

    @cached_property
    def source_fact_id(self) -> str:
        """The statement's source fact; raises as :attr:`statement`."""
        return self.statement.source_fact_id

    @property
    def offset(self) -> int:
        """The committed offset as a number, from 1."""
        return int(self.position.committed_offset)


Row = tuple[str, LogFamily, int, str, int, bytes, bytes, str]
"""Event id, family, offset, epoch, shard, statement, receipt and chain, unchecked: of a damaged ledger, of any type."""

IndexedRow = tuple[str, LogFamily, int, str, int, bytes, bytes, str, str, str]
"""A :data:`Row`, and the kind and the source fact that the store's index columns say it has."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """The statement was appended."""

    event_id: str
    family: LogFamily
    position: Position


@dataclass(frozen=True, slots=True)
class Replayed:
    """The statement was there already; nothing was written."""

    event_id: str
    family: LogFamily
    position: Position


Outcome = Fresh | Replayed


@dataclass(frozen=True, slots=True)
class Delivery:
    """Who appends, in which role and when: what the receipts of one append say."""

    principal_id: str
    role: Role
    channel: Channel
    received_at: str
    context_head: str | None = None
    """For generations: the evidence head that their context was rendered from."""
    delivery_id: str | None = None


@dataclass(frozen=True, slots=True)
class Collision:
    """A refused statement, kept by its digest: evidence of a source that says two things about one fact."""

    source_fact_id: str
    held: str
    refused: str
    received_at: str


class BlobStatus(StrEnum):
    """What a store can say about a digest."""

    PRESENT = "present"
    MISSING = "missing"
    CORRUPT = "corrupt"
    ERASED = "erased"


class StoredBlob(NamedTuple):
    """What a streamed put came to."""

    digest: DigestHex
    byte_length: int


class BlobStore(Protocol):
    """Content-addressed bytes."""

    def put(self, data: bytes) -> DigestHex:
        """Store ``data`` durably and return its body digest; raises :class:`BlobError` for an erased digest."""
        ...

    def put_all(self, many: Iterable[bytes]) -> tuple[DigestHex, ...]:
        """Store each of ``many`` durably, for less than the price of as many calls of :meth:`put`."""
        ...

    def put_stream(self, chunks: Iterable[bytes]) -> StoredBlob:
        """Store the concatenated ``chunks`` durably, holding one of them in memory at a time.

        What ``chunks`` raises passes through and leaves nothing behind: a producer that has too much to say, or breaks off,
        refuses by raising. Raises :class:`BlobError` for an erased digest, once the last chunk is read.
        """
        ...

    def read(self, ref: ContentRef) -> bytes:
        """The bytes of ``ref``, verified; raises :class:`BlobError` for missing, corrupt or erased content."""
        ...

    def status(self, ref: ContentRef) -> BlobStatus:
        """Whether the bytes of ``ref`` are there and are what the digest says."""
        ...

    def require_durable(self, ref: ContentRef) -> None:
        """Return once the bytes would survive a crash; raises :class:`BlobError` unless present or erased."""
        ...

    def erase(self, digest: str) -> None:
        """Destroy the bytes and refuse the digest from now on; erasing what is absent only refuses it."""
        ...


class EventStore(Protocol):
    """The append-only log of one scope."""

    scope: Scope

    def append(self, statements: Sequence[Statement], delivery: Delivery) -> tuple[Outcome, ...]:
        """Append all of ``statements`` in one transaction, or none.

        Raises:
            CollisionError: the fact is known with other bytes.
            UnknownReferenceError: a reference to no event, or to one of a kind that may not stand there.
            AppendError: any other rule of the log.
            BlobError: content that is not durable yet.
            LedgerBusyError, StorageFullError: nothing was written; try again later, or elsewhere.
        """
        ...

    def adopt(self, events: Iterable[StoredEvent], collisions: Iterable[Collision]) -> None:
        """Take over another log as it is, positions, receipts and chain included, in one transaction.

        ``events`` come in order (of their family) and have been verified; here nothing is judged. Raises
        :class:`AppendError` unless this log is empty.
        """
        ...

    def events(self, family: LogFamily, after: int = 0) -> Iterator[StoredEvent]:
        """The events of ``family`` with an offset beyond ``after``, in order."""
        ...

    def pages(self, family: LogFamily, after: int = 0) -> Iterator[Sequence[IndexedRow]]:
        """As :meth:`events`, as they lie there and some at a time: for whoever reads all of a log."""
        ...

    def event(self, event_id: str) -> StoredEvent | None:
        """The event, or None."""
        ...

    def head(self, family: LogFamily) -> str:
        """The chain digest of ``family``: H0 while it is empty; raises :class:`StoreError` before genesis."""
        ...

    def count(self, family: LogFamily) -> int:
        """Number of events in ``family``."""
        ...

    def policy_head(self) -> StoredEvent | None:
        """The `policy.activated` event in force."""
        ...

    def collisions(self) -> tuple[Collision, ...]:
        """Every collision that was refused, in order."""
        ...

    def index_errors(self, *, compared: bool = False) -> Iterator[tuple[LogFamily, int, str]]:
        """Where the store's own index contradicts its statements: family, offset and what is wrong.

        With ``compared`` every row that :meth:`pages` gave had the kind and the source fact of its statement, and the logs
        end where their heads say: what is left to see is that the indexes lead to these rows.
        """
        ...

    def close(self) -> None:
        """Release files and locks."""
        ...
