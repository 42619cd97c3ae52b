"""A ledger in memory and the files that tests import."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.statements import Scope
from ledger_core.stores import Ledger

SCOPE = Scope.make(project_namespace="imports", tenant_namespace="tests")
NOW = "2026-01-01T00:00:00.000000000Z"


def new_ledger() -> Ledger:
    return Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)


@pytest.fixture
def ledger() -> Ledger:
    return new_ledger()


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Writes values, or raw lines, as the lines of a file."""

    def write(*lines: object, name: str = "chat.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(
            b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
        )
        return path

    return write
