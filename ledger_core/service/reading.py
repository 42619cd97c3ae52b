"""Bodies as they arrive: never more than the limit in memory or on disk, and never for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Final

from anyio import from_thread
from fastapi import Request
from starlette.requests import ClientDisconnect

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
        Problem: over ``limit`` bytes, or nothing came for ``pause_seconds``.
    """
    stream = request.stream()
    length = 0
    while True:
        try:
            async with asyncio.timeout(pause_seconds):
                piece = await anext(stream, None)
        except TimeoutError:
            raise Problem(
                ProblemKind.TIMEOUT, f"nothing came for {pause_seconds:g} s", headers={"Connection": "close"}
            ) from None
        except ClientDisconnect:
            raise Problem(ProblemKind.MALFORMED, "the body broke off") from None
        if piece is None:
            return
        length += len(piece)
        if length > limit:
            raise too_large(limit)
        if piece:
            yield piece


async def whole_body(request: Request, limit: int, pause_seconds: float) -> bytes:
    """The body in one piece; raises as :func:`pieces`."""
    return b"".join([piece async for piece in pieces(request, limit, pause_seconds)])


def from_worker(stream: AsyncIterator[bytes]) -> Iterator[bytes]:
    """``stream`` for code in a worker thread; the reader's pace is the sender's."""

    async def following() -> bytes | None:
        return await anext(stream, None)

    while (piece := from_thread.run(following)) is not None:
        yield piece


async def drain(request: Request, pause_seconds: float) -> None:
    """Read on for a while what will not be used: a sender that is cut off in mid-sentence sees no answer."""
    left = _DRAINED
    try:
        async with asyncio.timeout(pause_seconds):
            async for piece in request.stream():
                left -= len(piece)
                if left < 0:
                    return
    except (TimeoutError, ClientDisconnect, RuntimeError):
        return
