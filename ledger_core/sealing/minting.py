"""From an executed call to its statements: one seal, and the observations minted from it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ledger_core.kernel import jcs
from ledger_core.kernel.errors import ToolError
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.envelope import SourceFact
from ledger_core.kernel.statements.facts import call_fact
from ledger_core.kernel.statements.sealing import (
    EntryObserved,
    EntryObservedBody,
    Reacquisition,
    SealMinted,
    SealMintedBody,
)
from ledger_core.redaction import POLICY, scan
from ledger_core.sealing.registry import ToolRegistration
from ledger_core.sealing.results import Content, canonical_json
from ledger_core.sealing.running import Outcome
from ledger_core.sealing.scrub import Known, scrub_json

PRODUCER = "veritas.shim"
PRODUCER_VERSION = "1"
MAX_RECORDS = 1_000
"""Observations of one seal: they are one transaction with it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which call of which run: what makes two equal results two facts, and a retry the same one."""

    namespace: str
    record_key: str
    step: int
    call_id: str

    def fact(self, record_pointer: str | None = None) -> SourceFact:
        """The source fact of the call's seal, or of an observation of one of its records.

        A call id comes from a model: one that looks like a secret leaves its digest.
        """
        call_id = self.call_id
        if scan(call_id):
            call_id = f"sha256:{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
        return call_fact(self.namespace, self.record_key, self.step, call_id, record_pointer)


@dataclass(frozen=True, slots=True)
class Record:
    """A part of a result that is an observation of its own; the whole result where there is no pointer."""

    pointer: str | None
    content: Content


@dataclass(frozen=True, slots=True)
class Executed:
    """A call as it happened."""

    registration: ToolRegistration
    outcome: Outcome
    args: Content
    args_redacted: bool
    result: Content
    peer: str | None
    """Host of the final peer, where one answered."""
    has_answer: bool
    """Whether the tool gave something; a failure or a timeout is put into words by the boundary itself."""
    observed_at: str


def seal_statements(scope: Scope, place: Place, call: Executed, records: Sequence[Record]) -> tuple[Statement, ...]:
    """The seal of ``call`` and one observation for each of ``records``, with the call's own time.

    What a tool did not give is the boundary's words and not the origin's, even if they quote the caller's arguments:
    such a seal is `local` and of no host, and so never counts in a quorum.

    Raises:
        ToolError: a tool of the final peer names no peer, or a tool of a fixed host or of none names one.
    """
    registration = call.registration
    host = _origin_host(call)
    external = registration.reach == "external_read" and call.has_answer
    author = Author(scope, PRODUCER, PRODUCER_VERSION, config_digest=registration.digest(), redaction_policy=POLICY)
    seal = author.write(
        SealMinted,
        place.fact(),
        SealMintedBody.make(
            args=call.args.ref,
            attestation="boundary",
            determinism=registration.determinism,
            effect=registration.effect,
            origin_host=host if external else None,
            outcome=call.outcome,
            reach="external_read" if external else "local",
            reacquisition=_reacquisition(call),
            result=call.result.ref,
            runner=registration.runner,
            source_id=registration.source_id,
            tool=registration.name,
        ),
        observed_at=call.observed_at,
    )
    observations = (
        author.write(
            EntryObserved,
            place.fact(record.pointer),
            EntryObservedBody.make(
                content=record.content.ref,
                predicate_family=registration.predicate_family,
                record_pointer=record.pointer,
                seal=seal.event_id,
            ),
            observed_at=call.observed_at,
        )
        for record in records
    )
    return (seal, *observations)


def _origin_host(call: Executed) -> str | None:
    registration = call.registration
    if registration.origin == "final_peer":
        if call.has_answer and call.peer is None:
            raise ToolError(
                f"the tool {registration.name!r} is registered as of its final peer and named none; "
                "return Returned(value, peer=...), or register it with an origin host"
            )
        return call.peer
    if call.peer is not None:
        raise ToolError(
            f"the tool {registration.name!r} named {call.peer!r} as its peer, and its registration decides: "
            f"{registration.origin_host or 'a local tool has none'}"
        )
    return registration.origin_host


def _reacquisition(call: Executed) -> Reacquisition | None:
    """How to fetch the result again; None where nobody may or can: redacted arguments fetch something else."""
    if call.registration.effect == "mutating" or call.outcome != "ok" or call.args_redacted:
        return None
    return Reacquisition.make(
        procedure=call.registration.procedure,
        secret_refs=call.registration.secret_refs,
        tool_digest=call.registration.digest(),
    )


def declared_records(registration: ToolRegistration, call_result: Content, known: Known) -> tuple[Record, ...]:
    """The records that the registration points to in a JSON result, or the whole result as the one record."""
    found = _array_at(registration.records, call_result)
    if not found:
        return (Record(None, call_result),)
    if len(found) > MAX_RECORDS:
        raise ToolError(
            f"a result of {registration.name!r} holds {len(found)} records, and one seal at most {MAX_RECORDS}; "
            "let the tool give them in parts"
        )
    return tuple(
        Record(f"{registration.records}/{number}", Content.of(scrub_json(canonical_json(each, "a record"), known)))
        for number, each in enumerate(found)
    )


def _array_at(pointer: str | None, result: Content) -> Sequence[jcs.Json]:
    if pointer is None or result.ref.media_type != "application/json" or not isinstance(result.data, bytes):
        return ()
    value: jcs.Json = jcs.parse(result.data)
    for member in pointer.split("/")[1:]:
        name = member.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return ()
    return value if isinstance(value, list) else ()
