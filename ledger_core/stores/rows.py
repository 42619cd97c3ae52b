"""Events as rows of a table: what the SQL stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from ledger_core.kernel.log import Position
from ledger_core.kernel.statements import FAMILIES, LogFamily
from ledger_core.kernel.statements.envelope import kind_and_fact
from ledger_core.stores.protocols import StoredEvent
from ledger_core.stores.rules import Tail

COLUMNS = "event_id, family, committed_offset, epoch_id, shard, statement, receipt, chain"

WRITTEN = "family, committed_offset, shard, epoch_id, event_id, kind, source_fact_id, receipt, statement, chain"
"""The columns that :func:`written` fills, in its order."""

PAGE = 500
"""Events that are read at a time: no read transaction outlives a call, and no log has to fit in memory."""

Row = tuple[str, LogFamily, int, str, int, bytes, bytes, str]
IndexColumns = tuple[str, int, str, str]
"""Family, offset, kind and source fact of an event, as the index columns have them."""


class _Readable(Protocol):
    def events(self, family: LogFamily, after: int = 0) -> Iterator[StoredEvent]: ...


def stored(row: Row) -> StoredEvent:
    """The event of a row, unchecked: reading a damaged ledger must get as far as verification can say where it is damaged."""
    event_id, family, offset, epoch_id, shard, statement, receipt, chain = row
    # A damaged file's columns do not keep to their declared types either.
    position = Position.unchecked(str(number(offset)), str(epoch_id), number(shard))
    return StoredEvent(str(event_id), family, position, _bytes(statement), _bytes(receipt), str(chain))


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
    store: _Readable,
    columns: Callable[[Sequence[str]], Mapping[str, IndexColumns]],
    tail: Callable[[LogFamily], Tail | None],
) -> Iterator[tuple[LogFamily, int, str]]:
    """Where index columns and heads contradict the statements and receipts: family, offset and what is wrong.

    ``columns`` looks up a page of event ids, by the index over them.
    """
    for family in FAMILIES:
        last: StoredEvent | None = None
        events = store.events(family)
        while page := list(islice(events, PAGE)):
            found = columns([event.event_id for event in page])
            for event in page:
                expected = (family, event.offset, *kind_and_fact(event.encoded))
                if found.get(event.event_id) != expected:
                    said = found.get(event.event_id)
                    yield family, event.offset, f"the index says {said}, the statement {expected}"
            last = page[-1]
        recorded_at = "" if last is None else last.receipt.recorded_at
        end = tail(family)
        if end is not None and end.recorded_at != recorded_at:
            yield family, end.offset, f"the head says recorded at {end.recorded_at}, the receipt {recorded_at}"
