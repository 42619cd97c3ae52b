from __future__ import annotations

from tests.ledger_core.providers.conftest import no_certificates, server

__all__ = ["no_certificates", "server"]
