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
from ledger_core.stores.checkpoints import LedgerTrees, SignedCheckpoint, make_checkpoint, note_file
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
        self.desk_lock = Lock()
        """Held by whoever lets the desk read or file."""
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

    def read_up(self) -> None:
        """Let the desk read the log in this thread, so that the writer's, where verdicts are filed, has little left to read.

        The first verdict on a long log would else keep every append of its ledger waiting.
        """
        with self.desk_lock:
            self.desk.catch_up()

    @cached_property
    def _trees(self) -> LedgerTrees:
        return LedgerTrees(self.reading)

    def trees(self) -> LedgerTrees:
        """The two trees, as long as the log is now. Reads the whole log the first time."""
        with self._trees_lock:
            self._trees.refresh()
            return self._trees

    def sign_checkpoint(self) -> tuple[SignedCheckpoint, ...]:
        """Sign both trees and keep the notes; in the writer's thread. Raises as :func:`make_checkpoint`."""
        with self._trees_lock:  # two that read on at once would take in the same leaves twice
            return make_checkpoint(self.writing, self.key, (self.notes,), self._trees)

    async def close(self) -> None:
        """Finish what the writer has accepted, then release the files."""
        await self.writer.close()
        await run_in_threadpool(self._release)

    def _release(self) -> None:
        self.writing.close()
        self.reading.close()


@dataclass(slots=True)
class _Slot:
    """A room that is open or being opened, and how many need it."""

    room: asyncio.Future[Room]
    leases: int = 0

    @property
    def is_spare(self) -> bool:
        return self.leases == 0 and self.room.done()


class Rooms:
    """Opens rooms when they are asked for, and closes those that nobody needs."""

    def __init__(self, parts: Parts, limit: int = OPEN_LIMIT) -> None:
        self._parts = parts
        self._limit = limit
        self._slots: OrderedDict[Scope, _Slot] = OrderedDict()

    @asynccontextmanager
    async def lease(self, scope: Scope) -> AsyncIterator[Room]:
        """The room of ``scope``, which stays open as long as it is held.

        Raises:
            LedgerError: the ledger cannot be opened.
        """
        slot = self._slots.get(scope)
        if slot is None:
            slot = self._slots[scope] = _Slot(asyncio.ensure_future(run_in_threadpool(self._open, scope)))
        self._slots.move_to_end(scope)
        slot.leases += 1  # before anything is awaited, so that nobody takes the room for spare meanwhile
        try:
            # Shielded: whoever gives up waiting does not take the room from those who still wait for it.
            room = await asyncio.shield(slot.room)
            self._parts.metrics.open_ledgers.set(len(self._slots))
            yield room
        finally:
            slot.leases -= 1
            await self._put_away(scope, slot)

    async def _put_away(self, scope: Scope, slot: _Slot) -> None:
        """Forget a room that could not be opened, and close the one that was asked for longest ago if there are many."""
        if slot.room.done() and (slot.room.cancelled() or slot.room.exception() is not None):
            if self._slots.get(scope) is slot:
                del self._slots[scope]
        elif len(self._slots) > self._limit:
            spare = next((one for one, its in self._slots.items() if its.is_spare), None)
            if spare is not None:
                closing = self._slots.pop(spare)
                await closing.room.result().close()
        self._parts.metrics.open_ledgers.set(len(self._slots))

    def _open(self, scope: Scope) -> Room:
        writing = self._parts.open_ledger(scope)
        try:
            reading = self._parts.open_ledger(scope)
        except BaseException:
            writing.close()
            raise
        return Room(reading, writing, self._parts)

    async def close(self) -> None:
        """Close every room, after what its writer has accepted."""
        slots, self._slots = self._slots, OrderedDict()
        opened = await asyncio.gather(*(slot.room for slot in slots.values()), return_exceptions=True)
        await asyncio.gather(*(room.close() for room in opened if isinstance(room, Room)))
