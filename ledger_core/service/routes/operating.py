"""The operator's plane: policies, reversals, erasures, checkpoints. Every request says which log it means.

`expected_head` is a head that the operator has looked at, with its size. A log that has grown since is still that log; one
that has another event in that place, or none, is not, and nothing is done to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from fastapi import Request, Response

from ledger_core.belief.origin import installed_list_digest
from ledger_core.belief.policies import check_policy
from ledger_core.kernel.errors import VerificationError
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import BlobErased, BlobErasedBody, PolicyActivated
from ledger_core.kernel.statements.envelope import SourceFact
from ledger_core.kernel.statements.facts import FIRST
from ledger_core.service.answers import Appended, CheckpointAnswer, CheckpointsAnswer, appended_events, status_of
from ledger_core.service.guard import takes
from ledger_core.service.problems import Problem, ProblemKind, invalid
from ledger_core.service.requests import (
    CheckpointRequest,
    ErasureRequest,
    ExpectedHead,
    PolicyRequest,
    ReversalRequest,
)
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import EventIdPath, acting, answers, count, found, read, router
from ledger_core.service.state import caller_of, room_of
from ledger_core.service.writer import Acknowledged, stands
from ledger_core.stores.checkpoints import SignedCheckpoint
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.memory import empty_head
from ledger_core.stores.protocols import Fresh, Outcome

NAMESPACE: Final = "veritas.service"
_VERSION: Final = "1"

routes = router("operating")
_APPENDED = answers({200: Appended, 201: Appended}, 408, 409, 413, 415)


@routes.post("/policy", status_code=201, responses=_APPENDED)
@takes(PolicyRequest)
async def activate_policy(request: Request) -> Response:
    """Put a policy in force after the one that is."""
    wanted = await read(request, PolicyRequest)
    check_policy(wanted.policy)
    if wanted.policy.suffix_list_digest != installed_list_digest():
        raise invalid(
            "policy.suffix_list_digest", f"installed is {installed_list_digest()}; no belief could be computed"
        )

    def activate(room: Room) -> tuple[Acknowledged, ...]:
        require_head(room.writing, wanted.expected_head)
        for event in room.writing.events("control"):
            body = event.statement.body if isinstance(event.statement, PolicyActivated) else None
            if body is not None and (body.predecessor, body.policy, body.name) == (
                wanted.predecessor,
                wanted.policy,
                wanted.name,
            ):
                return (Acknowledged(event, fresh=False),)
        in_force = room.writing.store.policy_head()
        if in_force is None or in_force.event_id != wanted.predecessor:
            current = None if in_force is None else in_force.event_id
            raise Problem(
                ProblemKind.SUPERSEDED, f"in force is {current}, not {wanted.predecessor}; look again", current=current
            )
        return _stand(room, (room.writing.activate_policy(wanted.policy, wanted.name),))

    return await _appending(request, activate)


@routes.post(
    "/verdict/{verdict_id}/reverse",
    status_code=201,
    responses=answers({200: Appended, 201: Appended}, 404, 408, 409, 413, 415),
)
@takes(ReversalRequest)
async def reverse_verdict(request: Request, verdict_id: EventIdPath) -> Response:
    """Withdraw a verdict: state becomes exactly what it would be without it."""
    wanted = await read(request, ReversalRequest)

    def reverse(room: Room) -> tuple[Acknowledged, ...]:
        require_head(room.writing, wanted.expected_head)
        before = room.writing.count()
        reversal = room.desk.reverse(verdict_id, wanted.reason, wanted.note)
        return (stands(room.writing.store, reversal, fresh=room.writing.count() > before),)

    async with room_of(request) as room:
        await found(room, verdict_id, "verdict.filed")
    return await _appending(request, reverse)


@routes.post("/erasure", status_code=201, responses=_APPENDED)
@takes(ErasureRequest)
async def erase(request: Request) -> Response:
    """Destroy content and refuse its digest from now on. The log says so first, so that no erasure goes unsaid."""
    wanted = await read(request, ErasureRequest)
    authority = caller_of(request).principal

    def erase(room: Room) -> tuple[Acknowledged, ...]:
        require_head(room.writing, wanted.expected_head)
        digest = wanted.content_digest
        statement = Author(room.scope, NAMESPACE, _VERSION).write(
            BlobErased,
            SourceFact.make(key="erasure", namespace=NAMESPACE, object=digest, revision=FIRST),
            BlobErasedBody.make(authority=authority, content_digest=digest, reason=wanted.reason),
        )
        outcomes = room.writing.append((statement,), role="operator")
        room.writing.blobs.erase(digest)
        return _stand(room, outcomes)

    return await _appending(request, erase)


@routes.post("/checkpoint", status_code=201, responses=answers({201: CheckpointsAnswer}, 408, 409, 413, 415))
@takes(CheckpointRequest)
async def sign_checkpoint(request: Request) -> Response:
    """Sign the log as it stands and keep the notes apart from it. A log that left its own past is not signed."""
    wanted = await read(request, CheckpointRequest)

    def sign(room: Room) -> tuple[SignedCheckpoint, ...]:
        require_head(room.writing, wanted.expected_head)
        try:
            return room.sign_checkpoint()
        except VerificationError as error:
            raise Problem(
                ProblemKind.DAMAGED, "an earlier checkpoint is not of this log; run `veritas verify`"
            ) from error

    async with room_of(request) as room:
        made = await acting(request, room, sign)
        return CheckpointsAnswer(checkpoints=tuple(described(one, str(room.key.verifier)) for one in made)).response(
            201
        )


def described(signed: SignedCheckpoint, key: str) -> CheckpointAnswer:
    """A signed checkpoint as an answer."""
    checkpoint = signed.checkpoint
    return CheckpointAnswer(
        key=key,
        note=signed.note.encode(),
        origin=checkpoint.origin,
        root=checkpoint.root.hex(),
        size=checkpoint.size,
    )


def require_head(ledger: Ledger, expected: ExpectedHead) -> None:
    """Return where the evidence log has, or had, the expected head; raises the problem 409 otherwise."""
    size = ledger.count()
    current = ledger.head()
    if expected.size == size:
        there: str | None = current
    elif expected.size > size:
        there = None
    elif expected.size == 0:
        there = empty_head(tuple(islice(ledger.events("control"), 1)), "evidence")
    else:
        event = next(ledger.events(after=expected.size - 1), None)
        there = None if event is None else event.chain
    if there != expected.chain:
        raise Problem(
            ProblemKind.HEAD_MISMATCH,
            f"this log has no head {expected.chain} at size {expected.size}; it has {size} events and the head {current}",
            current=current,
        )


def _stand(room: Room, outcomes: Sequence[Outcome]) -> tuple[Acknowledged, ...]:
    return tuple(stands(room.writing.store, one.event_id, fresh=isinstance(one, Fresh)) for one in outcomes)


async def _appending(request: Request, function: Callable[[Room], tuple[Acknowledged, ...]]) -> Response:
    async with room_of(request) as room:
        done = await acting(request, room, function)
        count(request, done)
        return Appended(events=appended_events(done, room.key)).response(status_of(done))
