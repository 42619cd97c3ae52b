"""Belief kept beside the ledger: folded once, then kept up to date, and never believed against the ledger.

:class:`LedgerProjection` reads what was appended since it was last asked. It is a convenience of readers: verification
and the receipts of verdicts never look at it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from ledger_core.belief.projection import Projection
from ledger_core.belief.state import BeliefState
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import StoredEvent


class LedgerProjection:
    """Belief in everything a ledger holds, under its policy in force or under another; threads may share it."""

    def __init__(self, ledger: Ledger, policy: Policy | None = None) -> None:
        """Nothing is read before the first :meth:`state`; ``policy`` None follows the policy in force."""
        self._ledger = ledger
        self._fixed = policy
        self._lock = threading.Lock()
        self._projection: Projection | None = None
        self._last: StoredEvent | None = None

    @property
    def head(self) -> str | None:
        """Chain digest of the last evidence event that was folded; None where there is none."""
        return None if self._last is None else self._last.chain

    def state(self) -> BeliefState:
        """The state at the present evidence head.

        What was folded before is kept only if the ledger still has the same event at the same place and the policy is
        the same; otherwise everything is folded anew.

        Raises:
            StatementError, StoreError: the ledger is damaged; run `veritas verify`.
            PolicyError: as :func:`~ledger_core.belief.fold`.
        """
        with self._lock:
            policy = self._fixed or self._ledger.policy()
            projection = self._projection
            if projection is None or projection.policy != policy or not self._continues():
                projection, self._last = Projection(policy), None
            self._projection = None  # one that fails half-way is of no further use
            projection.extend(self._unread())
            self._projection = projection
            return projection.state()

    def _continues(self) -> bool:
        last = self._last
        if last is None:
            return True
        there = next(self._ledger.events(after=last.offset - 1), None)
        return there is not None and (there.offset, there.chain) == (last.offset, last.chain)

    def _unread(self) -> Iterator[Statement]:
        for event in self._ledger.events(after=0 if self._last is None else self._last.offset):
            yield event.statement
            self._last = event
