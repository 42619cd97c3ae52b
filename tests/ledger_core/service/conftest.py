"""One service for all tests of a file; each test has a scope of its own in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger_core.kernel.statements import Scope
from tests.ledger_core.service.served import Served, config_of, fresh_scope, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(config_of(tmp_path_factory.mktemp("home"))) as running:
        yield running


@pytest.fixture
def scope() -> Scope:
    return fresh_scope()
