"""Both gates on the same scores: right verdicts, rows and recipe for a scorer whose causes are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from attribution.blocks import Block, BlockCache
from attribution.decision import Floor, RuleConfig, Undefined
from attribution.decision.floor_table import FloorRow, FloorTable
from attribution.decision.seed_v4 import SeedV4Config
from attribution.layout import TokenLayout
from attribution.measurement import UNCONTRASTED, Measurer, Scale
from attribution.models import LanguageModel
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory import Trajectory, Wording
from ledger_core.kernel import canonical
from tests.attribution.trajectory.builders import (
    HashScorer,
    exact_generation,
    lay_out,
    seen_before,
    text_of,
    two_step_record,
)

WEIGHTS = "ab" * 32
TEMPLATE = "byte-notes"
FOILS = {"c": ("tan van.",), "e": ("pink cab.",)}
SWAPS = {"a": "van is tan.", "b": "bus is pink.", "c": "tan van.", "d": "cab is pink."}


class FactScorer(HashScorer):
    """A claim is held at −1 nat where its fact stands in the text seen, at −9 where not; a foil always at −5."""

    facts = ("red van.", "van is red."), ("lime cab.", "cab is lime.")

    def score(self, layout: TokenLayout, block: Block) -> np.ndarray:
        self.blocks.append((layout, block))
        table = np.zeros((len(block.states), layout.columns))
        for row, mask in enumerate(block.states):
            for span in layout.scored:
                seen = text_of(tuple(seen_before(layout, mask, span.target)))
                claim = text_of(layout.variants(span.target)[0])
                fact = dict(self.facts)[claim]
                table[row, span.start] = -5 if span.variant >= 0 else -1 if fact in seen else -9
        return table

    def tokens(self, layout: TokenLayout, block: Block) -> int:
        return len(layout.ids) * len(block.states)


def floors(*templates: str, tau: float = 0.5) -> FloorTable:
    floor = Floor(tau, tau, 199, "shipped")
    return FloorTable.of(
        FloorRow.of(floor, tokens=(1, 20), units=(1, 16), weights=WEIGHTS, template=name, dtype="float64")
        for name in templates
    )


def measurer(scorer: HashScorer, table: FloorTable, cache: BlockCache | None = None) -> Measurer:
    return Measurer(scorer, table, weights_digest=WEIGHTS, template=TEMPLATE, cache=cache)


def record(foils: dict[str, tuple[str, ...]] = FOILS) -> Trajectory:
    (trajectory,) = lay_out(*two_step_record(), wording=Wording(foils, SWAPS))
    return trajectory


def test_each_claim_gets_exactly_its_cause_from_both_gates():
    first, second = measurer(FactScorer(), floors(TEMPLATE)).measure(record(), {})
    assert [first.cuts.edges, second.cuts.edges] == [{0}, {3}]
    assert [first.seed_v4.decision.edges, second.seed_v4.decision.edges] == [{0}, {3}]
    assert [first.cuts.result, second.cuts.result] == ["grounded", "grounded"]
    assert [unit.verdict for unit in second.cuts.units] == ["null", "null", "null", "edge"]
    edge = second.cuts.units[3]
    assert (edge.effect_nats, edge.interval, edge.swap_nats) == (8.0, (8.0, 8.0), 8.0)
    assert edge.ppm == round(-math.expm1(-8) * 1_000_000)
    assert edge.has("necessary")
    assert second.cuts.total_effect == 8.0


def test_the_rows_are_the_log_odds_under_every_mask_that_was_scored():
    first, second = measurer(FactScorer(), floors(TEMPLATE)).measure(record(), {})
    assert first.scores["11"] == first.scores["10"] == 4.0
    assert first.scores["01"] == first.scores["00"] == -4.0
    assert first.scores["21"] == first.scores["22"] == -4.0
    assert {len(states) for states in first.scores} == {2}
    assert {len(states) for states in second.scores} == {4}
    assert {states for states in second.scores if "2" not in states} == {f"{mask:04b}" for mask in range(16)}
    assert all(value == (4.0 if states[3] == "1" else -4.0) for states, value in second.scores.items())


def test_the_specifications_figures_are_in_every_measurement():
    _, second = measurer(FactScorer(), floors(TEMPLATE)).measure(record(), {})
    assert second.seed_v4.loo.tolist() == [0.0, 0.0, 0.0, 8.0]
    assert second.seed_v4.weights.shape == (2, 4)
    assert np.all(second.seed_v4.weights.argmax(axis=1) == 3)
    assert (second.seed_v4.rho, second.seed_v4.passed) == (pytest.approx(1.0), True)


def test_below_the_stability_gate_declared_parents_are_kept_and_nothing_else_is_said():
    strict = Scale(RuleConfig(), SeedV4Config(gate=1.01))
    by = Measurer(FactScorer(), floors(TEMPLATE), weights_digest=WEIGHTS, template=TEMPLATE, cache=None, scale=strict)
    _, second = by.measure(record(), {"e": [1]})
    assert not second.seed_v4.passed
    assert second.seed_v4.decision.edges == second.seed_v4.kept == {1}
    assert [unit.verdict for unit in second.seed_v4.decision.units] == [
        "undetermined", "edge", "undetermined", "undetermined",
    ]  # fmt: skip
    assert second.cuts.edges == {3}


def test_without_a_floor_nothing_is_scored_and_nothing_decided():
    scorer = FactScorer()
    found = list(measurer(scorer, FloorTable.of([])).measure(record(), {"e": [0]}))
    assert scorer.blocks == []
    for measured in found:
        assert isinstance(measured.floor, Undefined)
        assert "calibrate" in measured.floor.reason
        assert (measured.cuts.result, measured.cuts.edges, measured.seed_v4, dict(measured.scores)) == (
            "undetermined", frozenset(), None, {},
        )  # fmt: skip
        assert {unit.verdict for unit in measured.cuts.units} == {"undetermined"}
    assert [len(measured.cuts.units) for measured in found] == [2, 4]


def test_a_claim_without_foils_needs_a_floor_of_its_own():
    trajectory = record({"c": FOILS["c"]})
    first, second = measurer(FactScorer(), floors(TEMPLATE)).measure(trajectory, {})
    assert isinstance(first.floor, Floor)
    assert isinstance(second.floor, Undefined)
    assert TEMPLATE + UNCONTRASTED in second.floor.reason
    assert [measured.claim for measured in (first, second)] == list(trajectory.claims)
    both = floors(TEMPLATE, TEMPLATE + UNCONTRASTED)
    assert isinstance(measurer(FactScorer(), both).floor(trajectory, trajectory.claims[1]), Floor)


def test_a_result_names_its_claim_as_the_trajectory_numbers_it_whichever_claims_were_scored():
    trajectory = record({"e": FOILS["e"]})
    first, second = measurer(FactScorer(), floors(TEMPLATE)).measure(trajectory, {})
    assert isinstance(first.floor, Undefined)
    assert second.cuts.edges == {3}
    assert [measured.claim for measured in (first, second)] == list(trajectory.claims)


def test_a_claim_longer_or_wider_than_its_bins_has_no_floor():
    long = exact_generation("r", 0, [(None, "N:"), ("a", "van is red.")], "x" * 21, [("c", 0, 21)])
    (trajectory,) = lay_out(long)
    by = measurer(FactScorer(), floors(TEMPLATE + UNCONTRASTED))
    assert "21 claim tokens and 1 units" in by.floor(trajectory, trajectory.claims[0]).reason


def test_a_claim_over_an_empty_context_is_ungrounded_and_costs_nothing():
    generation = exact_generation("r", 0, [(None, "N:")], "red van.", [("c", 0, 8)])
    (trajectory,) = lay_out(generation, wording=Wording(FOILS, {}))
    floor = FloorRow.of(
        Floor(0.5, 0.5, 199, "shipped"), tokens=(1, 20), units=(0, 6), weights=WEIGHTS, template=TEMPLATE,
        dtype="float64",
    )  # fmt: skip
    scorer = FactScorer()
    (measured,) = measurer(scorer, FloorTable.of([floor])).measure(trajectory, {})
    assert (measured.cuts.result, measured.cuts.total_effect, measured.seed_v4) == ("ungrounded", 0.0, None)
    assert scorer.blocks == []


def wide() -> Trajectory:
    """Eight notes, of which the sixth carries the claim."""
    pieces = [(f"n{number}", f"note {number}. ") for number in range(8)]
    pieces[5] = ("n5", "van is red.")
    generation = exact_generation("r", 0, [(None, "N:"), *pieces], "red van.", [("c", 0, 8)])
    (trajectory,) = lay_out(generation, wording=Wording(FOILS, {"n5": "van is tan."}))
    return trajectory


def test_more_than_six_units_are_measured_by_fold_overs_that_serve_every_gate():
    scorer = FactScorer()
    (measured,) = measurer(scorer, floors(TEMPLATE)).measure(wide(), {})
    assert measured.cuts.edges == measured.seed_v4.decision.edges == {5}
    assert measured.cuts.statistics.exactness == "exact to order 2"
    shared = scorer.blocks[0][1].states
    (masks, tokens) = measurer(scorer, floors(TEMPLATE)).sure_work(wide())
    assert masks == 16 + 16 + 9 + 64 + 64
    assert tokens == len(wide().layout.ids) * masks
    assert len(np.unique(shared, axis=0)) == len(shared)


def test_a_resumed_measurement_finds_every_score_in_the_cache(tmp_path):
    results = []
    for _ in range(2):
        scorer = FactScorer()
        by = measurer(scorer, floors(TEMPLATE), BlockCache(tmp_path))
        results.append([dict(measured.scores) for measured in by.measure(record(), {})])
    assert results[0] == results[1]
    assert scorer.blocks == []


def test_the_recipe_names_everything_that_decides_the_numbers_and_holds_no_float():
    by = measurer(FactScorer(), floors(TEMPLATE))
    trajectory = record()
    measured = next(iter(by.measure(trajectory, {})))
    recipe = by.recipe(trajectory, measured, "cuts-v1")
    assert canonical.encode(recipe)
    assert recipe == {
        "gate": "cuts-v1",
        "scorer": HashScorer.id,
        "dtype": "float64",
        "plan": "one by one",
        "weights": WEIGHTS,
        "template": TEMPLATE,
        "fidelity": "exact",
        "floors": floors(TEMPLATE).digest(),
        "floor": {"tau": "0.5", "tau_total": "0.5", "n": 199, "status": "shipped"},
        "rule": {
            "seed": 0,
            "cube_up_to": 6,
            "enumerate_up_to": 6,
            "null_threshold": "0.25",
            "confidence": "0.9",
            "largest_cut": 16,
        },
        "seed_v4": {"seeds": [0, 1], "ablations": 64, "gate": "0.6", "log_probability": False},
        "contrasted": True,
        "layout": trajectory.layout.digest,
        "dropped": [],
    }


def test_the_recipe_of_a_claim_without_floor_says_why():
    by = measurer(FactScorer(), FloorTable.of([]))
    measured = next(iter(by.measure(record(), {})))
    assert by.recipe(record(), measured, "cuts-v1")["floor"] == {"undefined": measured.floor.reason}


def test_another_floor_or_layout_is_another_recipe():
    trajectory = record()

    def recipe(table: FloorTable, laid_out: Trajectory) -> bytes:
        by = measurer(FactScorer(), table)
        return canonical.encode(by.recipe(laid_out, next(iter(by.measure(laid_out, {}))), "cuts-v1"))

    plain = recipe(floors(TEMPLATE), trajectory)
    assert plain == recipe(floors(TEMPLATE), record())
    assert plain != recipe(floors(TEMPLATE, tau=0.6), trajectory)
    assert plain != recipe(floors(TEMPLATE), replace(trajectory, layout=record({"c": ("tin van.",)}).layout))


def test_a_language_model_is_measured_to_the_same_bits_whatever_else_shares_its_trajectory(tiny: LanguageModel):
    first, second = two_step_record()
    scorer = TransformersScorer(tiny)
    table = FloorTable.of(
        FloorRow.of(
            Floor(0.5, 0.5, 199, "shipped"), tokens=(1, 20), units=(1, 16), weights=WEIGHTS, template=TEMPLATE,
            dtype="float32",
        )
        for _ in range(1)
    )  # fmt: skip
    by = Measurer(scorer, table, weights_digest=WEIGHTS, template=TEMPLATE, cache=None)
    (both,) = lay_out(first, second, wording=Wording(FOILS, SWAPS), window=tiny.context_window)
    (alone,) = lay_out(first, wording=Wording(FOILS, SWAPS), window=tiny.context_window)
    shared = next(iter(by.measure(both, {})))
    single = next(iter(by.measure(alone, {})))
    assert shared.cuts.edges == single.cuts.edges
    common = shared.scores.keys() & single.scores.keys()
    assert {f"{mask:02b}" for mask in range(4)} <= common
    for states in common:
        assert shared.scores[states] == pytest.approx(single.scores[states], abs=1e-4)
