"""What every statement carries around its body: scope, source fact, representation, the source's clocks, handling."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Self

from pydantic import model_validator

from ledger_core.kernel import digests
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.records import Record
from ledger_core.kernel.types import ContractId, Digest, EventId, FactText, ForeignName, Items, Timestamp, ascending

PROFILE = "ostk-canonical-json-v1"


class Scope(Record):
    """A ledger's scope; it comes from configuration or credentials, never from a payload."""

    project_namespace: ContractId
    tenant_namespace: ContractId


class SourceFact(Record):
    """Which fact of which source a statement reports: what makes two equal tool results two events."""

    key: FactText
    namespace: ContractId
    object: FactText
    revision: FactText


class Lineage(Record):
    """Whether a representation is the first of its fact or replaces an earlier one."""

    event_id: Digest | None
    relation: Literal["origin", "supersedes"]

    @model_validator(mode="after")
    def _supersedes_names_an_event(self) -> Lineage:
        if (self.relation == "supersedes") != (self.event_id is not None):
            raise ValueError("lineage `supersedes` names an event_id and `origin` names none")
        return self


class Representation(Record):
    """By which producer, configuration and redaction the fact was put into these bytes."""

    config_digest: Digest
    lineage: Lineage
    producer: ContractId
    producer_version: ForeignName
    redaction_policy: Literal["none", "secrets-v1"]


class ErasureScope(Record):
    """An index under which an erasure order finds this statement's content."""

    kind: Literal["source_fact", "privacy_subject", "record"]
    target_digest: Digest


class _RepresentationIdentity(Record):
    profile: Literal["ostk-canonical-json-v1"]
    representation: Representation
    schema_version: Literal[1]
    source_fact_id: Digest


class Envelope(Record):
    """Base of the statements; each kind narrows `body` and `kind` in place, which keeps the canonical field order."""

    body: Record
    erasure_scopes: Items[ErasureScope]
    kind: ContractId
    observed_at: Timestamp | None
    occurred_at: Timestamp | None
    profile: Literal["ostk-canonical-json-v1"]
    protection_domain_id: ContractId
    representation: Representation
    retention_class: Literal["standard"]
    schema_version: Literal[1]
    scope: Scope
    source_fact: SourceFact
    visibility_class: Literal["private"]

    @model_validator(mode="after")
    def _erasure_scopes_are_a_set(self) -> Self:
        ascending("erasure scopes", [f"{item.kind} {item.target_digest}" for item in self.erasure_scopes])
        return self

    @cached_property
    def encoded(self) -> bytes:
        """Canonical bytes, computed once."""
        return self.canonical_bytes()

    @cached_property
    def event_id(self) -> EventId:
        """``domain("ostk-accepted-event-v1", canonical(statement))``."""
        return EventId(digests.domain_hex(Prefix.ACCEPTED_EVENT, self.encoded))

    @cached_property
    def source_fact_id(self) -> DigestHex:
        """``domain("veritas-source-fact-v1", canonical{kind, scope, source_fact})``."""
        return kind_and_fact(self.encoded)[1]

    @cached_property
    def representation_key(self) -> DigestHex:
        """``domain("veritas-representation-v1", …)`` over fact id, schema version, profile and representation."""
        identity = _RepresentationIdentity(
            profile=self.profile,
            representation=self.representation,
            schema_version=self.schema_version,
            source_fact_id=self.source_fact_id,
        )
        return digests.domain_hex(Prefix.REPRESENTATION, identity.canonical_bytes())


_KIND = b'],"kind":"'
_SCOPE = b'"schema_version":1,"scope":'
_END = b',"visibility_class":"'


def kind_and_fact(encoded: bytes) -> tuple[str, DigestHex]:
    """Kind and source fact id, read off a statement's canonical bytes without decoding them.

    Fields stand in canonical order and a quote inside a string is escaped, so each of the marks occurs once outside the
    body, and last. Of bytes that no statement has, what is returned means nothing.

    Raises:
        StatementError: a mark is missing.
    """
    kind, scope, end = (encoded.rfind(mark) for mark in (_KIND, _SCOPE, _END))
    if min(kind, scope, end) < 0:
        raise StatementError(f"{len(encoded)} bytes are no statement: a field of the envelope is missing")
    start = kind + len(_KIND)
    named = encoded[start : encoded.find(b'"', start)]
    identity = b'{"kind":"%b","scope":%b}' % (named, encoded[scope + len(_SCOPE) : end])
    return named.decode("utf-8", "replace"), digests.domain_hex(Prefix.SOURCE_FACT, identity)
