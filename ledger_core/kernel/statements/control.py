"""Statements of the control family: genesis, policies, criteria, keys; and the erasure order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope, Scope
from ledger_core.kernel.types import ContractId, Count, Digest


class LedgerGenesisBody(Record):
    """Opens a ledger; holds nothing random, so equal inputs give equal heads."""

    format_version: Literal[1]
    partition_seed: Digest
    policy_digest: Digest
    """Digest of the first policy that will be activated."""
    scope: Scope
    shard_count: Annotated[int, Field(ge=1, le=65535)]


class LedgerGenesis(Envelope):
    """`ledger.genesis`."""

    kind: Literal["ledger.genesis"]
    body: LedgerGenesisBody

    @model_validator(mode="after")
    def _opens_its_own_scope(self) -> LedgerGenesis:
        if self.body.scope != self.scope:
            raise ValueError("a genesis opens the scope it stands in")
        return self


class PolicyActivatedBody(Record):
    """Puts the numbers of a policy in force."""

    name: ContractId
    policy: Policy
    predecessor: Digest | None


class PolicyActivated(Envelope):
    """`policy.activated`."""

    kind: Literal["policy.activated"]
    body: PolicyActivatedBody


class CriteriaRegisteredBody(Record):
    """Registers kill criteria before any trial is recorded under them."""

    criteria: ContentRef
    n: Count
    """Scenarios planned in all."""
    name: ContractId


class CriteriaRegistered(Envelope):
    """`criteria.registered`."""

    kind: Literal["criteria.registered"]
    body: CriteriaRegisteredBody


class KeyBoundBody(Record):
    """Binds a public signing key to a role."""

    algorithm: Literal["ed25519"]
    key_id: ContractId
    public_key: Digest
    """32 bytes in hex."""
    role: ContractId


class KeyBound(Envelope):
    """`key.bound`."""

    kind: Literal["key.bound"]
    body: KeyBoundBody


class BlobErasedBody(Record):
    """An erasure that was carried out: the bytes are gone, the digest may never be stored again."""

    authority: ContractId
    content_digest: Digest
    reason: Literal["privacy", "retention", "secret", "legal"]


class BlobErased(Envelope):
    """`blob.erased`."""

    kind: Literal["blob.erased"]
    body: BlobErasedBody
