"""A ledger in another process, for the boundaries: the shim and the recorder write through it as into a local one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.log import Role
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.sealing import EntryObserved, SealMinted
from ledger_core.service import calls
from ledger_core.service.answers import Appended
from ledger_core.service.calls import Call
from ledger_core.service.client import Client
from ledger_core.service.errors import ServiceError
from ledger_core.service.requests import (
    EntryDraft,
    GenerationDraft,
    GenerationRequest,
    GivenDraft,
    Maker,
    MeasurementDraft,
    ObservationBody,
    ObservationDraft,
    SealDraft,
    SealRequest,
)
from ledger_core.stores.protocols import Channel, Fresh, Outcome, Replayed

_DraftT = TypeVar("_DraftT", SealDraft, GenerationDraft, GivenDraft, MeasurementDraft)


class RemoteLedger:
    """What a boundary needs of a ledger, over a client whose token has the boundary's role."""

    def __init__(self, client: Client) -> None:
        """Over ``client``; asks the service for the token's scope when it is first needed."""
        self._client = client

    @cached_property
    def scope(self) -> Scope:
        """The token's scope."""
        bearer = self._client.send(calls.whoami())
        return Scope.make(project_namespace=bearer.project, tenant_namespace=bearer.tenant)

    def policy(self) -> Policy:
        """The policy in force."""
        return self._client.send(calls.head()).policy.policy

    def head(self) -> str:
        """The evidence head."""
        return self._client.send(calls.head()).evidence.chain

    def put_blob(self, data: bytes, media_type: str) -> ContentRef:
        """Store ``data`` durably."""
        return self._client.send(calls.put_blob(data, media_type))

    def put_blobs(self, many: Sequence[tuple[bytes, str]]) -> tuple[ContentRef, ...]:
        """Store several (bytes, media type) durably."""
        return tuple(self.put_blob(data, media_type) for data, media_type in many)

    def put_blob_stream(self, chunks: Iterable[bytes], media_type: str) -> ContentRef:
        """Store bytes that come in pieces durably."""
        return self._client.put_stream(chunks, media_type)

    def append(
        self,
        statements: Iterable[Statement],
        *,
        role: Role,
        channel: Channel = "service",
        context_head: str | None = None,
    ) -> tuple[Outcome, ...]:
        """Append ``statements`` in one transaction, by the route that takes them; the same again is a replay.

        Role and channel are the token's and the service's to say.

        Raises:
            ServiceError: no route takes these statements together, or the service made others of them.
            ApiError: the service refused, or did not answer.
        """
        del role, channel
        wanted = tuple(statements)
        made = self._client.send(call_of(wanted, context_head))
        for statement, event in zip(wanted, made.events, strict=False):
            if statement.event_id != event.event_id:
                raise ServiceError(
                    f"the service appended {event.event_id} where {statement.event_id} was sent: another scope, or another"
                    " version of the profile"
                )
        return tuple(
            (Fresh if event.outcome == "fresh" else Replayed)(event.event_id, event.family, event.position)
            for event in made.events
        )


def call_of(statements: Sequence[Statement], context_head: str | None = None) -> Call[Appended]:
    """The call that appends ``statements`` as one.

    Raises:
        ServiceError: no route takes them together.
    """
    match statements:
        case [SealMinted() as seal, *rest] if all(isinstance(one, EntryObserved) for one in rest):
            observations = tuple(_observation(one) for one in rest if isinstance(one, EntryObserved))
            return calls.seal(SealRequest(observations=observations, seal=_draft(SealDraft, seal)))
        case [EntryDerived() | EntryConjectured() as claim]:
            return calls.commit_entry(_claim(claim))
        case [EdgesMeasured() as measured]:
            return calls.file_measurement(_draft(MeasurementDraft, measured))
        case _:
            return calls.record_generation(_generation(statements, context_head))


def _generation(statements: Sequence[Statement], context_head: str | None) -> GenerationRequest:
    given = tuple(one for one in statements if isinstance(one, EntryGiven))
    generations = [one for one in statements if isinstance(one, GenerationRecorded)]
    claims = tuple(one for one in statements if isinstance(one, EntryDerived | EntryConjectured))
    if len(generations) != 1 or tuple(statements) != (*given, *generations, *claims):
        kinds = ", ".join(statement.kind for statement in statements) or "no statement"
        raise ServiceError(
            f"no route appends {kinds} together; the service takes a seal with its observations, one entry, one"
            " measurement, or given messages with a generation and its claims"
        )
    return GenerationRequest(
        claims=tuple(_claim(claim) for claim in claims),
        context_head=context_head,
        generation=_draft(GenerationDraft, generations[0]),
        given=tuple(_draft(GivenDraft, message) for message in given),
    )


def _draft(form: type[_DraftT], statement: Statement) -> _DraftT:
    body: Any = statement.body  # of the kind that ``form`` is of: the callers' match says so
    return form(body=body, **_envelope(statement))


def _envelope(statement: Statement) -> dict[str, Any]:
    representation = statement.representation
    return {
        "erasure_scopes": statement.erasure_scopes,
        "observed_at": statement.observed_at,
        "occurred_at": statement.occurred_at,
        "representation": Maker(**dict(representation)),
        "source_fact": statement.source_fact,
    }


def _claim(claim: EntryDerived | EntryConjectured) -> EntryDraft:
    return EntryDraft(kind=claim.kind, body=claim.body, **_envelope(claim))


def _observation(observed: EntryObserved) -> ObservationDraft:
    body = ObservationBody(
        content=observed.body.content,
        predicate_family=observed.body.predicate_family,
        record_pointer=observed.body.record_pointer,
    )
    return ObservationDraft(
        body=body,
        erasure_scopes=observed.erasure_scopes,
        lineage=observed.representation.lineage,
        observed_at=observed.observed_at,
        occurred_at=observed.occurred_at,
        source_fact=observed.source_fact,
    )
