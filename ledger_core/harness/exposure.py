"""Who saw an entry: claims made with it in view, of which nobody has measured whether they rest on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ledger_core.belief.edges import measurements_in_force
from ledger_core.belief.index import Claim, index_statements
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.types import EventId


def exposed_unmeasured(
    statements: Sequence[Statement], policy: Policy, entries: Iterable[EventId]
) -> tuple[EventId, ...]:
    """Claims whose generation had one of ``entries`` in its context and for which no measurement is in force, sorted.

    What falls with an entry is only what is known to rest on it; these are the claims of which that is not known.
    """
    index = index_statements(statements, policy)
    wanted = frozenset(entries)
    saw = {
        key
        for key, generation in index.generations.items()
        if not wanted.isdisjoint(region.entry for region in generation.body.context if region.entry is not None)
    }
    return tuple(
        sorted(
            key
            for key, entry in index.entries.items()
            if isinstance(entry, Claim) and entry.body.generation in saw and not measurements_in_force(key, index)
        )
    )
