"""Events as rows of a table: what the SQL stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ledger_core.kernel.log import Position
from ledger_core.kernel.statements import FAMILIES, LogFamily
from ledger_core.kernel.statements.envelope import kind_and_fact
from ledger_core.stores.protocols import IndexedRow, Row, StoredEvent
from ledger_core.stores.rules import Tail

COLUMNS = "event_id, family, committed_offset, epoch_id, shard, statement, receipt, chain"
INDEXED = f"{COLUMNS}, kind, source_fact_id"
"""The columns of an :data:`IndexedRow`."""

WRITTEN = "family, committed_offset, shard, epoch_id, event_id, kind, source_fact_id, receipt, statement, chain"
"""The columns that :func:`written` fills, in its order."""

PAGE = 500
"""Events that are read at a time: no read transaction outlives a call, and no log has to fit in memory."""

IndexColumns = tuple[str, int, str, str]
"""Family, offset, kind and source fact of an event, as the index columns have them."""


def stored(row: Row | IndexedRow) -> StoredEvent:
    """The event of a row, unchecked: reading a damaged ledger must get as far as verification can say where it is damaged."""
    event_id, family, offset, epoch_id, shard, statement, receipt, chain = row[:8]
    # A damaged file's columns do not keep to their declared types either.
    position = Position.unchecked(str(number(offset)), str(epoch_id), number(shard))
    event = StoredEvent.__new__(StoredEvent)
    # As its initialiser does, field by field; for every event that is read, one call is enough.
    vars(event).update(
        event_id=str(event_id),
        family=family,
        position=position,
        encoded=_bytes(statement),
        receipt_bytes=_bytes(receipt),
        chain=str(chain),
    )
    return event


def written(event: StoredEvent) -> tuple[object, ...]:
    """The row of an event that is about to be appended, index columns included: :data:`WRITTEN`."""
    return (
        event.family,
        event.offset,
        event.position.shard,
        event.position.epoch_id,
        event.event_id,
        event.kind,
        event.source_fact_id,
        event.receipt_bytes,
        event.encoded,
        event.chain,
    )


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else repr(value).encode()


def number(value: object) -> int:
    """``value`` where it is a number, else one that no offset is."""
    return value if isinstance(value, int) else -1


def index_errors(
    pages: Callable[[LogFamily], Iterator[Sequence[IndexedRow]]],
    columns: Callable[[Sequence[str]], Mapping[str, IndexColumns]],
    tail: Callable[[LogFamily], Tail | None],
) -> Iterator[tuple[LogFamily, int, str]]:
    """Where index columns and heads contradict the statements and receipts: family, offset and what is wrong.

    ``pages`` are the rows of a family in order; ``columns`` looks up a page of event ids, by the index over them.
    """
    for family in FAMILIES:
        last: IndexedRow | None = None
        for page in pages(family):
            found = columns([str(row[0]) for row in page])
            for event_id, _, offset, _, _, statement, *_ in page:
                at = number(offset)
                expected = (family, at, *kind_and_fact(_bytes(statement)))
                said = found.get(str(event_id))
                if said != expected:
                    yield family, at, f"the index says {said}, the statement {expected}"
            last = page[-1]
        yield from head_errors(family, last, tail(family))


def head_errors(family: LogFamily, last: IndexedRow | None, end: Tail | None) -> Iterator[tuple[LogFamily, int, str]]:
    """Where a head tells another time than the receipt of the last event."""
    recorded_at = "" if last is None else stored(last).receipt.recorded_at
    if end is not None and end.recorded_at != recorded_at:
        yield family, end.offset, f"the head says recorded at {end.recorded_at}, the receipt {recorded_at}"
