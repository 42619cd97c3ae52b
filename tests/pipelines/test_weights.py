"""What a suite's weights are calibrated with: claims that the model says by itself, said again without what they rest on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attribution.decision import Floor, decide
from attribution.games.planted import single
from attribution.measurement import ClaimMeasurement
from pipelines.lake import TABLES, write_table
from pipelines.main_job import DEFAULT_SEED, QUICK, plan_for
from pipelines.plan import start
from pipelines.stages import weights
from pipelines.stages.weights import weight_pairs_rows
from pipelines.workspace import Workspace
from tests.evals.byte_model import byte_model
from tests.evals.test_reasserting import CONTEXT, SCENARIO, Parrot, trajectory
from tests.pipelines.test_frozen_run import FILES
from tests.pipelines.test_suite import plan
from tests.pipelines.tiny_run import NOW, settings_in

PREMISE = [entry.key for entry in CONTEXT].index("premise")


@pytest.fixture
def measured(tmp_path):
    """The claim of one scenario, resting on its premise; the other entries are null."""
    model = Parrot(byte_model(tmp_path).files)
    laid_out = trajectory(model)
    scores = {}

    class Recording:
        units = len(CONTEXT)

        def values(self, states):
            values = single(self.units, 10.0, PREMISE).values(states)
            scores.update({"".join(map(str, row)): float(v) for row, v in zip(states, values, strict=True)})
            return values

    floor = Floor(1.0, 1.0, 199, "shipped")
    decision = decide(Recording(), floor)
    return model, laid_out, ClaimMeasurement(laid_out.claims[0], floor, decision, None, scores)


def _at(tmp_path, chosen, measured, monkeypatch, *, differs=False) -> Workspace:
    model, laid_out, measurement = measured
    at = Workspace(settings_in(tmp_path, tmp_path), now=NOW, started=start(tmp_path, chosen, NOW))
    at._models["model"] = model
    monkeypatch.setattr(weights, "measurements", lambda *_: iter([(laid_out, None, measurement)]))
    scenario = {
        "scenario": SCENARIO.id,
        "family": SCENARIO.family,
        "wording": SCENARIO.wording,
        "premise_order": SCENARIO.order,
        "variant": SCENARIO.variant,
        "document": SCENARIO.canonical_bytes().decode(),
    }
    write_table(at.run_lake, "scenarios", [scenario])
    event = {"scenario": SCENARIO.id, "kind": "any", "free_continuation_differs": None}
    said = {**event, "part": "generation/claim-1", "event_id": "g", "free_continuation_differs": differs}
    write_table(at.run_lake, "scenario_events", [said, {**event, "part": "entry/claim-1", "event_id": "c"}])
    return at


def test_a_cut_and_every_placebo_is_a_row(tmp_path, measured, monkeypatch):
    at = _at(tmp_path, plan(), measured, monkeypatch)
    rows = weight_pairs_rows(at, at.run.plan.scope)
    cut, *placebos = rows
    assert cut == {
        "claim": "c",
        "absent": ["premise"],
        "wording": SCENARIO.wording,
        "placebo": False,
        "loss": 10.0,
        "margin": -6.0,
        "lost": True,
    }
    assert sorted(row["absent"][0] for row in placebos) == sorted(e.key for e in CONTEXT if e.key != "premise")
    assert {(row["placebo"], row["margin"], row["lost"]) for row in placebos} == {(True, 4.0, False)}
    assert set(cut) == {name for name, _ in TABLES["weight_pairs"].columns}
    write_table(at.run_lake, "weight_pairs", rows)


def test_a_claim_that_the_model_would_not_have_said_is_not_said_again(tmp_path, measured, monkeypatch):
    at = _at(tmp_path, plan(), measured, monkeypatch, differs=True)
    assert weight_pairs_rows(at, at.run.plan.scope) == []
    assert measured[0].asked == 0


def test_a_main_job_says_nothing_again(tmp_path, measured, monkeypatch):
    chosen = plan_for(FILES, QUICK, quick=True, seed=DEFAULT_SEED, gate="cuts-v1")
    at = _at(tmp_path, chosen, measured, monkeypatch)
    assert weight_pairs_rows(at, at.run.plan.scope) == []
    assert measured[0].asked == 0


def test_a_claim_without_an_edge_teaches_nothing(tmp_path, measured, monkeypatch):
    model, laid_out, measurement = measured
    bare = replace(measurement, cuts=replace(measurement.cuts, units=(), cuts=()))
    at = _at(tmp_path, plan(), (model, laid_out, bare), monkeypatch)
    assert weight_pairs_rows(at, at.run.plan.scope) == []
