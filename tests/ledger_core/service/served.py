"""A service on a loopback port, for tests: real sockets, real files, a token for whoever is asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from ledger_core.belief.policies import STRICT_CLUSTERS, STRICT_CLUSTERS_NAME
from ledger_core.kernel.statements import Scope
from ledger_core.service.app import create_app
from ledger_core.service.client import Client
from ledger_core.service.config import ServiceConfig
from ledger_core.service.tokens import TokenStore
from ledger_core.signing import VerifierKey, load_key
from ledger_core.stores.checkpoints import key_file
from tests.ledger_core.service.conformance import Conformance

NOW = "2026-03-01T12:00:00.000000000Z"
_tenants = count()


def clock() -> str:
    return NOW


def config_of(home: Path, **changes: Any) -> ServiceConfig:
    """By clusters alone, so that no test needs an embedder."""
    values: dict[str, Any] = {"now": clock, "policy": STRICT_CLUSTERS, "policy_name": STRICT_CLUSTERS_NAME}
    return ServiceConfig(home=home, **(values | changes))


def fresh_scope() -> Scope:
    """A scope of the calling test's own."""
    return Scope.make(tenant_namespace=f"tenant-{next(_tenants)}", project_namespace="tests")


@dataclass
class Served:
    """A running service."""

    url: str
    home: Path
    tokens: TokenStore
    conformance: Conformance
    opened: list[httpx.Client | Client] = field(default_factory=list)

    @property
    def key(self) -> VerifierKey:
        return load_key(key_file(self.home)).verifier

    def token(self, role: str, scope: Scope, **options: Any) -> str:
        return self.tokens.create(scope, role, now=NOW, **options)[1]

    def client(self, role: str, scope: Scope) -> Client:
        """A client that demands a signed receipt of everything it appends."""
        made = Client(self.url, self.token(role, scope), trusted=(self.key,))
        self.opened.append(made)
        return made

    def http(self, token: str | None = None) -> httpx.Client:
        """Plain HTTP, for what the client would not send."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        hooks = {"response": [self.conformance.check]}
        # Without certificates of authorities: loading them takes longer than a test.
        made = httpx.Client(base_url=self.url, headers=headers, timeout=20, verify=False, event_hooks=hooks)
        self.opened.append(made)
        return made

    def as_role(self, role: str, scope: Scope) -> httpx.Client:
        return self.http(self.token(role, scope))


@contextmanager
def served(config: ServiceConfig) -> Iterator[Served]:
    """Serve ``config`` from a thread; on leaving, everything is shut down in order."""
    app = create_app(config)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", access_log=False, lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.005)
    assert server.started
    port = server.servers[0].sockets[0].getsockname()[1]
    running = Served(f"http://127.0.0.1:{port}", config.home, TokenStore(config.home), Conformance(app.openapi()))
    try:
        yield running
    finally:
        for client in running.opened:
            client.close()
        server.should_exit = True
        thread.join(timeout=20)
        running.tokens.close()
        assert not thread.is_alive()
