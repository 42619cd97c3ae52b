"""Bodies as they arrive: never more than the limit in memory or on disk, and never for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Final

from fastapi import Request

from ledger_core.service.problems import Problem, ProblemKind

_DRAINED: Final = 1 << 22
"""Bytes of a refused body that are still read, so that its sender gets to read the answer."""


def refuse_declared_length(request: Request, limit: int) -> None:
    """Raise the problem 413 where the body says of itself that it is over ``limit`` bytes."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > limit:
        raise too_large(limit)


def too_large(limit: int) -> Problem:
    """The body is over ``limit`` bytes; the connection ends with the answer, for the rest is not read."""
    return Problem(
        ProblemKind.TOO_LARGE, f"a body of this route has at most {limit} bytes", headers={"Connection": "close"}
    )


async def pieces(request: Request, limit: int, pause_seconds: float) -> AsyncIterator[bytes]:
    """The body piece by piece.

    Raises:
        Problem: over ``limit`` bytes, or nothing came for ``pause_seconds``, or the sender has gone.
    """
    length = 0
    more = True
    while more:
        try:
            async with asyncio.timeout(pause_seconds):
                message = await request.receive()
        except TimeoutError:
            raise Problem(
                ProblemKind.TIMEOUT, f"nothing came for {pause_seconds:g} s", headers={"Connection": "close"}
            ) from None
        if message["type"] == "http.disconnect":
            raise Problem(ProblemKind.MALFORMED, "the body broke off")
        piece = message.get("body", b"")
        more = message.get("more_body", False)
        length += len(piece)
        if length > limit:
            raise too_large(limit)
        if piece:
            yield piece


async def whole_body(request: Request, limit: int, pause_seconds: float) -> bytes:
    """The body in one piece; raises as :func:`pieces`."""
    return b"".join([piece async for piece in pieces(request, limit, pause_seconds)])


def from_worker(
    stream: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop, patience_seconds: float
) -> Iterator[bytes]:
    """``stream``, which lives in ``loop``, for code in a worker thread; the reader's pace is the sender's.

    Raises:
        TimeoutError: nothing came for ``patience_seconds``, as when the loop has ended: no thread waits for ever.
    """

    async def following() -> bytes | None:
        return await anext(stream, None)

    while (piece := asyncio.run_coroutine_threadsafe(following(), loop).result(patience_seconds)) is not None:
        yield piece


async def drain(request: Request, pause_seconds: float) -> None:
    """Read on for a while what will not be used: a sender that is cut off in mid-sentence sees no answer."""
    left = _DRAINED
    with suppress(TimeoutError):
        async with asyncio.timeout(pause_seconds):
            while left > 0:
                message = await request.receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
