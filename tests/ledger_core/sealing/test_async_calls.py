"""Calls from async code: sealed like any other, also when they are cancelled or run at once."""

from __future__ import annotations

import asyncio

import pytest

from ledger_core.stores.verify import verify
from tests.ledger_core.sealing.workshop import Counted, boundary, content, external, on_disk, open_ledger, statements


@pytest.fixture
def ledger():
    return open_ledger()


class TestAsync:
    def test_an_async_call_is_sealed_like_any_other(self, ledger):
        async def search(q):
            return {"about": q}

        call = asyncio.run(boundary(external("search", search), ledger=ledger).acall("search", {"q": 1}))
        assert content(ledger, call) == [b'{"about":1}']

    def test_a_cancelled_call_is_sealed_as_an_error_and_stays_cancelled(self, ledger):
        acted = asyncio.Event()

        async def book():
            acted.set()
            await asyncio.sleep(60)

        tools = boundary(external("book", book, effect="mutating"), ledger=ledger)

        async def cancelled():
            task = asyncio.create_task(tools.acall("book", {}))
            await acted.wait()
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())
        seal, observed = statements(ledger)
        assert seal.body.outcome == "error"
        assert ledger.read_blob(observed.body.content) == b'{"error":{"message":"","type":"CancelledError"}}'

    def test_many_at_once_are_all_sealed(self, ledger):
        async def echo(n):
            await asyncio.sleep(0)
            return n

        tools = boundary(external("echo", echo), external("slow", lambda n: n), ledger=ledger)

        async def many():
            names = ("echo", "slow")
            return await asyncio.gather(*(tools.acall(names[n % 2], {"n": n}, step=n) for n in range(20)))

        calls = asyncio.run(many())
        assert [content(ledger, call) for call in calls] == [[str(n).encode()] for n in range(20)]
        assert verify(ledger).first_divergence is None

    def test_a_ledger_on_disk_is_written_from_its_threads(self, tmp_path):
        with on_disk(tmp_path) as ledger:
            tools = boundary(external("echo", lambda n: n), ledger=ledger)

            async def many():
                return await asyncio.gather(*(tools.acall("echo", {"n": n}, step=n) for n in range(8)))

            calls = asyncio.run(many())
            assert [content(ledger, call) for call in calls] == [[str(n).encode()] for n in range(8)]
            assert verify(ledger).first_divergence is None

    def test_the_same_call_again_is_a_replay(self, ledger):
        tools = boundary(external("search", Counted(1)), ledger=ledger)

        async def twice():
            return [await tools.acall("search", {}, step=0) for _ in range(2)]

        first, second = asyncio.run(twice())
        assert first == second
