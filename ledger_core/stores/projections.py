"""Belief kept beside the ledger: folded once, then kept up to date, and never believed against the ledger.

In a process, :class:`LedgerProjection` reads what was appended since it was last asked. On disk, a :class:`StateCache`
holds whole states by evidence head, policy and the code of the fold; a file of any other is refused. Both are
conveniences of readers: verification and the receipts of verdicts never look at them.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path

from ledger_core.belief.projection import Projection
from ledger_core.belief.state import BeliefState, EntryState, Hyperedge, Retraction
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import StoredEvent

_TOGETHER = 500
"""Statements that are taken in at a time: a batch costs a little by itself."""


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


class VerifiedState:
    """Belief in a ledger that is being verified: ``verify(ledger, reader=state.read)``, and every statement is decoded once.

    The state counts for what the report says of the ledger, and for nothing where that names a divergence.
    """

    def __init__(self, policy: Policy) -> None:
        self._projection = Projection(policy)
        self._waiting: list[Statement] = []

    def read(self, statement: Statement) -> None:
        """Take in the next statement."""
        self._waiting.append(statement)
        if len(self._waiting) >= _TOGETHER:
            self._take_in()

    def state(self) -> BeliefState:
        """The state of all statements that were read."""
        self._take_in()
        return self._projection.state()

    def _take_in(self) -> None:
        self._projection.extend(self._waiting)
        self._waiting.clear()


class StateCache:
    """Belief states as files of one folder, one a policy, each good for exactly one evidence head."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, head: str, policy: Policy) -> BeliefState | None:
        """The state that was saved for ``head`` and ``policy`` by this very fold; None for anything else or damaged."""
        try:
            header, _, body = self._path(policy).read_bytes().partition(b"\n")
            if header != _header(head, policy, body):
                return None
            return _decoded(json.loads(body))
        except (OSError, ValueError, KeyError, TypeError, IndexError, BeliefError):
            return None

    def save(self, head: str, policy: Policy, state: BeliefState) -> None:
        """Keep ``state`` in the place of what was kept for ``policy``; a folder that cannot be written keeps nothing."""
        body = json.dumps(_encoded(state), separators=(",", ":")).encode()
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_header(head, policy, body) + b"\n" + body)
                Path(name).replace(self._path(policy))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def _path(self, policy: Policy) -> Path:
        return self._folder / f"{policy.digest()}.json"


def cached_state(ledger: Ledger, kept: StateCache, policy: Policy | None = None) -> BeliefState:
    """The state of ``ledger``, from ``kept`` where that holds the present head, else folded and put there."""
    policy = policy or ledger.policy()
    known = kept.load(ledger.head(), policy)
    if known is not None:
        return known
    projection = LedgerProjection(ledger, policy)
    state = projection.state()
    if projection.head is not None:
        kept.save(projection.head, policy, state)
    return state


@cache
def _code_digest() -> str:
    """Of the source that computes belief: no version number that somebody could forget to raise."""
    digest = hashlib.sha256()
    for package in ("ledger_core.belief", "ledger_core.kernel.statements"):
        for file in sorted(resources.files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                data = file.read_bytes()
                digest.update(f"{package}/{file.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def _header(head: str, policy: Policy, body: bytes) -> bytes:
    what = {"body": hashlib.sha256(body).hexdigest(), "code": _code_digest(), "head": head, "policy": policy.digest()}
    return json.dumps(what, separators=(",", ":"), sort_keys=True).encode()


def _encoded(state: BeliefState) -> dict[str, object]:
    """Rows in the order of the fields of :class:`EntryState`; the place in the list is the order."""
    return {
        "entries": [
            [
                key,
                e.kind,
                e.tier,
                e.base,
                e.attenuation,
                e.belief,
                e.retracted,
                e.suspended,
                e.invalidated,
                e.corroborated,
                e.external,
                e.cluster,
                e.family,
                [[edge.ppm, *edge.parents] for edge in e.hyperedges],
            ]
            for key, e in state.entries.items()
        ],
        "reputation": [[*key, *counts] for key, counts in state.reputation.items()],
        "retractions": [
            [key, retraction.largest_independent, *retraction.members] for key, retraction in state.retractions.items()
        ],
    }


def _decoded(document: dict[str, list[list[object]]]) -> BeliefState:
    return BeliefState(
        entries=dict(_entry(place, *row) for place, row in enumerate(document["entries"])),  # type: ignore[arg-type]
        retractions=dict(_retraction(*row) for row in document["retractions"]),  # type: ignore[arg-type]
        reputation={(str(row[0]), str(row[1])): (row[2], row[3]) for row in document["reputation"]},  # type: ignore[misc]
    )


def _retraction(key: str, largest: int, *members: str) -> tuple[EventId, Retraction]:
    return EventId(key), Retraction(tuple(EventId(member) for member in members), largest)


def _entry(place: int, key: str, *fields: object) -> tuple[EventId, EntryState]:
    *plain, edges = fields
    hyperedges = tuple(Hyperedge(tuple(parents), ppm) for ppm, *parents in edges)  # type: ignore[attr-defined]
    return EventId(key), EntryState(*plain, place, hyperedges)  # type: ignore[arg-type, call-arg]
