"""What the service answers: one closed record an answer, which the OpenAPI document and the client share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from fastapi import Response
from pydantic import BaseModel, ConfigDict, JsonValue

from ledger_core.belief.state import Tier
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.log import Position, Receipt
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import LogFamily
from ledger_core.service.permissions import ServiceRole
from ledger_core.service.writer import Acknowledged
from ledger_core.signing import SigningKey, sign_append
from ledger_core.stores.protocols import StoredEvent

JSON = "application/json"


class Answer(BaseModel):
    """Base of every answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def response(self, status: int = 200) -> Response:
        """The answer as HTTP; never cached, for the next one may differ."""
        return Response(
            self.model_dump_json(), status_code=status, media_type=JSON, headers={"Cache-Control": "no-store"}
        )


class AppendedEvent(Answer):
    """One statement that is durably in the log."""

    event_id: str
    family: LogFamily
    kind: str
    outcome: Literal["fresh", "replayed"]
    position: Position
    receipt: str
    """The signed append receipt, to be kept: it convicts a log that loses the event."""


class Appended(Answer):
    """The statements of one request, in order."""

    events: tuple[AppendedEvent, ...]


class FiledVerdictAnswer(Appended):
    """A verdict with everything that followed from it."""

    assessments: tuple[str, ...]
    """Pairs that it completed."""
    fired: bool
    """Whether it completed the quorum against its target."""
    receipts: tuple[str, ...]
    """A cascade receipt, then adjusted reputations."""
    verdict: str


class AuditOutcomeAnswer(Appended):
    """What a replay audit found."""

    outcome: str


class HeadOf(Answer):
    """The end of one family's log."""

    chain: str
    size: int


class PolicyInForce(Answer):
    """The policy by which belief is computed now."""

    digest: str
    event_id: str
    name: str
    policy: Policy


class HeadAnswer(Answer):
    """Both ends of the log, and the policy in force."""

    control: HeadOf
    evidence: HeadOf
    policy: PolicyInForce


class EventDocument(Answer):
    """One event as it stands in the log. Statement and receipt are their canonical bytes."""

    chain: str
    event_id: str
    family: LogFamily
    position: Position
    receipt: Receipt
    statement: dict[str, JsonValue]


class EventsPage(Answer):
    """Events of one family up to one signed size."""

    checkpoint: str | None
    """The signed note of `size`; null while the log is empty."""
    events: tuple[EventDocument, ...]
    family: LogFamily
    next: int | None
    """`after` of the next page, to be asked for with the same `size`; null at the end."""
    size: int


class GenerationPage(Answer):
    """Generations in log order."""

    generations: tuple[str, ...]
    next: int | None


class GenerationAnswer(Answer):
    """One model call: the event, the content of its context, and its claims."""

    claims: tuple[str, ...]
    context: tuple[EventDocument, ...]
    generation: EventDocument


class EntryStatus(Answer):
    """All that an agent is told of an entry that does not hold any more."""

    event_id: str
    status: Literal["invalidated"]


class EntryView(Answer):
    """An entry that holds, as an agent sees it."""

    content: ContentRef
    event_id: str
    kind: str
    status: Literal["live"]
    text: str | None
    """The content where it is text of at most 64 KiB."""
    tier: Tier


class HyperedgeAnswer(Answer):
    """A dependence on one parent, or on several together."""

    parents: tuple[str, ...]
    ppm: int


class EntryReport(Answer):
    """An entry as a reader sees it, holding or not."""

    attenuation: int
    base: int | None
    belief: int | None
    cluster: str | None
    corroborated: bool
    event: EventDocument
    event_id: str
    hyperedges: tuple[HyperedgeAnswer, ...]
    invalidated: bool
    path: tuple[str, ...]
    """Entries along which it is attenuated the most, nearest first."""
    predicate_family: str | None
    retracted: bool
    suspended: bool
    tier: Tier


class EdgesAnswer(Answer):
    """What a claim rests on, and the measurements that say so."""

    claim: str
    hyperedges: tuple[HyperedgeAnswer, ...]
    measurements: tuple[EventDocument, ...]


class ContextLine(Answer):
    """One entry's share of the context."""

    entry: str
    text: str


class ContextAnswer(Answer):
    """The working set, rendered; what a generation cites as the head, policy and renderer it saw."""

    head: str
    lines: tuple[ContextLine, ...]
    policy: str
    renderer: Literal["v1", "v2"]
    text: str


class RetractionAnswer(Answer):
    """One retracted entry, and the contradictors that count."""

    largest_independent: int
    members: tuple[str, ...]
    target: str


class ReputationAnswer(Answer):
    """Counts of one origin in one predicate family."""

    cluster: str
    failures: int
    family: str
    successes: int


class CollisionAnswer(Answer):
    """A statement that was refused because another one about the same fact is held."""

    held: str
    received_at: str
    refused: str
    source_fact_id: str


class AuditAnswer(Answer):
    """The record that the working set leaves out: what fell, why, and what was refused."""

    collisions: tuple[CollisionAnswer, ...]
    head: HeadAnswer
    invalidated: tuple[str, ...]
    reputation: tuple[ReputationAnswer, ...]
    retractions: tuple[RetractionAnswer, ...]
    suspended: tuple[str, ...]


class CheckpointAnswer(Answer):
    """A signed tree head."""

    key: str
    """The verifier key, as text; trust it only if it came to you another way as well."""
    note: str
    origin: str
    root: str
    size: int


class CheckpointsAnswer(Answer):
    """Both families, signed."""

    checkpoints: tuple[CheckpointAnswer, ...]


class ProofAnswer(Answer):
    """A proof as a file that verifies by itself."""

    key: str
    proof: str


class TokenAnswer(Answer):
    """What is known of a token."""

    created_at: str
    expires_at: str | None
    id: str
    principal: str
    revoked_at: str | None
    role: ServiceRole


class NewTokenAnswer(TokenAnswer):
    """A new token, told once."""

    token: str


class TokensAnswer(Answer):
    """The tokens of the admin's scope."""

    tokens: tuple[TokenAnswer, ...]


class WhoAmI(Answer):
    """What the token says of its bearer."""

    expires_at: str | None
    principal: str
    project: str
    role: ServiceRole
    tenant: str
    token_id: str


class Health(Answer):
    """The service answers."""

    status: Literal["ok"]


def appended_events(acknowledged: Sequence[Acknowledged], key: SigningKey) -> tuple[AppendedEvent, ...]:
    """What the log acknowledged, each with its signed receipt."""
    return tuple(
        AppendedEvent(
            event_id=one.event.event_id,
            family=one.event.family,
            kind=one.event.statement.kind,
            outcome="fresh" if one.fresh else "replayed",
            position=one.event.position,
            receipt=sign_append(one.event, key).encode(),
        )
        for one in acknowledged
    )


def status_of(acknowledged: Sequence[Acknowledged]) -> int:
    """201 where anything is new, 200 for a replay."""
    return 201 if any(one.fresh for one in acknowledged) else 200


def document_of(event: StoredEvent) -> EventDocument:
    """An event as a document; raises :class:`StatementError` where it does not decode."""
    statement: dict[str, Any] = event.statement.model_dump(mode="json")
    return EventDocument(
        chain=event.chain,
        event_id=event.event_id,
        family=event.family,
        position=event.position,
        receipt=event.receipt,
        statement=statement,
    )
