"""The recording plane: what the model saw and said."""

from __future__ import annotations

from fastapi import Request, Response

from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.service.answers import (
    Appended,
    GenerationAnswer,
    GenerationPage,
    appended_events,
    document_of,
    status_of,
)
from ledger_core.service.claims import check_claims, names_a_generation
from ledger_core.service.guard import takes
from ledger_core.service.requests import GenerationRequest
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import (
    After,
    EventIdPath,
    Limit,
    answers,
    append,
    found,
    look,
    read,
    router,
)
from ledger_core.service.state import caller_of, room_of
from ledger_core.stores.protocols import StoredEvent

routes = router("recording")


@routes.post("/generation", status_code=201, responses=answers({200: Appended, 201: Appended}, 408, 409, 413, 415))
@takes(GenerationRequest)
async def record_generation(request: Request) -> Response:
    """Record a model call, with the messages that it is the first to show and the claims that it says."""
    wanted = await read(request, GenerationRequest)
    statements = wanted.statements(caller_of(request).scope)
    async with room_of(request) as room:
        if names_a_generation(statements):
            await look(lambda: check_claims(room, statements))
        done = await append(request, room, statements, context_head=wanted.context_head)
        return Appended(events=appended_events(done, room.key)).response(status_of(done))


@routes.get("/generation", responses=answers({200: GenerationPage}))
async def list_generations(request: Request, after: After = 0, limit: Limit = 100) -> Response:
    """Recorded generations in log order."""
    async with room_of(request) as room:
        catalogue = await look(room.catalogue.refresh)
        later = [place for place in catalogue.generations if place[0] > after]
        page = later[:limit]
        more = page[-1][0] if len(later) > limit else None
        return GenerationPage(generations=tuple(event_id for _, event_id in page), next=more).response()


@routes.get("/generation/{generation_id}", responses=answers({200: GenerationAnswer}, 404))
async def get_generation(request: Request, generation_id: EventIdPath) -> Response:
    """One generation: what was in its context, and what it claims."""
    async with room_of(request) as room:
        event = await found(room, generation_id, "generation.recorded")
        return (await look(lambda: _generation(room, event))).response()


def _generation(room: Room, event: StoredEvent) -> GenerationAnswer:
    statement = event.statement
    assert isinstance(statement, GenerationRecorded)
    shown = dict.fromkeys(region.entry for region in statement.body.context if region.entry is not None)
    context = tuple(document_of(entry) for key in shown if (entry := room.store.event(key)) is not None)
    claims = tuple(room.catalogue.refresh().claims.get(event.event_id, ()))
    return GenerationAnswer(claims=claims, context=context, generation=document_of(event))
