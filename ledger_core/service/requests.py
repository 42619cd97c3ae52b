"""What a request may say: closed records, from which the service makes the statements.

A draft is a statement without what a client may not choose: its scope (the token's), and the constants of the profile.
The same draft in the same scope is the same statement, byte for byte, so that sending a request again is a replay and
nothing else. No record has a field for trust; one that comes is refused by its name.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import NO_CONFIG, ORIGIN, Author
from ledger_core.kernel.statements.entries import (
    ClaimBody,
    EntryConjectured,
    EntryDerived,
    EntryGiven,
    EntryGivenBody,
)
from ledger_core.kernel.statements.envelope import ErasureScope, Lineage, SourceFact
from ledger_core.kernel.statements.generation import GenerationRecorded, GenerationRecordedBody
from ledger_core.kernel.statements.measurement import EdgesMeasured, EdgesMeasuredBody
from ledger_core.kernel.statements.sealing import (
    EntryObserved,
    EntryObservedBody,
    SealMinted,
    SealMintedBody,
)
from ledger_core.kernel.types import ContractId, Count, Digest, Family, ForeignName, Items, Pointer, Timestamp
from ledger_core.service.permissions import ServiceRole
from ledger_core.service.problems import from_validation, invalid


class Body(BaseModel):
    """Base of every request body: strict types, no extra field."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, revalidate_instances="never")

    @classmethod
    def read(cls, data: bytes) -> Self:
        """The request in ``data``; raises :class:`Problem` naming every field that cannot be."""
        try:
            request = cls.model_validate_json(data)
        except ValidationError as error:
            raise from_validation(error) from error
        _refuse_duplicates(data)
        return request


def _pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) != len(members):
        keys = [key for key, _ in members]
        raise invalid(next(key for key in keys if keys.count(key) > 1), "stands twice in one object")
    return made


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs)


def _refuse_duplicates(data: bytes) -> None:
    """A key that stands twice means one thing to us and may mean another to whoever looks at the request before us."""
    _DECODER.decode(data.decode())


class Maker(BaseModel):
    """Who made a draft, and how: the parts of a representation that a client chooses."""

    model_config = Body.model_config

    config_digest: Digest = NO_CONFIG
    lineage: Lineage = ORIGIN
    producer: ContractId
    producer_version: ForeignName
    redaction_policy: Literal["none", "secrets-v1"] = "none"


class Draft(Body):
    """What all drafts have; each adds its `body`."""

    TYPE: ClassVar[type[Statement]]

    erasure_scopes: Items[ErasureScope] = ()
    observed_at: Timestamp | None = None
    occurred_at: Timestamp | None = None
    representation: Maker
    source_fact: SourceFact

    def statement(self, scope: Scope) -> Statement:
        """The draft as a statement of ``scope``."""
        return _write(self, self.TYPE, self.__dict__["body"], scope)


def _write(draft: Draft, statement_type: type[Statement], body: Any, scope: Scope) -> Statement:
    made_by = draft.representation
    author = Author(scope, made_by.producer, made_by.producer_version, made_by.config_digest, made_by.redaction_policy)
    return author.write(
        statement_type,
        draft.source_fact,
        body,
        occurred_at=draft.occurred_at,
        observed_at=draft.observed_at,
        lineage=made_by.lineage,
        erasure_scopes=draft.erasure_scopes,
    )


class SealDraft(Draft):
    """A tool call as executed at the boundary."""

    TYPE = SealMinted
    body: SealMintedBody


class ObservationBody(Body):
    """What an observation says beside the seal that it is minted from."""

    content: ContentRef
    predicate_family: Family = "*"
    record_pointer: Pointer | None = None


class ObservationDraft(Body):
    """An observation to mint from the seal of the same request: the whole result, or one record of it."""

    body: ObservationBody
    erasure_scopes: Items[ErasureScope] = ()
    lineage: Lineage = ORIGIN
    observed_at: Timestamp | None = None
    occurred_at: Timestamp | None = None
    source_fact: SourceFact


