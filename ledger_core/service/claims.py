"""A claim that names a generation is that generation's own words: the log cannot know, for it holds no text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger_core.kernel.content import content_ref
from ledger_core.kernel.errors import BlobError
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.types import EventId
from ledger_core.service.problems import Problem, ProblemKind, invalid
from ledger_core.service.rooms import Room


def names_a_generation(statements: Sequence[Statement]) -> bool:
    """Whether there is anything for :func:`check_claims` to read."""
    return any(
        isinstance(one, EntryDerived | EntryConjectured) and one.body.generation is not None for one in statements
    )


def check_claims(room: Room, statements: Sequence[Statement]) -> None:
    """Hold every claim among ``statements`` to the bytes that its generation said.

    Without this an agent could put words of its own under a generation that was recorded at the boundary, and the fold
    would take them for derived.

    Raises:
        Problem: the content is not the range's, the range is none that the recorder cut, or the response is gone.
    """
    own = {each.event_id: each for each in statements if isinstance(each, GenerationRecorded)}
    said: dict[str, bytes] = {}
    for statement in statements:
        if not isinstance(statement, EntryDerived | EntryConjectured):
            continue
        body = statement.body
        generation = None if body.generation is None else _generation(room, body.generation, own)
        if generation is None or body.span is None:
            continue  # a conjecture, or a reference that the log will refuse
        if not any(
            (cut.byte_start, cut.byte_stop) == (body.span.start, body.span.stop) for cut in generation.body.claims
        ):
            raise invalid(
                "body.span",
                f"bytes {body.span.start} to {body.span.stop} are none of the claims that generation"
                f" {generation.event_id} was recorded with; half a sentence may say the opposite",
            )
        if generation.event_id not in said:
            said[generation.event_id] = _response(room, generation)
        words = said[generation.event_id][body.span.start : body.span.stop]
        there = content_ref(words, body.content.media_type)
        if there.digest != body.content.digest:
            raise invalid(
                "body.content",
                f"bytes {body.span.start} to {body.span.stop} of generation {generation.event_id} are content"
                f" {there.digest}; a claim has its generation's own words",
            )


def _generation(room: Room, event_id: str, own: Mapping[EventId, GenerationRecorded]) -> GenerationRecorded | None:
    if EventId(event_id) in own:
        return own[EventId(event_id)]
    event = room.store.event(event_id)
    return None if event is None or not isinstance(event.statement, GenerationRecorded) else event.statement


def _response(room: Room, generation: GenerationRecorded) -> bytes:
    try:
        return room.blobs.read(generation.body.response)
    except BlobError as error:
        raise Problem(
            ProblemKind.MISSING_CONTENT, f"the response that the claim is of cannot be read: {error}"
        ) from error
