"""Blocking checks: what fails here ends the job with one line, and nothing downstream is written."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import dagster as dg
import pytest

from ledger_core.stores.ledger import scope_folder
from pipelines.assets import checks
from pipelines.errors import CheckFailedError, DamagedLedgerError, ExitCode
from pipelines.lake import write_table
from pipelines.orchestrator import materialise
from pipelines.plan import EVALUATION_TENANT
from pipelines.resources import WorkspaceResource
from pipelines.workspace import Workspace
from tests.pipelines.tiny_run import NOW, open_tiny


@pytest.fixture
def at(tmp_path, tiny_wide) -> Workspace:
    return open_tiny(tmp_path, tiny_wide)


@pytest.fixture(autouse=True)
def _forget_the_workspace():
    yield
    WorkspaceResource.install(None)


def evaluate(check: dg.AssetChecksDefinition, at: Workspace) -> dg.AssetCheckResult:
    WorkspaceResource.install(at)
    if check is checks.criteria_registered:
        return check(workspace=WorkspaceResource())
    return check(dg.build_asset_check_context(), workspace=WorkspaceResource())


def measured(result: str, gate: str, *verdicts: tuple[str, list[str]]) -> dict:
    entries = [{"entry": str(n), "verdict": verdict, "labels": labels} for n, (verdict, labels) in enumerate(verdicts)]
    return {
        "trajectory": "t", "generation": "g", "claim": "c", "result": result, "reason": "",
        "total_effect_micro_nats": None, "flags": [], "gate": gate, "entries": json.dumps(entries), "cuts": "[]",
        "recipe": "{}", "rows_digest": "",
    }  # fmt: skip


def stability(*, passes: bool) -> dict:
    from pipelines.lake import TABLES

    row = dict.fromkeys(name for name, _ in TABLES["stability_report"].columns)
    return row | {
        "trajectory": "t", "claim": "c", "units": 2, "runs": 4, "seed_v4_passes": passes, "seed_v4_edges": [],
        "cuts_v1_result": "grounded", "cuts_v1_edges": [], "agree": True,
    }  # fmt: skip


EDGE, KEPT, NULL = ("edge", []), ("edge", ["declared-kept"]), ("null", [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "passes", "passed"),
    [
        (measured("grounded", "cuts-v1", EDGE, NULL), False, True),
        (measured("diffuse", "cuts-v1", EDGE), False, False),
        (measured("undetermined", "cuts-v1", EDGE), True, False),
        (measured("ungrounded", "cuts-v1", NULL), False, True),
        (measured("grounded", "seed-v4", EDGE), True, True),
        (measured("grounded", "seed-v4", EDGE), False, False),
        (measured("grounded", "seed-v4", KEPT), False, True),
        (measured("grounded", "seed-v4", KEPT, EDGE), False, False),
        (measured("undetermined", "seed-v4", NULL), False, True),
    ],
)
def test_no_edge_passes_that_its_gate_does_not_allow(at, row, passes, passed):
    write_table(at.run_lake, "stability_report", [stability(passes=passes)])
    write_table(at.run_lake, "measured_edges", [row])
    found = evaluate(checks.gate_respected, at)
    assert found.passed is passed
    assert passed or found.metadata["claim"].value == "c"


@pytest.mark.slow
def test_without_a_registration_in_the_ledger_the_check_fails(at):
    assert not evaluate(checks.criteria_registered, at).passed
    materialise(at, EVALUATION_TENANT, only=["scenarios", "scenario_events"])
    assert evaluate(checks.criteria_registered, at).passed


def tamper(at: Workspace) -> None:
    """Another chain link for the third event of the evidence log."""
    file = scope_folder(at.settings.home, at.run.plan.scope) / "ledger.sqlite3"
    with closing(sqlite3.connect(file)) as connection, connection:
        changed = connection.execute(
            "UPDATE events SET chain = ? WHERE family = 'evidence' AND committed_offset = 3", ("00" * 32,)
        )
        assert changed.rowcount == 1


@pytest.mark.slow
def test_a_tampered_ledger_stops_the_job_before_anything_is_read_from_it(at):
    materialise(at, EVALUATION_TENANT, only=["scenarios", "scenario_events"])
    tamper(at)
    with pytest.raises(
        DamagedLedgerError, match=r"does not verify: chain_verifies: .*evidence.*3.*veritas verify"
    ) as stopped:
        materialise(at, EVALUATION_TENANT)
    assert stopped.value.exit_code == ExitCode.LEDGER_DOES_NOT_VERIFY
    written = {path.stem for path in at.run_lake.glob("*.parquet")}
    assert written == {"scenarios", "scenario_events", "ledger_events"}
    with at.ledger(at.run.plan.scope) as ledger:
        kinds = {event.statement.kind for event in ledger.events()}
    assert not {"edges.measured", "trial.recorded"} & kinds


@pytest.mark.slow
def test_another_failed_check_is_named_and_ends_as_any_refusal(at, monkeypatch):
    from pipelines.stages import scenarios

    monkeypatch.setattr(scenarios, "register_criteria", lambda *_: "")
    with pytest.raises(CheckFailedError, match="a blocking check failed: criteria_registered: 0") as stopped:
        materialise(at, EVALUATION_TENANT)
    assert stopped.value.exit_code == ExitCode.FAILURE
    assert not isinstance(stopped.value, DamagedLedgerError)
    assert not (at.run_lake / "ledger_events.parquet").exists()


@pytest.mark.slow
def test_an_error_of_a_stage_comes_through_as_it_is(at, monkeypatch):
    from evals.recorder import ScenarioRecorder
    from ledger_core.kernel.errors import StorageFullError

    def full(*_: object) -> None:
        raise StorageFullError("the disk is full")

    monkeypatch.setattr(ScenarioRecorder, "record", full)
    with pytest.raises(StorageFullError, match="the disk is full"):
        materialise(at, EVALUATION_TENANT)


def test_the_clock_of_every_ledger_is_the_runs(at):
    with at.ledger(at.run.plan.scope) as ledger:
        assert ledger.now() == NOW
