"""Statements of the sealing plane: what a tool returned, and what a later look at the origin showed."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope
from ledger_core.kernel.types import Digest, Family, ForeignName, Items, Pointer, ascending

Attestation = Literal["boundary", "imported"]
AuditOutcome = Literal["tampered", "mismatch", "stale", "unavailable", "not_comparable", "intact", "match"]


class Reacquisition(Record):
    """How the result can be fetched again: the registered tool and references to secrets, never the secrets."""

    procedure: Literal["tool_call", "http_get"]
    secret_refs: Items[ForeignName]
    tool_digest: Digest | None
    """Digest of the tool's registration, null where the tool is not registered."""

    @model_validator(mode="after")
    def _secrets_are_a_set(self) -> Reacquisition:
        ascending("secret references", self.secret_refs)
        return self


class SealMintedBody(Record):
    """One tool call as executed at the boundary, or as another system's transcript reports it."""

    args: ContentRef
    attestation: Attestation
    determinism: Literal["deterministic", "nondeterministic", "unknown"]
    effect: Literal["read_only", "mutating"]
    origin_host: ForeignName | None
    """Host of the final peer after redirects; null for local tools and imports."""
    outcome: Literal["ok", "error", "timeout"]
    reach: Literal["external_read", "local"]
    reacquisition: Reacquisition | None
    result: ContentRef
    runner: Literal["live", "simulated", "foreign"]
    """`simulated` tools have registered, invented hosts; what they return is never exported as evidence."""
    source_id: ForeignName
    tool: ForeignName


class SealMinted(Envelope):
    """`seal.minted`."""

    kind: Literal["seal.minted"]
    body: SealMintedBody


class EntryObservedBody(Record):
    """An observation minted by the sealer from a seal: the whole result, or one record the shim declared."""

    content: ContentRef
    predicate_family: Family
    record_pointer: Pointer | None
    """RFC 6901 pointer of the declared record in the result; null for the whole result."""
    seal: Digest


class EntryObserved(Envelope):
    """`entry.observed`."""

    kind: Literal["entry.observed"]
    body: EntryObservedBody


class ReplayAuditedBody(Record):
    """A later look at a seal's origin or stored bytes."""

    observed: ContentRef | None
    outcome: AuditOutcome
    predecessor: Digest | None
    seal: Digest


class ReplayAudited(Envelope):
    """`replay.audited`."""

    kind: Literal["replay.audited"]
    body: ReplayAuditedBody
