"""Rounds over a list of statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledger_core.kernel.statements import Statement
from ledger_core.stores import Ledger


def append_one(ledger: Ledger) -> Callable[[Statement], None]:
    """Append one statement in a transaction of its own."""

    def append(statement: Statement) -> None:
        ledger.append((statement,), role="recorder")

    return append


def each(act: Callable[[Statement], None], statements: Sequence[Statement], size: int) -> Callable[[], None]:
    """A round: ``act`` on the next ``size`` of ``statements``."""
    rest = iter(statements)

    def one_round() -> None:
        for _ in range(size):
            act(next(rest))

    return one_round
