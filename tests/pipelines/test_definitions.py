"""The asset graph as Dagster shows it, loaded from the code location alone, and one asset materialised by it."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from pipelines.assets import checks
from pipelines.definitions import ASSETS, defs
from pipelines.lake import TABLES, read_table
from pipelines.orchestrator import materialise
from pipelines.plan import EVALUATION_TENANT
from pipelines.resources import WorkspaceResource
from tests.pipelines.tiny_run import SIZES, open_tiny

ROOT = Path(__file__).resolve().parents[2]

GRAPH = {
    "scenarios": ("scenarios", set()),
    "scenario_events": ("scenarios", {"scenarios"}),
    "ledger_events": ("ledger", {"scenario_events"}),
    "entries": ("ledger", {"ledger_events"}),
    "edges": ("ledger", {"ledger_events"}),
    "generations": ("ledger", {"ledger_events"}),
    "ablation_scores": ("attribution", {"entries", "edges", "generations", "scenarios"}),
    "surrogate_weights": ("attribution", {"ablation_scores"}),
    "loo_effects": ("attribution", {"ablation_scores"}),
    "stability_report": ("attribution", {"ablation_scores", "surrogate_weights", "loo_effects"}),
    "measured_edges": ("attribution", {"ablation_scores", "stability_report", "edges"}),
    "edges_upsert": ("ledger", {"measured_edges"}),
    "trials": ("evaluation", {"scenarios", "edges_upsert"}),
    "answer_attribution": ("evaluation", {"trials", "scenarios"}),
    "weight_pairs": ("evaluation", {"measured_edges", "scenarios"}),
    "metrics": ("evaluation", {"trials", "measured_edges"}),
    "kill_report": ("evaluation", {"metrics", "trials"}),
    "report": ("evaluation", {"kill_report", "answer_attribution", "weight_pairs", "metrics", "stability_report"}),
}
"""Asset -> its group and what it reads: the seventeen assets of the design, and what weights are calibrated with."""

PARTITIONED = {
    "ledger_events", "entries", "edges", "generations", "ablation_scores", "surrogate_weights", "loo_effects",
    "stability_report", "measured_edges", "edges_upsert",
}  # fmt: skip


def specs() -> dict[str, dg.AssetSpec]:
    return {spec.key.path[-1]: spec for asset in ASSETS for spec in asset.specs}


def test_the_graph_is_the_designs():
    found = {name: (spec.group_name, {dep.asset_key.path[-1] for dep in spec.deps}) for name, spec in specs().items()}
    assert found == GRAPH


def test_every_asset_says_what_it_holds():
    for name, spec in specs().items():
        assert spec.description, name
        assert spec.kinds, name
        if name in TABLES:
            assert spec.description == TABLES[name].description


def test_assets_of_a_ledger_are_partitioned_by_tenant_and_those_of_the_evaluation_are_not():
    partitioned = {spec.key.path[-1] for asset in ASSETS if asset.partitions_def is not None for spec in asset.specs}
    assert partitioned == PARTITIONED
    (definition,) = {asset.partitions_def for asset in ASSETS if asset.partitions_def is not None}
    assert isinstance(definition, dg.DynamicPartitionsDefinition)
    assert definition.name == "tenants"


def test_the_checks_block():
    found = {spec.name: (spec.asset_key.path[-1], spec.blocking) for c in checks.CHECKS for spec in c.check_specs}
    assert found == {
        "chain_verifies": ("ledger_events", True),
        "gate_respected": ("measured_edges", True),
        "criteria_registered": ("scenario_events", True),
    }


def test_runs_stay_in_one_process():
    assert defs.executor is dg.in_process_executor


@pytest.mark.parametrize("leaf", ["answer_attribution", "weight_pairs"])
def test_what_is_never_written_back_is_a_leaf_but_for_the_report(leaf):
    assert {name for name, (_, reads) in GRAPH.items() if leaf in reads} == {"report"}


LOAD = """
import socket
def refuse(*_, **__):
    raise OSError("no network in this test")
socket.socket.connect = refuse
import dagster as dg
from pipelines.definitions import defs
dg.Definitions.validate_loadable(defs)
print(len(list(defs.resolve_all_asset_specs())))
"""


@pytest.mark.slow
def test_the_code_location_loads_by_itself_without_a_network():
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert loaded.returncode == 0, loaded.stderr
    assert loaded.stdout.split()[-1] == "18"


@pytest.mark.slow
def test_one_asset_is_materialised_and_says_how_many_rows_and_which_root(tiny_wide, tmp_path, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", _no_network)
    at = open_tiny(tmp_path, tiny_wide)
    materialise(at, EVALUATION_TENANT, only=["scenarios"])
    rows = read_table(at.run_lake, "scenarios")
    assert len(rows) == SIZES.planted_premise + SIZES.corrections_leave + SIZES.mixed_parents + SIZES.null + 1
    with dg.DagsterInstance.from_config(str(tmp_path / "dagster")) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("scenarios"))
        (run,) = instance.get_runs()
        assert not instance.telemetry_enabled
        assert set(instance.get_dynamic_partitions("tenants")) == {"eval", "samples"}
    assert run.status is dg.DagsterRunStatus.SUCCESS
    metadata = event.asset_materialization.metadata
    assert metadata["dagster/row_count"].value == len(rows)
    assert len(metadata["root"].value) == 64
    assert event.asset_materialization.tags["dagster/data_version"] == metadata["root"].value
    assert not (at.run_lake / "scenario_events.parquet").exists()


def _no_network(self: socket.socket, address: object) -> None:
    if self.family != socket.AF_UNIX:
        raise OSError(f"no network in this test: {address}")


@pytest.fixture(autouse=True)
def _forget_the_workspace():
    yield
    WorkspaceResource.install(None)
