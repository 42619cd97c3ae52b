from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest

from tests.ledger_core.providers.local_server import Server


@pytest.fixture(autouse=True)
def no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them takes longer than most of these tests, and none speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda *_, **__: context)


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
