"""Measurements into a ledger: equal numbers add nothing, other numbers succeed the newest, returning ones supersede."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.connectors.importing import import_transcripts
from ledger_core.kernel.statements import Scope
from ledger_core.stores.verify import verify
from pipelines.lake import read_table, write_table
from pipelines.main_job import SAMPLE, samples_folder
from pipelines.settings import Settings
from pipelines.stages import ledger as replay
from pipelines.stages.upsert import edges_upsert_rows
from pipelines.workspace import Workspace
from tests.pipelines.tiny_run import NOW

SCOPE = Scope.make(tenant_namespace="samples", project_namespace="planted-chat")
WEIGHTS = "ab" * 32


@pytest.fixture
def at(tmp_path) -> Workspace:
    settings = Settings(tmp_path, tmp_path / "reports", "none", "samples", "planted-chat")
    workspace = Workspace(settings, now=NOW)
    workspace._models["model"] = SimpleNamespace(files=SimpleNamespace(weights_digest=WEIGHTS))
    with workspace.ledger(SCOPE) as ledger:
        import_transcripts(ledger, "chat", samples_folder() / SAMPLE)
    for name, stage in (("ledger_events", replay.ledger_events_rows), ("generations", replay.generations_rows)):
        write_table(workspace.lake(SCOPE), name, stage(workspace, SCOPE))
    return workspace


def measured(
    at: Workspace, *, rows: str = "1", recipe: str = "a", ppm: int = 900_000, gate: str = "cuts-v1"
) -> list[dict]:
    """A row for every claim of every answer: an edge to the first observed entry of its context."""
    table = []
    for generation in read_table(at.lake(SCOPE), "generations"):
        context = [json.loads(item) for item in generation["context"]]
        listed = sorted(item["entry"] for item in context if item["unit"] is not None)
        observed = [item["entry"] for item in context if item["kind"] == "entry.observed"]
        for claim in map(json.loads, generation["claims"] if observed else []):
            entries = [
                {
                    "entry": entry,
                    "interval": {"low": 1_000, "high": 2_000},
                    "labels": [],
                    "ppm": ppm if entry == observed[0] else None,
                    "verdict": "edge" if entry == observed[0] else "undetermined",
                }
                for entry in listed
            ]
            table.append(
                {
                    "trajectory": generation["record"],
                    "generation": generation["generation"],
                    "claim": claim["entry"],
                    "result": "grounded",
                    "reason": "",
                    "total_effect_micro_nats": 5_000,
                    "flags": ["proxy-scored"],
                    "gate": gate,
                    "entries": json.dumps(entries),
                    "cuts": "[]",
                    "recipe": json.dumps({"recipe": recipe}),
                    "rows_digest": rows * 64,
                }
            )
    return table


def upsert(at: Workspace, **numbers) -> tuple[list[dict], int]:
    """The rows of an upsert of other numbers, and how many events it added."""
    write_table(at.lake(SCOPE), "measured_edges", measured(at, **numbers))
    before = count(at)
    rows = edges_upsert_rows(at, SCOPE)
    return rows, count(at) - before


def count(at: Workspace) -> int:
    with at.ledger(SCOPE) as ledger:
        return ledger.count()


def in_force(at: Workspace) -> set[int]:
    """Weights of all dependences under the fold."""
    with at.ledger(SCOPE) as ledger:
        assert verify(ledger).first_divergence is None
        state = fold([event.statement for event in ledger.events()], SEED_V4_CLUSTERS)
    return {edge.ppm for entry in state.entries.values() for edge in entry.hyperedges}


def test_every_claim_is_written_once_with_everything_that_was_measured(at):
    rows, added = upsert(at)
    assert added == len(rows) == len(measured(at))
    assert {row["supersedes"] for row in rows} == {None}
    with at.ledger(SCOPE) as ledger:
        statement = ledger.statement(rows[0]["event_id"])
        receipt = ledger.event(rows[0]["event_id"]).receipt
        recipe = ledger.read_blob(statement.body.recipe)
    assert (receipt.role, recipe) == ("attributor", b'{"recipe": "a"}')
    assert statement.body.claim == rows[0]["claim"]
    assert statement.body.scorer_weights_digest == WEIGHTS
    assert (statement.body.total_effect, statement.body.flags) == (5_000, ("proxy-scored",))
    assert {entry.ppm for entry in statement.body.entries if entry.verdict == "edge"} == {900_000}


def test_equal_numbers_add_nothing(at):
    first, _ = upsert(at)
    assert upsert(at) == (first, 0)


@pytest.mark.parametrize("change", [{"rows": "2"}, {"recipe": "b"}, {"ppm": 500_000, "rows": "2"}])
def test_other_numbers_succeed_the_newest_and_name_it(at, change):
    first, _ = upsert(at)
    second, added = upsert(at, **change)
    assert added == len(first)
    assert [row["supersedes"] for row in second] == [row["event_id"] for row in first]
    assert upsert(at, **change) == (second, 0)


def test_the_newest_is_what_counts(at):
    upsert(at)
    assert 900_000 in in_force(at)
    upsert(at, rows="2", ppm=300_000)
    assert 300_000 in in_force(at)
    assert 900_000 not in in_force(at)


def test_numbers_that_return_count_again_and_the_ledger_knows_both_times(at):
    first, _ = upsert(at)
    second, _ = upsert(at, rows="2", ppm=300_000)
    third, added = upsert(at)
    assert added == len(first)
    assert [row["supersedes"] for row in third] == [row["event_id"] for row in second]
    assert {row["event_id"] for row in third}.isdisjoint(row["event_id"] for row in first)
    assert 900_000 in in_force(at)
    assert 300_000 not in in_force(at)
    assert upsert(at) == (third, 0)
    fourth, added = upsert(at, rows="2", ppm=300_000)
    assert added == len(first)
    assert upsert(at, rows="2", ppm=300_000) == (fourth, 0)


def test_another_verdict_on_the_same_scores_supersedes_what_was_said(at):
    first, _ = upsert(at)
    second, added = upsert(at, ppm=200_000)
    assert added == len(first)
    assert [row["supersedes"] for row in second] == [row["event_id"] for row in first]
    assert 200_000 in in_force(at)


def test_replay_leaves_measurements_out(at):
    before = replay.ledger_events_rows(at, SCOPE)
    upsert(at)
    assert replay.ledger_events_rows(at, SCOPE) == before
    assert Path(at.lake(SCOPE) / "measured_edges.parquet").exists()
