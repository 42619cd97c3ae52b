"""One writer: groups, order, refusals that stay one request's own, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import CollisionError, StorageFullError
from ledger_core.kernel.statements import entries, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.service import writer as writers
from ledger_core.service.metrics import Metrics
from ledger_core.service.problems import Problem
from ledger_core.service.writer import Writer
from ledger_core.stores.protocols import Delivery
from tests.ledger_core.story import NOW, SCOPE, open_memory

AUTHOR = Author(SCOPE, "tests.writer", "1")
BY = Delivery(principal_id="one", role="agent", channel="service", received_at=NOW)


class GatedStore:
    """A store whose commits wait for the test, and which remembers how many requests each one took."""

    def __init__(self, inner):
        self._inner = inner
        self.gate = threading.Event()
        self.gate.set()
        self.sizes = []
        self.failure = None

    def append_groups(self, groups):
        self.gate.wait()
        self.sizes.append(len(groups))
        if self.failure is not None:
            raise self.failure
        return self._inner.append_groups(groups)

    def __getattr__(self, name):
        return getattr(self._inner, name)


class OverGroups:
    """The memory store's own appends, offered as groups."""

    def __init__(self, inner):
        self._inner = inner

    def append_groups(self, groups):
        from ledger_core.stores.groups import append_groups

        return append_groups(self._inner, groups)

    def __getattr__(self, name):
        return getattr(self._inner, name)


@pytest.fixture
def ledger():
    return open_memory()


@pytest.fixture
def store(ledger):
    return GatedStore(OverGroups(ledger.store))


def note(ledger, text, key):
    body = entries.ClaimBody.make(content=ledger.put_blob(text, TEXT), generation=None, parents=(), span=None)
    return AUTHOR.write(entries.EntryConjectured, facts.message_fact("tests.writer", "notes", key), body)


def run(store, work):
    async def main():
        writer = Writer(store, Metrics())
        try:
            return await work(writer)
        finally:
            store.gate.set()
            await writer.close()

    return asyncio.run(main())


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


def test_what_comes_in_during_a_commit_is_the_next_one(ledger, store):
    async def work(writer):
        store.gate.clear()
        first = asyncio.create_task(writer.append([note(ledger, b"0", 0)], BY))
        await asyncio.sleep(0.02)
        rest = [asyncio.create_task(writer.append([note(ledger, b"n", key)], BY)) for key in range(1, 9)]
        await settle()
        store.gate.set()
        return await asyncio.gather(first, *rest)

    done = run(store, work)
    assert store.sizes == [1, 8]
    assert [one[0].event.offset for one in done] == list(range(1, 10))
    assert all(one[0].fresh for one in done)


def test_a_refusal_is_its_requests_own(ledger, store):
    async def work(writer):
        store.gate.clear()
        jobs = [note(ledger, b"0", 0), note(ledger, b"1", 1), note(ledger, b"other", 0), note(ledger, b"0", 0)]
        tasks = [asyncio.create_task(writer.append([job], BY)) for job in jobs]
        await settle()
        store.gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, refused, replayed = run(store, work)
    assert isinstance(refused, CollisionError)
    assert [one[0].event.offset for one in (first, second, replayed)] == [1, 2, 1]
    assert [one[0].fresh for one in (first, second, replayed)] == [True, True, False]
    assert ledger.count() == 2


def test_a_call_stands_alone_between_the_appends_before_and_after_it(ledger, store):
    async def work(writer):
        store.gate.clear()
        blocker = asyncio.create_task(writer.append([note(ledger, b"0", 0)], BY))
        await asyncio.sleep(0.02)
        before = [asyncio.create_task(writer.append([note(ledger, b"n", key)], BY)) for key in (1, 2)]
        seen = asyncio.create_task(writer.call(ledger.count))
        after = [asyncio.create_task(writer.append([note(ledger, b"n", key)], BY)) for key in (3, 4, 5)]
        await settle()
        store.gate.set()
        await asyncio.gather(blocker, *before, *after)
        return await seen

    assert run(store, work) == 3
    assert store.sizes == [1, 2, 3]


def test_a_store_that_fails_fails_every_request_of_the_commit_and_no_later_one(ledger, store):
    async def work(writer):
        store.gate.clear()
        store.failure = StorageFullError("no space")
        tasks = [asyncio.create_task(writer.append([note(ledger, b"n", key)], BY)) for key in range(3)]
        await settle()
        store.gate.set()
        failed = await asyncio.gather(*tasks, return_exceptions=True)
        store.failure = None
        return failed, await writer.append([note(ledger, b"n", 0)], BY)

    failed, done = run(store, work)
    assert [type(one) for one in failed] == [StorageFullError] * 3
    assert done[0].event.offset == 1


def test_a_call_that_breaks_is_its_callers_own(ledger, store):
    async def work(writer):
        with pytest.raises(ZeroDivisionError):
            await writer.call(lambda: 1 // 0)
        return await writer.append([note(ledger, b"n", 0)], BY)

    assert run(store, work)[0].fresh


def test_who_has_gone_is_not_waited_for(ledger, store):
    async def work(writer):
        store.gate.clear()
        gone = asyncio.create_task(writer.append([note(ledger, b"0", 0)], BY))
        await asyncio.sleep(0.02)
        gone.cancel()
        store.gate.set()
        return await writer.append([note(ledger, b"1", 1)], BY)

    assert run(store, work)[0].event.offset == 2


def test_closing_does_what_was_accepted_and_refuses_what_comes_later(ledger, store):
    async def work(writer):
        store.gate.clear()
        tasks = [asyncio.create_task(writer.append([note(ledger, b"n", key)], BY)) for key in range(5)]
        await settle()
        closing = asyncio.create_task(writer.close())
        await settle()
        with pytest.raises(Problem, match="shutting down"):
            await writer.append([note(ledger, b"n", 9)], BY)
        store.gate.set()
        await closing
        return await asyncio.gather(*tasks)

    assert [one[0].event.offset for one in run(store, work)] == [1, 2, 3, 4, 5]


def test_a_full_queue_says_so(ledger, store, monkeypatch):
    monkeypatch.setattr(writers, "QUEUE_LIMIT", 2)

    async def work(writer):
        store.gate.clear()
        first = asyncio.create_task(writer.append([note(ledger, b"n", 0)], BY))
        await asyncio.sleep(0.02)
        waiting = [asyncio.create_task(writer.append([note(ledger, b"n", key)], BY)) for key in (1, 2)]
        await settle()
        with pytest.raises(Problem, match="2 requests wait"):
            await writer.append([note(ledger, b"n", 3)], BY)
        store.gate.set()
        await asyncio.gather(first, *waiting)

    run(store, work)
    assert ledger.count() == 3


def test_whatever_breaks_nobody_waits_for_ever(ledger, store):
    async def work(writer):
        groups, store.append_groups = store.append_groups, lambda _: ()
        with pytest.raises(ValueError, match="zip"):
            await writer.append([note(ledger, b"n", 0)], BY)
        store.append_groups = groups
        return await writer.append([note(ledger, b"n", 0)], BY)

    assert run(store, work)[0].fresh
