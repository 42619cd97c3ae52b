"""The verifier's plane: an answer to one question, with everything that follows from it in one transaction."""

from __future__ import annotations

from fastapi import Request, Response

from ledger_core.harness.verdicts import FiledVerdict
from ledger_core.service.answers import FiledVerdictAnswer, appended_events, status_of
from ledger_core.service.guard import takes
from ledger_core.service.requests import VerdictRequest
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import acting, answers, count, in_thread, read, router
from ledger_core.service.state import room_of
from ledger_core.service.writer import Acknowledged, stands

routes = router("verdicts")
_RESPONSES = answers({200: FiledVerdictAnswer, 201: FiledVerdictAnswer}, 408, 409, 413, 415)


@routes.post("/verdict", status_code=201, responses=_RESPONSES)
@takes(VerdictRequest)
async def file_verdict(request: Request) -> Response:
    """File whether the candidate contradicts the target. What follows is the fold's decision and never the caller's."""
    wanted = await read(request, VerdictRequest)

    def file(room: Room) -> tuple[FiledVerdict, tuple[Acknowledged, ...]]:
        with room.desk_lock:
            filed = room.desk.file(
                target=wanted.target,
                candidate=wanted.candidate,
                verdict=wanted.verdict,
                recipe=wanted.recipe,
                stage_a=wanted.stage_a,
                stage_b=wanted.stage_b,
            )
        ids = (filed.verdict, *filed.assessments, *filed.receipts)
        return filed, tuple(stands(room.writing.store, event_id, fresh=not filed.replayed) for event_id in ids)

    async with room_of(request) as room:
        await in_thread(room.read_up)
        filed, done = await acting(request, room, file)
        count(request, done)
        return FiledVerdictAnswer(
            assessments=filed.assessments,
            events=appended_events(done, room.key),
            fired=filed.fired,
            receipts=filed.receipts,
            verdict=filed.verdict,
        ).response(status_of(done))


@routes.post("/contradiction", status_code=201, responses=_RESPONSES)
@takes(VerdictRequest)
async def file_contradiction(request: Request) -> Response:
    """The specification's name of `POST /verdict`."""
    return await file_verdict(request)
