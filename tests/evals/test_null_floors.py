"""Floors from null claims: which claims, beside which contexts, and what becomes of too few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attribution.decision import Floor, Undefined
from attribution.measurement import UNCONTRASTED
from attribution.trajectory import TEMPLATE as CHAT_TEMPLATE
from evals import null_floors
from evals.null_floors import BINS, FloorBin, bin_floor, calibrate_floors, null_statistics, null_trajectories
from evals.prompts import TEMPLATE as NOTES_TEMPLATE
from evals.scenarios import generate
from tests.attribution.trajectory.builders import HashScorer
from tests.evals.byte_model import byte_model

NOTES = FloorBin(NOTES_TEMPLATE, ("short",), ("short-distractor",), 4, (1, 999), (1, 6))
CHAT = replace(NOTES, template=CHAT_TEMPLATE)


@pytest.fixture
def model(tmp_path):
    return byte_model(tmp_path)


class FlatScorer(HashScorer):
    """Every token of everything at one nat, whatever was seen: nothing moves anything."""

    def score(self, layout, block):
        return np.full((len(block.states), layout.columns), -1.0)


def test_notes_are_laid_out_as_the_recorder_lays_out_a_scenario(model):
    scenario = generate("null", 1, null_floors.SEED, variant="short")[0]
    first, second = null_trajectories(model, NOTES, ("short",))
    assert (first.fidelity, len(first.units), first.claims[0].units) == ("exact", 4, 4)
    assert first.key == f"{scenario.id}/0"
    assert first.layout.ids[-len(scenario.claims[0].text) :] == tuple(scenario.claims[0].text.encode())
    assert first.claims[0].contrasted
    assert second.key != first.key


def test_chat_contexts_are_joined_and_may_go_without_foils(model):
    wide = replace(CHAT, contexts=3, contrasted=False)
    (first, _) = null_trajectories(model, wide, ("short",))
    assert (first.fidelity, len(first.units), first.claims[0].units) == ("proxy", 13, 12)
    assert not first.claims[0].contrasted
    (contrasted, _) = null_trajectories(model, CHAT, ("short",))
    assert contrasted.claims[0].contrasted


def test_variants_take_turns(model):
    kinds = [
        len(trajectory.layout.ids) for trajectory in null_trajectories(model, replace(NOTES, n=8), ("short", "long"))
    ]
    alone = [len(t.layout.ids) for t in null_trajectories(model, replace(NOTES, n=8), ("long",))]
    assert [kinds[1], kinds[3]] == [alone[1], alone[3]]
    assert kinds[0] != alone[0]


def test_a_claim_that_nothing_moves_has_statistics_of_zero(model):
    found = list(null_statistics(model, FlatScorer(), None, NOTES, ("short",)))
    assert [(statistic.largest, statistic.total) for statistic in found] == [(0.0, 0.0), (0.0, 0.0)]


def test_each_family_needs_nineteen_claims(model):
    assert isinstance(bin_floor(model, FlatScorer(), None, replace(NOTES, n=36)), Undefined)
    floor = bin_floor(model, FlatScorer(), None, replace(NOTES, n=38))
    assert floor == Floor(0.5, 0.5, 38, "provisional")


def test_the_table_names_scorer_template_and_bins_and_leaves_out_what_is_undefined(model):
    bins = (replace(NOTES, n=38), replace(NOTES, n=2, units=(7, 9)), replace(CHAT, n=38, contrasted=False))
    table = calibrate_floors(model, FlatScorer(), None, bins)
    assert sorted((row.template, row.n, row.units.least, row.units.most, row.dtype) for row in table.rows) == [
        (CHAT_TEMPLATE + UNCONTRASTED, 38, 1, 6, "float64"),
        (NOTES_TEMPLATE, 38, 1, 6, "float64"),
    ]
    assert {row.weights_digest for row in table.rows} == {model.files.weights_digest}


def test_the_bins_of_the_project_do_not_overlap_and_cover_what_a_default_run_plants():
    from attribution.decision.floor_table import FloorRow, FloorTable

    rows = [
        FloorRow.of(
            Floor(0.5, 0.5, 199, "shipped"), tokens=wanted.tokens, units=wanted.units, weights="ab" * 32,
            template=wanted.template + ("" if wanted.contrasted else UNCONTRASTED), dtype="float32",
        )
        for wanted in BINS
    ]  # fmt: skip
    table = FloorTable.of(rows)
    for units in range(1, 7):
        for tokens in (1, 24, 25, 64):
            assert isinstance(
                table.lookup(tokens=tokens, units=units, weights="ab" * 32, template=NOTES_TEMPLATE, dtype="float32"),
                Floor,
            )


def test_calibration_never_meets_the_scenarios_of_a_run():
    families = {scenario.id for scenario in generate("null", 20, null_floors.SEED, variant="short")}
    assert families.isdisjoint(scenario.id for seed in range(8) for scenario in generate("null", 20, seed))