class SealRequest(Body):
    """`POST /seal`: a seal, and the observations to mint from it; none given means one of the whole result."""

    observations: Items[ObservationDraft] | None = None
    seal: SealDraft

    def statements(self, scope: Scope) -> tuple[Statement, ...]:
        """The seal, then its observations, each of the seal's own making."""
        seal = self.seal.statement(scope)
        assert isinstance(seal, SealMinted)
        whole = ObservationDraft(
            body=ObservationBody(content=seal.body.result),
            erasure_scopes=self.seal.erasure_scopes,
            observed_at=self.seal.observed_at,
            occurred_at=self.seal.occurred_at,
            source_fact=self.seal.source_fact,
        )
        wanted = (whole,) if self.observations is None else self.observations
        return (seal, *(self._observation(one, seal, scope) for one in wanted))

    def _observation(self, draft: ObservationDraft, seal: SealMinted, scope: Scope) -> Statement:
        said = draft.body
        if said.record_pointer is None and said.content != seal.body.result:
            raise invalid("observations.body.content", "an observation of the whole result has the result's content")
        body = EntryObservedBody.make(
            content=said.content,
            predicate_family=said.predicate_family,
            record_pointer=said.record_pointer,
            seal=seal.event_id,
        )
        origin = self.seal.model_copy(
            update={
                "erasure_scopes": draft.erasure_scopes,
                "observed_at": draft.observed_at,
                "occurred_at": draft.occurred_at,
                "representation": self.seal.representation.model_copy(update={"lineage": draft.lineage}),
                "source_fact": draft.source_fact,
            }
        )
        return _write(origin, EntryObserved, body, scope)


class GivenDraft(Draft):
    """A message of the system or the user."""

    TYPE = EntryGiven
    body: EntryGivenBody


class GenerationDraft(Draft):
    """One model call."""

    TYPE = GenerationRecorded
    body: GenerationRecordedBody


class EntryDraft(Draft):
    """A claim; `entry.derived` asks for the tier `derived`, which only the fold grants."""

    body: ClaimBody
    kind: Literal["entry.derived", "entry.conjectured"]

    def statement(self, scope: Scope) -> Statement:
        """The draft as a statement of ``scope``."""
        return _write(self, EntryDerived if self.kind == "entry.derived" else EntryConjectured, self.body, scope)


class GenerationRequest(Body):
    """`POST /generation`: the messages it is the first to show, the model call, and the claims it says."""

    claims: Items[EntryDraft] = ()
    context_head: Digest | None = None
    """The evidence head that the context was rendered from."""
    generation: GenerationDraft
    given: Items[GivenDraft] = ()

    def statements(self, scope: Scope) -> tuple[Statement, ...]:
        """The messages, the generation, its claims."""
        generation = self.generation.statement(scope)
        for claim in self.claims:
            if claim.body.generation != generation.event_id:
                raise invalid(
                    "claims.body.generation", f"a claim of this request is of its generation, {generation.event_id}"
                )
        given = (message.statement(scope) for message in self.given)
        return (*given, generation, *(claim.statement(scope) for claim in self.claims))


class MeasurementDraft(Draft):
    """One claim's measurement."""

    TYPE = EdgesMeasured
    body: EdgesMeasuredBody


class VerdictRequest(Body):
    """`POST /verdict`: whether the candidate contradicts the target, according to the recipe."""

    candidate: Digest
    recipe: ContractId
    stage_a: ContentRef | None = None
    stage_b: ContentRef | None = None
    target: Digest
    verdict: Literal["contradict", "support", "undecided"]


class Refetched(Body):
    """What the sealer got when it ran a seal's procedure again."""

    content: ContentRef
    fetched_at: Timestamp
    """When, by the sealer's clock."""
    modified_at: Timestamp | None = None
    """Since when the origin has it, where the origin says so."""


class ReplayAuditRequest(Body):
    """`POST /replay-audit/{seal_id}`: a later look at a seal. The outcome is computed and never stated."""

    fetched: Refetched | None = None
    """What the sealer fetched again; null: the service looks at its own bytes."""


class ExpectedHead(Body):
    """A head of the evidence log that an operator has looked at: act only on a log that continues it."""

    chain: Digest
    """Chain digest after that many events."""
    size: Count
    """Events of the evidence log."""


class OperatorRequest(Body):
    """What every operator's request says: on which ledger it is meant to act."""

    expected_head: ExpectedHead


class PolicyRequest(OperatorRequest):
    """`POST /policy`: put a policy in force after the one that is."""

    name: ContractId
    policy: Policy
    predecessor: Digest
    """Event id of the policy in force."""


class ReversalRequest(OperatorRequest):
    """`POST /verdict/{verdict_id}/reverse`."""

    note: ContentRef | None = None
    reason: Literal["verifier_error", "source_corrected", "operator_decision", "erased"]


class ErasureRequest(OperatorRequest):
    """`POST /erasure`: destroy content and refuse its digest from now on."""

    content_digest: Digest
    reason: Literal["privacy", "retention", "secret", "legal"]


class CheckpointRequest(OperatorRequest):
    """`POST /checkpoint`: sign the log as it stands."""


class TokenRequest(Body):
    """`POST /token`: a token of the admin's own scope."""

    expires_at: Timestamp | None = None
    principal: Annotated[ContractId | None, Field(description="Name in receipts; made from the id unless given.")] = (
        None
    )
    role: ServiceRole
