"""Tools of every make: sync, async, streams, deadlines. What comes of one is a value."""

from __future__ import annotations

import asyncio
import functools
import threading
import time

import pytest

from ledger_core.kernel.errors import ToolError, UnserialisableError
from ledger_core.sealing.results import Returned, Spool
from ledger_core.sealing.running import Invocation
from ledger_core.sealing.scrub import scrub_json
from tests.ledger_core.sealing.workshop import local


def invocation(function, timeout_seconds=None, **arguments):
    tool = local("tool", function, timeout_seconds=timeout_seconds)
    return Invocation(tool, arguments, "call", scrub_json(b"{}"), ())


def both(function, timeout_seconds=None, **arguments):
    """The same call from sync and from async code."""
    one = invocation(function, timeout_seconds, **arguments)
    return [one.run(), asyncio.run(one.run_async())]


def add(a, b):
    return a + b


async def add_async(a, b):
    await asyncio.sleep(0)
    return a + b


class AddObject:
    async def __call__(self, a, b):
        return a + b


def chunks(a, b):
    yield a
    yield b


async def chunks_late(a, b):
    return chunks(a, b)


async def chunks_async(a, b):
    yield a
    await asyncio.sleep(0)
    yield b


@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize(
    "function", [add, add_async, functools.partial(add_async), AddObject(), lambda a, b: add_async(b, a)]
)
def test_sync_and_async_callables_give_their_value(function, timeout):
    for finished in both(function, timeout, a=2, b=3):
        assert (finished.outcome, finished.returned) == ("ok", Returned(5))


@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize("function", [chunks, chunks_async, chunks_late, lambda a, b: iter([a, b])])
def test_streams_are_read_while_the_call_runs(function, timeout):
    for finished in both(function, timeout, a=b"one", b=b"two"):
        assert isinstance(finished.returned.value, Spool)
        assert b"".join(finished.returned.value.chunks()) == b"onetwo"


@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError("theirs"), TimeoutError()])
def test_an_exception_is_the_outcome_error_also_where_it_is_a_timeout_of_the_tools_own(error, timeout):
    def fail():
        raise error

    async def fail_async():
        raise error

    for function in (fail, fail_async):
        for finished in both(function, timeout):
            assert (finished.outcome, finished.returned) == ("error", None)
            assert (type(finished.error), str(finished.error)) == (type(error), str(error))


def test_a_stream_that_breaks_off_is_an_error():
    def broken():
        yield b"one"
        raise OSError("gone")

    for finished in both(broken):
        assert (finished.outcome, str(finished.error)) == ("error", "gone")


def test_a_wrong_argument_is_an_error_of_the_call():
    for finished in both(add, a=1):
        assert isinstance(finished.error, TypeError)


def test_what_is_late_is_a_timeout():
    release = threading.Event()

    async def late():
        await asyncio.sleep(60)

    assert [each.outcome for each in both(lambda: release.wait(60), 0.05)] == ["timeout", "timeout"]
    assert [each.outcome for each in both(late, 0.05)] == ["timeout", "timeout"]
    release.set()


def test_a_stream_that_never_ends_is_a_timeout_and_is_left():
    left = threading.Event()

    def endless():
        try:
            while True:
                time.sleep(0.001)
                yield b"x"
        finally:
            left.set()

    assert invocation(endless, 0.05).run().outcome == "timeout"
    assert left.wait(5)


def test_an_async_tool_called_from_inside_a_loop_is_refused_and_not_run():
    ran = []

    async def tool():
        ran.append(1)

    async def inside():
        invocation(tool).run()

    with pytest.raises(ToolError, match="await `acall`"):
        asyncio.run(inside())
    assert ran == []


def test_a_sync_tool_does_not_hold_up_the_loop():
    started = threading.Event()

    async def together():
        asyncio.get_running_loop().call_later(0.01, started.set)
        return await invocation(lambda: started.wait(10)).run_async()

    assert asyncio.run(together()).returned == Returned(value=True)


def test_a_call_that_is_cancelled_from_outside_is_cancelled():
    async def tool():
        await asyncio.sleep(60)

    async def cancelled():
        task = asyncio.create_task(invocation(tool, 30.0).run_async())
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_a_stream_of_something_else_passes_as_a_typed_error():
    for run in (invocation(lambda: iter([1])).run, lambda: asyncio.run(invocation(lambda: iter([1])).run_async())):
        with pytest.raises(UnserialisableError):
            run()


def test_what_the_origin_refused_is_an_error_with_its_answer():
    for finished in both(lambda: Returned("not found", ok=False)):
        assert (finished.outcome, finished.returned.value) == ("error", "not found")
