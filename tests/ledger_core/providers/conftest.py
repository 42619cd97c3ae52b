from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ledger_core.providers.local_server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
