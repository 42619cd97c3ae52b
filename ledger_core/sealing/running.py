"""Runs tools: sync or async, with or without a deadline; whatever comes of it is a value.

A sync tool cannot be stopped from outside: past its deadline its thread goes on, unheard, until it returns. What it does
then is not sealed, so a mutating tool should bound its own time.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ledger_core.kernel.errors import ToolError, UnserialisableError
from ledger_core.sealing.registry import RegisteredTool
from ledger_core.sealing.results import Returned, spooled, spooled_async
from ledger_core.sealing.scrub import Known, Scrubbed

Outcome = Literal["ok", "error", "timeout"]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a call ended."""

    outcome: Outcome
    returned: Returned | None = None
    """What the tool gave; None where it gave nothing."""
    error: BaseException | None = None
    """What it raised."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A tool with the arguments it is called with."""

    tool: RegisteredTool
    arguments: dict[str, Any]
    """What the tool is called with: the caller's arguments, and its secrets."""
    identity: str
    """Digest of the tool's name and the caller's arguments, kept in memory only."""
    args: Scrubbed
    """The caller's arguments as they are sealed."""
    known: Known
    """Secrets that must not show in what comes of it: the tool's own, and those found among the arguments."""

    def run(self) -> Finished:
        """Call the tool from sync code.

        Raises:
            UnserialisableError: a stream that yields something else than bytes.
            ToolError: an async tool, called from inside a running event loop.
        """
        seconds = self.tool.timeout_seconds
        stop = threading.Event()
        if seconds is None:
            return _ended(lambda: self._call(stop))
        future = _in_thread(lambda: self._call(stop))
        try:
            future.exception(seconds)
        except TimeoutError:
            stop.set()
            return Finished("timeout")
        return _ended(future.result)

    async def run_async(self) -> Finished:
        """Call the tool from async code; a sync tool gets a thread of its own."""
        stop = threading.Event()
        deadline = asyncio.timeout(self.tool.timeout_seconds)
        try:
            async with deadline:
                returned = await self._finish(await self._start(stop), stop)
        except UnserialisableError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is sealed
            if deadline.expired():
                return Finished("timeout")
            return Finished("error", error=error)
        finally:
            stop.set()
        return Finished("ok" if returned.ok else "error", returned)

    async def _start(self, stop: threading.Event) -> Any:
        function = self.tool.function
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return function(**self.arguments)
        return await asyncio.wrap_future(_in_thread(lambda: self._sync_part(stop)))

    def _sync_part(self, stop: threading.Event) -> Any:
        """What can be done without an event loop: the call itself, and reading a sync stream."""
        value = self.tool.function(**self.arguments)
        return value if inspect.isawaitable(value) else spooled(_returned(value), self.known, stop)

    def _call(self, stop: threading.Event) -> Returned:
        value = self._sync_part(stop)
        if not inspect.isawaitable(value) and not isinstance(_returned(value).value, AsyncIterator):
            return _returned(value)
        if _loop_is_running():
            if inspect.iscoroutine(value):
                value.close()
            raise ToolError("this tool is async and an event loop is running: await `acall` instead of `call`")
        return asyncio.run(self._finish(value, stop))

    async def _finish(self, value: Any, stop: threading.Event) -> Returned:
        """What needs an event loop: waiting for a value, and reading a stream that an async tool gives."""
        returned = _returned(await value if inspect.isawaitable(value) else value)
        if isinstance(returned.value, Iterator):
            return await asyncio.wrap_future(_in_thread(lambda: spooled(returned, self.known, stop)))
        return await spooled_async(returned, self.known)


def _returned(value: Any) -> Returned:
    return value if isinstance(value, Returned) else Returned(value)


def _ended(call: Callable[[], Returned]) -> Finished:
    try:
        returned = call()
    except (UnserialisableError, ToolError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is sealed
        return Finished("error", error=error)
    return Finished("ok" if returned.ok else "error", returned)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(work: Callable[[], _Value]) -> Future[_Value]:
    """Run ``work`` in a daemon thread, in a copy of the caller's context: one that hangs does not keep the process."""
    future: Future[_Value] = Future()
    context = contextvars.copy_context()

    def target() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            future.set_exception(error)

    threading.Thread(target=target, name="veritas-tool", daemon=True).start()
    return future
