"""`veritas import`: every record of a file into a ledger, each in one transaction, any number of times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ledger_core.connectors.formats import format_named
from ledger_core.connectors.mapping import Batch, RecordMapper
from ledger_core.connectors.preparing import Scrubber
from ledger_core.connectors.transcript import Reject, TranscriptRecord
from ledger_core.kernel.errors import AppendError, BlobError, CanonicalError, CollisionError, StatementError
from ledger_core.stores import Fresh, Ledger

Progress = Callable[[int, int | None], None]
"""Called with the records done and, where known, the records in all."""

_MAX_STATEMENTS = 4_096
_MAX_BYTES = 32 << 20
"""From here on a record is appended in several transactions, cut between messages."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did."""

    records: int
    """Records that are in the ledger now, fresh or not."""
    fresh: int
    """Events that were appended."""
    replayed: int
    """Events that were there already."""
    rejects: tuple[Reject, ...]
    withheld: int
    """Texts in which secrets remained after redaction, and which were therefore not stored."""
    redactions: Mapping[str, int]
    """Secrets that were replaced, by kind."""


@dataclass(slots=True)
class _Tally:
    records: int = 0
    fresh: int = 0
    replayed: int = 0
    rejects: list[Reject] = field(default_factory=list)


def import_transcripts(ledger: Ledger, format: str, path: Path, *, progress: Progress | None = None) -> ImportReport:  # noqa: A002 - the command line's word
    """Import the transcripts in ``path`` into ``ledger``.

    A record that cannot be read, or that says something else about a fact the ledger knows, is rejected with its place
    and the rest is imported. Importing again appends nothing; after a kill it appends what was missing.

    Raises:
        ConnectorError: an unknown format, or a file that cannot be read at all; nothing was appended.
        LedgerBusyError, StorageFullError: the ledger cannot be written; every record before that is complete.
    """
    reading = format_named(format).read(path)
    scrubber = Scrubber()
    mapper = RecordMapper(ledger.scope, format, scrubber)
    tally, equals = _Tally(), Counter[str]()
    for done, item in enumerate(reading.records):
        if progress is not None:
            progress(done, reading.total)
        if isinstance(item, Reject):
            tally.rejects.append(item)
            continue
        key = mapper.record_key(item, equals[item.digest])
        equals[item.digest] += item.own_id is None
        try:
            _append(ledger, mapper.batches(item, key), tally)
        except (AppendError, BlobError, CanonicalError, StatementError) as error:
            tally.rejects.append(Reject(item.place, _reason(item, error)))
        else:
            tally.records += 1
    if progress is not None:
        progress(tally.records + len(tally.rejects), reading.total)
    return ImportReport(
        records=tally.records,
        fresh=tally.fresh,
        replayed=tally.replayed,
        rejects=tuple(tally.rejects),
        withheld=scrubber.withheld,
        redactions=dict(sorted(scrubber.redactions.items())),
    )


def _append(ledger: Ledger, batches: Iterator[Batch], tally: _Tally) -> None:
    """Append a record: one transaction, or several where it is huge."""
    for chunk in _chunks(batches):
        ledger.put_blobs(chunk.blobs)
        for outcome in ledger.append(chunk.statements, role="recorder", channel="import"):
            tally.fresh += isinstance(outcome, Fresh)
            tally.replayed += not isinstance(outcome, Fresh)


def _chunks(batches: Iterator[Batch]) -> Iterator[Batch]:
    chunk, size = Batch(), 0
    for batch in batches:
        added = sum(len(data) for data, _ in batch.blobs) + sum(len(each.encoded) for each in batch.statements)
        if chunk.statements and (
            len(chunk.statements) + len(batch.statements) > _MAX_STATEMENTS or size + added > _MAX_BYTES
        ):
            yield chunk
            chunk, size = Batch(), 0
        chunk.statements += batch.statements
        chunk.blobs += batch.blobs
        size += added
    yield chunk


def _reason(record: TranscriptRecord, error: Exception) -> str:
    if isinstance(error, CollisionError) and record.own_id is not None:
        return (
            f"the ledger already holds another record under the id {'/'.join(record.own_id)}; "
            f"import it into another project ({error})"
        )
    return str(error)
