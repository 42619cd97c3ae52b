"""One writer a scope: whatever has come in while the last commit was being made durable becomes the next one.

A commit costs one fsync however much is in it, so that a hundred clients wait for one disk write and not in line for a
hundred. Requests keep their own fate: one that the rules refuse takes nothing of the others with it. What is
acknowledged is on the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from ledger_core.kernel.errors import LedgerError, StoreError
from ledger_core.kernel.statements import Statement
from ledger_core.service.metrics import Metrics
from ledger_core.service.problems import unavailable
from ledger_core.stores.groups import Group, append_groups
from ledger_core.stores.protocols import Delivery, EventStore, Fresh, Outcome, StoredEvent

GROUP_LIMIT = 512
"""Requests that one commit takes at most."""

QUEUE_LIMIT = 4096
"""Requests that may wait; beyond that the service says it is busy, before memory says so."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """One statement that is durably in the log, and whether this request put it there."""

    event: StoredEvent
    fresh: bool


@dataclass(slots=True)
class _Append:
    group: Group
    done: asyncio.Future[tuple[Acknowledged, ...]]


@dataclass(slots=True)
class _Call(Generic[T]):
    function: Callable[[], T]
    done: asyncio.Future[T]


class Writer:
    """Appends of one scope, in the order in which they came, by one thread."""

    def __init__(self, store: EventStore, metrics: Metrics) -> None:
        """Over ``store``, which nobody else in this process may append to. Started by the first request."""
        self._store = store
        self._metrics = metrics
        self._queue: asyncio.Queue[_Append | _Call[Any]] = asyncio.Queue(QUEUE_LIMIT)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="veritas-writer")
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    async def append(self, statements: Sequence[Statement], delivery: Delivery) -> tuple[Acknowledged, ...]:
        """Append ``statements`` as one; returns when they are durable.

        Raises:
            LedgerError: as :meth:`EventStore.append`.
            Problem: too many requests wait already, or the service is shutting down.
        """
        done: asyncio.Future[tuple[Acknowledged, ...]] = asyncio.get_running_loop().create_future()
        self._put(_Append(Group(tuple(statements), delivery), done))
        return await done

    async def call(self, function: Callable[[], T]) -> T:
        """Run ``function`` alone in the writer's thread: for what has to read the log and append to what it has read."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(_Call(function, done))
        return await done

    async def close(self) -> None:
        """Do everything that was accepted, then stop. What comes later is refused."""
        self._closing = True
        if self._task is not None:
            await self._queue.join()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._thread.shutdown(wait=True)

    def _put(self, job: _Append | _Call[Any]) -> None:
        if self._closing:
            raise unavailable("the service is shutting down")
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="veritas-writer")
        try:
            self._queue.put_nowait(job)
        except asyncio.QueueFull:
            raise unavailable(f"{QUEUE_LIMIT} requests wait for this ledger already") from None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self._queue.get()]
            while len(batch) < GROUP_LIMIT and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            try:
                values = await loop.run_in_executor(self._thread, self._work, batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever because of it
                values = [error] * len(batch)
            for job, value in zip(batch, values, strict=True):
                _settle(job.done, value)
                self._queue.task_done()

    def _work(self, batch: Sequence[_Append | _Call[Any]]) -> list[Any]:
        """A value or an exception for each job; in the writer's thread: appends side by side share a commit."""
        values: list[Any] = []
        waiting: list[_Append] = []
        for job in batch:
            if isinstance(job, _Append):
                waiting.append(job)
                continue
            values += self._commit(waiting)
            waiting = []
            values.append(_attempt(job.function))
        return values + self._commit(waiting)

    def _commit(self, jobs: Sequence[_Append]) -> list[Any]:
        if not jobs:
            return []
        self._metrics.group_size.observe(len(jobs))
        results = _attempt(lambda: append_groups(self._store, [job.group for job in jobs]))
        if isinstance(results, BaseException):
            return [results] * len(jobs)
        return [
            one if isinstance(one, LedgerError) else _attempt(partial(self._read_back, one))
            for one, _ in zip(results, jobs, strict=True)
        ]

    def _read_back(self, outcomes: Sequence[Outcome]) -> tuple[Acknowledged, ...]:
        return tuple(stands(self._store, one.event_id, fresh=isinstance(one, Fresh)) for one in outcomes)


def stands(store: EventStore, event_id: str, *, fresh: bool) -> Acknowledged:
    """The event that ``store`` has acknowledged, as it stands in the log."""
    event = store.event(event_id)
    if event is None:
        raise StoreError(f"event {event_id} was acknowledged and is not in the log; run `veritas verify`")
    return Acknowledged(event, fresh)


def _attempt(function: Callable[[], T]) -> T | Exception:
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to the request and not to the writer
        return error


def _settle(done: asyncio.Future[Any], value: Any) -> None:
    if done.done():  # whoever asked has gone
        return
    if isinstance(value, BaseException):
        done.set_exception(value)
    else:
        done.set_result(value)
