"""`veritas import`: every record of a file into a ledger, any number of times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ledger_core.connectors.formats import format_named
from ledger_core.connectors.mapping import RecordMapper
from ledger_core.connectors.preparing import Scrubber
from ledger_core.connectors.transcript import Reject
from ledger_core.connectors.writing import LedgerWriter, Tally
from ledger_core.stores import Ledger

Progress = Callable[[int, int | None], None]
"""Called with the records read and, where known, the records in all."""


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
    tally = Tally()
    writer = LedgerWriter(ledger, tally)
    equals = Counter[str]()
    for done, item in enumerate(reading.records, start=1):
        if isinstance(item, Reject):
            writer.reject(item)
        else:
            writer.add(item, mapper.batches(item, mapper.record_key(item, equals[item.digest])))
            equals[item.digest] += item.own_id is None
        if progress is not None:
            progress(done, reading.total)
    writer.flush()
    return ImportReport(
        records=tally.records,
        fresh=tally.fresh,
        replayed=tally.replayed,
        rejects=tuple(tally.rejects),
        withheld=scrubber.withheld,
        redactions=dict(sorted(scrubber.redactions.items())),
    )
