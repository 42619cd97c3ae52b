"""The sealing plane: what the shim executed, and later looks at it."""

from __future__ import annotations

from fastapi import Request, Response

from ledger_core.kernel.errors import SealError
from ledger_core.kernel.statements.sealing import AuditOutcome
from ledger_core.service.answers import Appended, AuditOutcomeAnswer, appended_events, status_of
from ledger_core.service.guard import takes
from ledger_core.service.problems import invalid
from ledger_core.service.requests import ReplayAuditRequest, SealRequest
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import EventIdPath, acting, answers, append, count, found, read, router
from ledger_core.service.state import caller_of, room_of
from ledger_core.service.writer import Acknowledged, stands

routes = router("sealing")


@routes.post("/seal", status_code=201, responses=answers({200: Appended, 201: Appended}, 408, 409, 413, 415))
@takes(SealRequest)
async def mint_seal(request: Request) -> Response:
    """Seal a tool call and mint its observations, in one transaction."""
    statements = (await read(request, SealRequest)).statements(caller_of(request).scope)
    async with room_of(request) as room:
        done = await append(request, room, statements)
        return Appended(events=appended_events(done, room.key)).response(status_of(done))


@routes.post(
    "/replay-audit/{seal_id}",
    status_code=201,
    responses=answers({200: AuditOutcomeAnswer, 201: AuditOutcomeAnswer}, 404, 408, 409, 413, 415),
)
@takes(ReplayAuditRequest)
async def audit_seal(request: Request, seal_id: EventIdPath) -> Response:
    """Look at a seal again: at the service's own bytes, or at what the sealer fetched."""
    wanted = await read(request, ReplayAuditRequest)

    def look(room: Room) -> tuple[AuditOutcome, tuple[Acknowledged, ...]]:
        before = room.writing.count()
        fetched = wanted.fetched
        try:
            audit = (
                room.auditor.audit(seal_id)
                if fetched is None
                else room.auditor.refetched(
                    seal_id, fetched.content, fetched_at=fetched.fetched_at, modified_at=fetched.modified_at
                )
            )
        except SealError as error:
            raise invalid("fetched", str(error)) from error
        fresh = room.writing.count() > before
        return audit.outcome, tuple(stands(room.writing.store, event_id, fresh=fresh) for event_id in audit.filed)

    async with room_of(request) as room:
        await found(room, seal_id, "seal.minted")
        outcome, done = await acting(request, room, look)
        count(request, done)
        return AuditOutcomeAnswer(events=appended_events(done, room.key), outcome=outcome).response(status_of(done))
