"""What handlers share: reading a request, appending, finding an event, asking for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool

from ledger_core.kernel.errors import LedgerError
from ledger_core.kernel.statements import Statement
from ledger_core.service.caller import Caller
from ledger_core.service.guard import GuardedRoute
from ledger_core.service.problems import ProblemDocument, from_reading, not_found
from ledger_core.service.reading import whole_body
from ledger_core.service.requests import Body
from ledger_core.service.rooms import Room
from ledger_core.service.state import caller_of, service_of
from ledger_core.service.writer import Acknowledged
from ledger_core.stores.protocols import StoredEvent

BodyT = TypeVar("BodyT", bound=Body)
T = TypeVar("T")

EVENT_ID: Final = r"^[0-9a-f]{64}$"
EventIdPath = Annotated[str, Path(pattern=EVENT_ID, description="Event id: 64 hex digits.")]
After = Annotated[int, Query(ge=0, le=2**53 - 1, description="Leave out offsets up to this one.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Events of the page at most.")]


def router(tag: str) -> APIRouter:
    """A router behind the guard."""
    return APIRouter(route_class=GuardedRoute, tags=[tag])


def answers(success: dict[int, Any], *problems: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's `responses`: models by status, and the problems that the route may answer beside the usual ones."""
    found: dict[int | str, dict[str, Any]] = {
        status: model if isinstance(model, dict) else {"model": model} for status, model in success.items()
    }
    for status in sorted({401, 403, 422, 500, 503, 507, *problems}):
        found[status] = {"model": ProblemDocument}
    return found


async def read(request: Request, form: type[BodyT]) -> BodyT:
    """The request's body as ``form``; raises the problem that names what cannot be."""
    limits = service_of(request).config.limits
    return form.read(await whole_body(request, limits.json_bytes, limits.body_seconds))


async def append(
    request: Request, room: Room, statements: Sequence[Statement], *, context_head: str | None = None
) -> tuple[Acknowledged, ...]:
    """Append ``statements`` as one in the caller's name; returns when they are durable."""
    done = await room.writer.append(statements, caller_of(request).delivery(context_head))
    count(request, done)
    return done


def count(request: Request, done: Sequence[Acknowledged]) -> None:
    """Add what was acknowledged to the metrics."""
    statements = service_of(request).metrics.statements
    for one in done:
        statements.labels(one.event.statement.kind, "fresh" if one.fresh else "replayed").inc()


async def acting(request: Request, room: Room, function: Callable[[Room], T]) -> T:
    """Run ``function`` alone in the writer's thread; what it appends bears the caller's name."""
    caller: Caller = caller_of(request)

    def work() -> T:
        room.writing.acting = caller
        try:
            return function(room)
        finally:
            room.writing.acting = None

    return await room.writer.call(work)


async def in_thread(function: Callable[[], T]) -> T:
    """Run what waits for the disk in a worker thread."""
    return await run_in_threadpool(function)


async def look(function: Callable[[], T]) -> T:
    """Run what reads the ledger in a worker thread; raises the problem 500 where the ledger does not read."""
    try:
        return await run_in_threadpool(function)
    except LedgerError as error:
        raise from_reading(error) from error


async def found(room: Room, event_id: str, *kinds: str) -> StoredEvent:
    """The event of one of ``kinds``; raises the one 404 where there is none of that kind in the scope."""
    event = await look(lambda: _of_kind(room.store.event(event_id), kinds))
    if event is None:
        raise not_found()
    return event


def _of_kind(event: StoredEvent | None, kinds: tuple[str, ...]) -> StoredEvent | None:
    return event if event is not None and (not kinds or event.statement.kind in kinds) else None
