"""A ledger as it stood: its statements and its policy as of an effective and a recorded time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger_core.belief.as_of import Reading, Recorded, as_of
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.log import genesis_chain
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import Collision


@dataclass(frozen=True, slots=True)
class LedgerReading:
    """What a ledger said as of two times."""

    reading: Reading
    head: str
    """Chain digest of the last evidence event recorded by then, which pins everything before it; H0 before the first."""
    collisions: tuple[Collision, ...]
    """Statements refused by then because their fact was known otherwise, kept by digest."""


def read_as_of(ledger: Ledger, *, effective: str | None = None, recorded: str | None = None) -> LedgerReading:
    """Read ``ledger`` as of ``effective`` and ``recorded`` time, each inclusive; None is without limit.

    Raises:
        StrictProfileError: a time that is no strict timestamp.
        BeliefError: the ledger did not exist by ``recorded``, or is no ledger at all.
    """
    log = tuple(ledger.events("control"))
    if not log:
        raise BeliefError("this ledger has no genesis; run `veritas verify`")
    opening = log[0]
    head: str = genesis_chain(opening.event_id, opening.position.epoch_id, "evidence", opening.position.shard)

    def evidence() -> Iterator[Recorded]:
        nonlocal head
        for event in ledger.events():
            at = event.receipt.recorded_at
            if recorded is not None and at > recorded:
                return  # recorded times never fall, so nothing behind it is earlier
            head = event.chain
            yield Recorded(event.statement, at)

    control = (Recorded(event.statement, event.receipt.recorded_at) for event in log)
    reading = as_of(evidence(), control, effective=effective, recorded=recorded)
    collisions = tuple(each for each in ledger.store.collisions() if recorded is None or each.received_at <= recorded)
    return LedgerReading(reading, head, collisions)
