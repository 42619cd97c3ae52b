"""The agent's plane: claims, the working set, and what has become of an entry."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request, Response

from ledger_core.belief.state import BeliefState, EntryState
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import BlobError
from ledger_core.kernel.types import EventId
from ledger_core.service.answers import (
    Answer,
    Appended,
    ContextAnswer,
    EntryReport,
    EntryStatus,
    EntryView,
    HyperedgeAnswer,
    appended_events,
    document_of,
    status_of,
)
from ledger_core.service.claims import check_claims, names_a_generation
from ledger_core.service.contexts import content_of, render
from ledger_core.service.guard import takes
from ledger_core.service.problems import not_found
from ledger_core.service.requests import EntryDraft
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import EventIdPath, answers, append, found, look, read, router
from ledger_core.service.state import caller_of, room_of
from ledger_core.stores.protocols import StoredEvent

TEXT_BYTES = 1 << 16
"""Longest content that an entry is shown with."""

routes = router("entries")


@routes.post("/entry", status_code=201, responses=answers({200: Appended, 201: Appended}, 408, 409, 413, 415))
@takes(EntryDraft)
async def commit_entry(request: Request) -> Response:
    """Commit a claim. Where it names a generation it has to be that generation's own words."""
    draft = await read(request, EntryDraft)
    statements = (draft.statement(caller_of(request).scope),)
    async with room_of(request) as room:
        if names_a_generation(statements):
            await look(lambda: check_claims(room, statements))
        done = await append(request, room, statements)
        return Appended(events=appended_events(done, room.key)).response(status_of(done))


@routes.get("/entry/{entry_id}", responses=answers({200: EntryStatus | EntryView | EntryReport}, 404))
async def get_entry(request: Request, entry_id: EventIdPath) -> Response:
    """An entry. An agent is shown what holds, and of anything else only that it does not."""
    async with room_of(request) as room:
        event = await found(room, entry_id)
        state = (await look(room.belief)).state
        entry = state.entries.get(EventId(entry_id))
        if entry is None:
            raise not_found()
        view = _for_agent if caller_of(request).role == "agent" else _for_reader
        return (await look(lambda: view(room, event, entry, state))).response()


@routes.get("/context", responses=answers({200: ContextAnswer}))
async def get_context(
    request: Request,
    renderer: Annotated[
        Literal["v1", "v2"], Query(description="`v2` is the working set; `v1` shows and marks all.")
    ] = ("v2"),
) -> Response:
    """The context as a model is to be shown it: what holds, the surest first, without a word about the rest."""
    async with room_of(request) as room:
        answer: ContextAnswer = await look(lambda: render(room, renderer))
        return answer.response()


def _for_agent(room: Room, event: StoredEvent, entry: EntryState, state: BeliefState) -> Answer:
    del state
    if entry.invalidated:
        return EntryStatus(event_id=event.event_id, status="invalidated")
    content = content_of(event.statement)
    assert content is not None, "every entry has content"
    return EntryView(
        content=content,
        event_id=event.event_id,
        kind=entry.kind,
        status="live",
        text=_text(room, content),
        tier=entry.tier,
    )


def _for_reader(room: Room, event: StoredEvent, entry: EntryState, state: BeliefState) -> Answer:
    del room
    return EntryReport(
        attenuation=entry.attenuation,
        base=entry.base,
        belief=entry.belief,
        cluster=entry.cluster,
        corroborated=entry.corroborated,
        event=document_of(event),
        event_id=event.event_id,
        hyperedges=tuple(HyperedgeAnswer(parents=edge.parents, ppm=edge.ppm) for edge in entry.hyperedges),
        invalidated=entry.invalidated,
        path=tuple(step.entry for step in state.path(EventId(event.event_id))),
        predicate_family=entry.family,
        retracted=entry.retracted,
        suspended=entry.suspended,
        tier=entry.tier,
    )


def _text(room: Room, content: ContentRef) -> str | None:
    if content.byte_length > TEXT_BYTES:
        return None
    try:
        return room.blobs.read(content).decode()
    except (BlobError, UnicodeDecodeError):
        return None
