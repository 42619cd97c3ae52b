"""Wraps bodies into statements for one producer: the envelope's fixed parts are stated once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, cast, get_args

from ledger_core.kernel import digests
from ledger_core.kernel.content import DEFAULT_PROTECTION_DOMAIN
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.codec import Statement
from ledger_core.kernel.statements.envelope import (
    PROFILE,
    ErasureScope,
    Lineage,
    Representation,
    Scope,
    SourceFact,
)

StatementT = TypeVar("StatementT", bound=Statement)

NO_CONFIG = digests.domain_hex(Prefix.CONFIG, b"{}")
"""Digest of the empty configuration."""

ORIGIN = Lineage(event_id=None, relation="origin")


@dataclass(frozen=True, slots=True)
class Author:
    """A producer of statements in one scope: a connector, a recorder, the pipeline."""

    scope: Scope
    producer: str
    producer_version: str
    config_digest: str = NO_CONFIG
    redaction_policy: Literal["none", "secrets-v1"] = "none"

    def write(
        self,
        statement_type: type[StatementT],
        fact: SourceFact,
        body: Record,
        *,
        occurred_at: str | None = None,
        observed_at: str | None = None,
        lineage: Lineage = ORIGIN,
        erasure_scopes: tuple[ErasureScope, ...] = (),
    ) -> StatementT:
        """The statement of ``body`` about ``fact``; raises :class:`StatementError` naming the first bad field."""
        (kind,) = get_args(statement_type.model_fields["kind"].annotation)
        statement = statement_type.make(
            body=body,
            erasure_scopes=erasure_scopes,
            kind=kind,
            observed_at=observed_at,
            occurred_at=occurred_at,
            profile=PROFILE,
            protection_domain_id=DEFAULT_PROTECTION_DOMAIN,
            representation=Representation.make(
                config_digest=self.config_digest,
                lineage=lineage,
                producer=self.producer,
                producer_version=self.producer_version,
                redaction_policy=self.redaction_policy,
            ),
            retention_class="standard",
            schema_version=1,
            scope=self.scope,
            source_fact=fact,
            visibility_class="private",
        )
        return cast("StatementT", statement)
