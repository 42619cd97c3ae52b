"""Mapped records into the ledger: each in one transaction, their content made durable for several at once.

Every blob costs a flush of its file and one of its folder; writing the blobs of many records together shares the latter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from ledger_core.connectors.mapping import Batch
from ledger_core.connectors.transcript import Reject, TranscriptRecord
from ledger_core.kernel.errors import (
    AppendError,
    BlobError,
    CanonicalError,
    CollisionError,
    LedgerError,
    StatementError,
)
from ledger_core.redaction import redact
from ledger_core.stores import Fresh, Ledger

_MAX_STATEMENTS = 4_096
_MAX_BYTES = 32 << 20
"""From here on a record is appended in several transactions, cut between messages."""
_GROUP_BYTES = 4 << 20
_GROUP_RECORDS = 32
"""Records whose content is made durable together."""

_OF_ONE_RECORD = (AppendError, BlobError, CanonicalError, StatementError)
"""What refuses a record and lets the rest go on; anything else says that the ledger cannot be written."""


@dataclass(slots=True)
class Tally:
    """What has become of the records so far."""

    records: int = 0
    fresh: int = 0
    replayed: int = 0
    rejects: list[Reject] = field(default_factory=list)

    def reject(self, place: str, reason: str) -> None:
        """Note a reject; its words may repeat what the file holds, so they are redacted like everything else."""
        self.rejects.append(Reject(redact(place).text, redact(reason).text))


@dataclass(slots=True)
class LedgerWriter:
    """Appends records in the order they come."""

    ledger: Ledger
    tally: Tally
    _pending: list[tuple[TranscriptRecord, Batch]] = field(default_factory=list)
    _pending_bytes: int = 0

    def add(self, record: TranscriptRecord, batches: Iterable[Batch]) -> None:
        """Take a record; it is in the ledger, or on the reject list, after :meth:`flush` at the latest."""
        chunks = chunked(batches)
        try:
            first, second = next(chunks), next(chunks, None)
        except _OF_ONE_RECORD as error:
            self.flush()
            self._reject(record, error)
            return
        if second is None:
            self._pending.append((record, first))
            self._pending_bytes += size_of(first)
            if self._pending_bytes >= _GROUP_BYTES or len(self._pending) >= _GROUP_RECORDS:
                self.flush()
        else:
            self.flush()
            self._write(record, chain((first, second), chunks), is_stored=False)

    def flush(self) -> None:
        """Append every record taken so far."""
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        is_stored = True
        try:
            self.ledger.put_blobs([blob for _, chunk in pending if not self._is_known(chunk) for blob in chunk.blobs])
        except BlobError:
            is_stored = False  # content of one of them was erased on purpose; each finds out for itself
        for record, chunk in pending:
            self._write(record, (chunk,), is_stored=is_stored)

    def _write(self, record: TranscriptRecord, chunks: Iterable[Batch], *, is_stored: bool) -> None:
        try:
            for chunk in chunks:
                self._append(chunk, is_stored=is_stored)
        except _OF_ONE_RECORD as error:
            self._reject(record, error)
        else:
            self.tally.records += 1

    def _append(self, chunk: Batch, *, is_stored: bool) -> None:
        if self._is_known(chunk):
            self.tally.replayed += len(chunk.statements)
            return
        if not is_stored:
            self.ledger.put_blobs(chunk.blobs)
        for outcome in self.ledger.append(chunk.statements, role="recorder", channel="import"):
            self.tally.fresh += isinstance(outcome, Fresh)
            self.tally.replayed += not isinstance(outcome, Fresh)

    def _is_known(self, chunk: Batch) -> bool:
        """Whether all of it is in the log: then its content is durable, and there is nothing to write."""
        return all(self.ledger.store.event(statement.event_id) is not None for statement in chunk.statements)

    def reject(self, item: Reject) -> None:
        """Note a record that could not be read, after what came before it."""
        self.flush()
        self.tally.reject(item.place, item.reason)

    def _reject(self, record: TranscriptRecord, error: LedgerError) -> None:
        reason = str(error)
        if isinstance(error, CollisionError) and record.own_id is not None:
            reason = (
                f"the ledger holds another record under the id {'/'.join(record.own_id)}; "
                f"import it into another project ({error})"
            )
        self.tally.reject(record.place, reason)


def chunked(batches: Iterable[Batch]) -> Iterator[Batch]:
    """``batches`` joined up to the bounds of one transaction; at least one, possibly empty."""
    chunk, size = Batch(), 0
    for batch in batches:
        added = size_of(batch)
        if chunk.statements and (
            len(chunk.statements) + len(batch.statements) > _MAX_STATEMENTS or size + added > _MAX_BYTES
        ):
            yield chunk
            chunk, size = Batch(), 0
        chunk.statements += batch.statements
        chunk.blobs += batch.blobs
        size += added
    yield chunk


def size_of(batch: Batch) -> int:
    """Bytes of a batch's content and statements."""
    return sum(len(data) for data, _ in batch.blobs) + sum(len(each.encoded) for each in batch.statements)
