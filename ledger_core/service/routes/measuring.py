"""The attributor's plane: which context entries a claim was measured to rest on."""

from __future__ import annotations

from fastapi import Request, Response

from ledger_core.kernel.types import EventId
from ledger_core.service.answers import (
    Appended,
    EdgesAnswer,
    HyperedgeAnswer,
    appended_events,
    document_of,
    status_of,
)
from ledger_core.service.guard import takes
from ledger_core.service.requests import MeasurementDraft
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import EventIdPath, answers, append, found, look, read, router
from ledger_core.service.state import caller_of, room_of

routes = router("measuring")


@routes.post("/edges/measured", status_code=201, responses=answers({200: Appended, 201: Appended}, 408, 409, 413, 415))
@takes(MeasurementDraft)
async def file_measurement(request: Request) -> Response:
    """File a claim's measurement. Whether it may lower a weight is the fold's decision and never the caller's."""
    draft = await read(request, MeasurementDraft)
    async with room_of(request) as room:
        done = await append(request, room, (draft.statement(caller_of(request).scope),))
        return Appended(events=appended_events(done, room.key)).response(status_of(done))


@routes.get("/edges/{claim_id}", responses=answers({200: EdgesAnswer}, 404))
async def get_edges(request: Request, claim_id: EventIdPath) -> Response:
    """What a claim rests on now, and every measurement of it."""
    async with room_of(request) as room:
        await found(room, claim_id, "entry.derived", "entry.conjectured")
        return (await look(lambda: _edges(room, claim_id))).response()


def _edges(room: Room, claim_id: str) -> EdgesAnswer:
    entry = room.belief().state.entries[EventId(claim_id)]
    measured = (room.store.event(key) for key in tuple(room.catalogue.refresh().measurements.get(claim_id, ())))
    return EdgesAnswer(
        claim=claim_id,
        hyperedges=tuple(HyperedgeAnswer(parents=edge.parents, ppm=edge.ppm) for edge in entry.hyperedges),
        measurements=tuple(document_of(event) for event in measured if event is not None),
    )
