"""The ledgers that are open: one room a scope, with its writer, its belief, its trees and its key.

Two connections a room: the writer's, and one for reading, which a commit that waits for the disk does not hold up.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final

from fastapi.concurrency import run_in_threadpool

from ledger_core.belief.policies import STRICT, STRICT_NAME
from ledger_core.belief.state import BeliefState
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.log import Role
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.providers import EmbeddingProvider
from ledger_core.sealing import ReplayAuditor, ToolRegistry
from ledger_core.service.caller import Caller
from ledger_core.service.catalogue import Catalogue
from ledger_core.service.metrics import Metrics
from ledger_core.service.writer import Writer
from ledger_core.signing import SigningKey
from ledger_core.stores.checkpoints import LedgerTrees, note_file
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.memory import empty_head
from ledger_core.stores.place import Place
from ledger_core.stores.projections import LedgerProjection
from ledger_core.stores.protocols import BlobStore, Channel, EventStore, Outcome

OPEN_LIMIT: Final = 64
"""Ledgers that stay open; the one that was asked for longest ago is closed first."""

OpenLedger = Callable[[Scope], Ledger]
"""Opens the ledger of a scope, made there where there is none. Called twice a room, in a thread."""


def open_at(
    place: Place, now: Callable[[], str], policy: Policy = STRICT, policy_name: str = STRICT_NAME
) -> OpenLedger:
    """The ledgers of ``place``; a new one begins under ``policy``, the strict one unless told otherwise."""

    def open_ledger(scope: Scope) -> Ledger:
        return Ledger.open(place, scope, now=now, policy=policy, policy_name=policy_name)

    return open_ledger


class ActingLedger(Ledger):
    """A ledger in the writer's thread: what is appended through it bears the name of whoever is being served."""

    acting: Caller | None = None

    def append(
        self,
        statements: Iterable[Statement],
        *,
        role: Role,
        channel: Channel = "service",
        context_head: str | None = None,
    ) -> tuple[Outcome, ...]:
        """See :meth:`Ledger.append`; role and channel are the caller's, whatever the code below asks for."""
        del role, channel
        if self.acting is None:
            raise RuntimeError("nobody is being served")
        return self.store.append(tuple(statements), self.acting.delivery(context_head))


@dataclass(frozen=True, slots=True)
class Parts:
    """What all rooms of a service share."""

    open_ledger: OpenLedger
    key: SigningKey
    """Signs receipts, pages and checkpoints."""
    home: Path
    """Where signed checkpoints are kept."""
    metrics: Metrics
    embedder: EmbeddingProvider | None
    """For policies that tell origins apart by the cosine of their texts."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A state, and what it is of."""

    state: BeliefState
    policy: Policy
    head: str
    """Evidence head."""
    last: str | None
    """Chain digest of the last event; None where there is none, so that the head is H0."""


class Room:
    """One open ledger."""

    def __init__(self, reading: Ledger, writing: Ledger, parts: Parts) -> None:
        self.scope = reading.scope
        self.reading = reading
        self.writing = ActingLedger(writing.store, writing.blobs, now=writing.now)
        self.writer = Writer(writing.store, parts.metrics)
        self.key = parts.key
        self.notes = note_file(parts.home, self.scope)
        """Where signed checkpoints of this scope are kept."""
        self._projection = LedgerProjection(reading)
        self.catalogue = Catalogue(reading)
        self._embedder = parts.embedder
        # Without tools: the service re-hashes, and only the sealer, which has them, fetches again.
        self.auditor = ReplayAuditor(self.writing, ToolRegistry(()), clock=writing.now)
        self.leases = 0
        self._trees_lock = Lock()
        self._belief_lock = Lock()
        self._known: Belief | None = None

    @property
    def blobs(self) -> BlobStore:
        """Where content is put: the writer's own store, which remembers what it has made durable."""
        return self.writing.blobs

    @property
    def store(self) -> EventStore:
        """The log, for reading."""
        return self.reading.store

    def belief(self) -> Belief:
        """What the log makes believed now, with the head and policy that this is a function of.

        Raises:
            LedgerError: the ledger does not read, or its policy cannot be applied.
        """
        with self._belief_lock:
            known = self._known
            if known is None or (known.head, known.policy) != (self.reading.head(), self.reading.policy()):
                known = self._known = self._believe()
            return known

    def _believe(self) -> Belief:
        while True:
            policy = self.reading.policy()
            state = self._projection.state()
            if self.reading.policy() == policy:
                break
        last = self._projection.head
        genesis = tuple(islice(self.reading.events("control"), 1))
        return Belief(state, policy, empty_head(genesis, "evidence") if last is None else last, last)

    @cached_property
    def desk(self) -> VerdictDesk:
        """The one desk of this ledger, for the writer's thread: made, and its model loaded, with the first verdict."""
        return VerdictDesk(self.writing, self._embedder)

    @cached_property
    def _trees(self) -> LedgerTrees:
        return LedgerTrees(self.reading)

    def trees(self) -> LedgerTrees:
        """The two trees, as long as the log is now. Reads the whole log the first time."""
        with self._trees_lock:
            self._trees.refresh()
            return self._trees

    async def close(self) -> None:
        """Finish what the writer has accepted, then release the files."""
        await self.writer.close()
        await run_in_threadpool(self._release)

    def _release(self) -> None:
        self.writing.close()
        self.reading.close()


class Rooms:
    """Opens rooms when they are asked for, and closes those that nobody needs."""

    def __init__(self, parts: Parts, limit: int = OPEN_LIMIT) -> None:
        self._parts = parts
        self._limit = limit
        self._rooms: OrderedDict[Scope, asyncio.Future[Room]] = OrderedDict()

    @asynccontextmanager
    async def lease(self, scope: Scope) -> AsyncIterator[Room]:
        """The room of ``scope``, which stays open as long as it is held.

        Raises:
            LedgerError: the ledger cannot be opened.
        """
        room = await self._room(scope)
        room.leases += 1
        try:
            yield room
        finally:
            room.leases -= 1
            await self._close_spare()

    async def _room(self, scope: Scope) -> Room:
        known = self._rooms.get(scope)
        if known is None:
            known = asyncio.ensure_future(run_in_threadpool(self._open, scope))
            self._rooms[scope] = known
        self._rooms.move_to_end(scope)
        try:
            room = await asyncio.shield(known)
        except BaseException:
            if known.done() and self._rooms.get(scope) is known:
                del self._rooms[scope]
            raise
        self._parts.metrics.open_ledgers.set(len(self._rooms))
        return room

    def _open(self, scope: Scope) -> Room:
        writing = self._parts.open_ledger(scope)
        try:
            reading = self._parts.open_ledger(scope)
        except BaseException:
            writing.close()
            raise
        return Room(reading, writing, self._parts)

    async def _close_spare(self) -> None:
        if len(self._rooms) <= self._limit:
            return
        for scope, future in list(self._rooms.items()):
            if future.done() and future.exception() is None and future.result().leases == 0:
                del self._rooms[scope]
                await future.result().close()
                break
        self._parts.metrics.open_ledgers.set(len(self._rooms))

    async def close(self) -> None:
        """Close every room, after what its writer has accepted."""
        rooms, self._rooms = self._rooms, OrderedDict()
        opened = await asyncio.gather(*rooms.values(), return_exceptions=True)
        await asyncio.gather(*(room.close() for room in opened if isinstance(room, Room)))
