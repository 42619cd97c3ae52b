"""The auditor's plane: the log itself, signed sizes, proofs, and the record that the working set leaves out."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import Query, Request, Response

from ledger_core.kernel.statements import LogFamily
from ledger_core.kernel.statements.control import PolicyActivated
from ledger_core.service.answers import (
    AuditAnswer,
    CheckpointAnswer,
    CollisionAnswer,
    EventsPage,
    HeadAnswer,
    HeadOf,
    PolicyInForce,
    ProofAnswer,
    ReputationAnswer,
    RetractionAnswer,
    document_of,
)
from ledger_core.service.problems import invalid, not_found
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import EVENT_ID, After, Limit, answers, look, router
from ledger_core.service.routes.operating import described
from ledger_core.service.state import room_of
from ledger_core.signing import SignedNote
from ledger_core.stores.checkpoints import read_notes

routes = router("auditing")
Family = Annotated[LogFamily, Query(description="`evidence`, or `control`: genesis, policies, criteria, keys.")]
Size = Annotated[
    int | None, Query(ge=1, le=2**53 - 1, description="Events of the log at the signed size; default now.")
]
TreeSize = Annotated[int, Query(ge=1, le=2**53 - 1, description="A tree of size 0 proves nothing.")]


@routes.get("/events", responses=answers({200: EventsPage}))
async def list_events(
    request: Request, after: After = 0, limit: Limit = 100, family: Family = "evidence", size: Size = None
) -> Response:
    """Events as they stand in the log, up to one signed size: ask for further pages with the `size` of the first."""
    async with room_of(request) as room:
        return (await look(lambda: _page(room, family, after, limit, size))).response()


def _page(room: Room, family: LogFamily, after: int, limit: int, size: int | None) -> EventsPage:
    trees = room.trees()
    there = trees.size(family)
    at = there if size is None else size
    if at > there:
        raise invalid("size", f"the {family} log has {there} events")
    note = None if at == 0 else room.key.sign(trees.checkpoint(family, at).text).encode()
    taken = tuple(islice(room.reading.events(family, after), max(0, min(limit, at - after))))
    last = taken[-1].offset if taken else after
    return EventsPage(
        checkpoint=note,
        events=tuple(document_of(event) for event in taken),
        family=family,
        next=last if last < at else None,
        size=at,
    )


@routes.get("/head", responses=answers({200: HeadAnswer}))
async def get_head(request: Request) -> Response:
    """Both ends of the log now, and the policy in force."""
    async with room_of(request) as room:
        return (await look(lambda: _head(room))).response()


def _head(room: Room) -> HeadAnswer:
    in_force = room.store.policy_head()
    assert in_force is not None, "every ledger is opened with a policy"
    statement = in_force.statement
    assert isinstance(statement, PolicyActivated)
    return HeadAnswer(
        control=_end(room, "control"),
        evidence=_end(room, "evidence"),
        policy=PolicyInForce(
            digest=statement.body.policy.digest(),
            event_id=in_force.event_id,
            name=statement.body.name,
            policy=statement.body.policy,
        ),
    )


def _end(room: Room, family: LogFamily) -> HeadOf:
    """Size and head of one moment: both are read from the last event."""
    size = room.store.count(family)
    last = next(room.store.events(family, size - 1), None) if size else None
    return HeadOf(chain=room.store.head(family), size=0) if last is None else HeadOf(chain=last.chain, size=size)


@routes.get("/audit", responses=answers({200: AuditAnswer}))
async def audit(request: Request) -> Response:
    """What fell, why, and what was refused: the record, of which the context shows nothing."""
    async with room_of(request) as room:
        return (await look(lambda: _audit(room))).response()


def _audit(room: Room) -> AuditAnswer:
    head = _head(room)
    state = room.belief().state
    return AuditAnswer(
        collisions=tuple(
            CollisionAnswer(
                held=one.held, received_at=one.received_at, refused=one.refused, source_fact_id=one.source_fact_id
            )
            for one in room.store.collisions()
        ),
        head=head,
        invalidated=tuple(key for key, entry in state.entries.items() if entry.invalidated),
        reputation=tuple(
            ReputationAnswer(cluster=cluster, failures=failures, family=family, successes=successes)
            for (cluster, family), (successes, failures) in sorted(state.reputation.items())
        ),
        retractions=tuple(
            RetractionAnswer(largest_independent=one.largest_independent, members=one.members, target=target)
            for target, one in state.retractions.items()
        ),
        suspended=tuple(key for key, entry in state.entries.items() if entry.suspended),
    )


@routes.get("/checkpoint", responses=answers({200: CheckpointAnswer}, 404))
async def get_checkpoint(request: Request, family: Family = "evidence") -> Response:
    """The last checkpoint that an operator had signed and that is kept apart from the log."""
    async with room_of(request) as room:
        latest = await look(lambda: read_notes(room.notes).latest(room.scope, family))
        if latest is None:
            raise not_found()
        return described(latest, str(room.key.verifier)).response()


@routes.get("/proof/inclusion", responses=answers({200: ProofAnswer}, 404))
async def prove_inclusion(
    request: Request,
    event_id: Annotated[str, Query(pattern=EVENT_ID, description="Event id: 64 hex digits.")],
    size: Size = None,
) -> Response:
    """That an event stands in the log at a size, as a file that verifies by itself."""
    async with room_of(request) as room:
        return (await look(lambda: _inclusion(room, event_id, size))).response()


def _inclusion(room: Room, event_id: str, size: int | None) -> ProofAnswer:
    event = room.store.event(event_id)
    if event is None:
        raise not_found()
    proof = room.trees().prove_inclusion(event_id, _signed(room, event.family, size))
    return ProofAnswer(key=str(room.key.verifier), proof=proof.encode())


@routes.get("/proof/consistency", responses=answers({200: ProofAnswer}))
async def prove_consistency(
    request: Request, first: TreeSize, second: Size = None, family: Family = "evidence"
) -> Response:
    """That the log at one size begins with the log at a smaller one, as a file that verifies by itself."""
    async with room_of(request) as room:
        return (await look(lambda: _consistency(room, family, first, second))).response()


def _consistency(room: Room, family: LogFamily, first: int, second: int | None) -> ProofAnswer:
    trees = room.trees()
    newest = trees.size(family) if second is None else second
    if first > newest:
        raise invalid("first", f"a log of {newest} events extends no log of {first}")
    older, newer = _signed(room, family, first), _signed(room, family, newest)
    return ProofAnswer(key=str(room.key.verifier), proof=trees.prove_consistency(older, newer).encode())


def _signed(room: Room, family: LogFamily, size: int | None) -> SignedNote:
    return room.key.sign(room.trees().checkpoint(family, size).text)
