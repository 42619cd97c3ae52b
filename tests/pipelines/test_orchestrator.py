from __future__ import annotations

import os
import signal

import pytest

from pipelines.lake import read_table
from pipelines.orchestrator import materialise
from pipelines.plan import EVALUATION_TENANT
from pipelines.resources import WorkspaceResource
from pipelines.stages import scenarios
from tests.pipelines.tiny_run import open_tiny


@pytest.fixture
def at(tmp_path, tiny_wide):
    yield open_tiny(tmp_path, tiny_wide)
    WorkspaceResource.install(None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_an_interruption_while_a_step_runs_is_one_and_the_next_run_goes_on(at, monkeypatch, number):
    with monkeypatch.context() as patched:
        patched.setattr(scenarios, "planned_scenarios", lambda _at: os.kill(os.getpid(), number))
        with pytest.raises(KeyboardInterrupt):
            materialise(at, EVALUATION_TENANT, only=["scenarios"])
    materialise(at, EVALUATION_TENANT, only=["scenarios"])
    assert len(read_table(at.run_lake, "scenarios")) == 7  # 2 + 1 + 2 + 1 + 1, the sizes of a tiny run
