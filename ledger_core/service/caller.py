"""Who asks: the token's bearer, as far as a request may know."""

from __future__ import annotations

from dataclasses import dataclass

from ledger_core.kernel.statements import Scope
from ledger_core.service.permissions import ServiceRole
from ledger_core.stores.protocols import Delivery


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of a valid token; scope and role come from nowhere else."""

    token_id: str
    scope: Scope
    role: ServiceRole
    principal: str
    received_at: str
    """When the request came in."""
    delivery_id: str | None = None
    """The caller's own name for this delivery, from the header `Delivery-Id`."""
    expires_at: str | None = None

    def delivery(self, context_head: str | None = None) -> Delivery:
        """What the receipts of this request say."""
        return Delivery(
            principal_id=self.principal,
            role=self.role,
            channel="service",
            received_at=self.received_at,
            context_head=context_head,
            delivery_id=self.delivery_id,
        )
