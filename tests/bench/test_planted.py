import json

import numpy as np
import pytest

from attribution.designs import cube
from attribution.estimators import banzhaf
from attribution.games import CountingGame
from attribution.games import planted as plant
from tests.bench import planted_peers, planted_rule
from tests.bench.__main__ import main
from tests.bench.pages import filled
from tests.bench.planted_claims import NEEDS, STRATA, SUPPORTED, TARGETED, claim, strata_over, true_effects
from tests.bench.planted_exact import OrderTwo, measure


@pytest.mark.parametrize("stratum", STRATA)
def test_a_stratum_fits_the_least_context_that_it_says_it_needs(stratum):
    units = NEEDS.get(stratum, 1)
    game = claim(stratum, units, 0, "mild")
    assert game.units == units
    assert bool(game.truth.edges) == (stratum in SUPPORTED)
    assert stratum in strata_over(units)
    assert stratum not in strata_over(units - 1)


def test_a_claim_is_a_function_of_its_index():
    states = cube(8).states
    one, again, other = (claim("majority", 8, index, "mild") for index in (4, 4, 5))
    assert np.array_equal(one.values(states), again.values(states))
    assert not np.array_equal(one.values(states), other.values(states))
    assert len({frozenset(claim("copies-3", 20, index, "mild").truth.edges) for index in range(5)}) > 1


@pytest.mark.parametrize("stratum", ["single+naming", "majority", "suppressor", "two-chains"])
def test_true_effects_are_banzhaf_values_of_all_masks(stratum):
    game = claim(stratum, 7, 3, "doubled")
    assert list(true_effects(game, range(7)).values()) == pytest.approx(list(banzhaf(game.values(cube(7).states))))
    few = (1, 3, 4)
    expected = banzhaf(game.values(cube(3).within(7, few).states))
    assert true_effects(game, few) == pytest.approx(dict(zip(few, expected, strict=True)))


def test_a_game_of_order_two_knows_its_effects():
    game = OrderTwo(6, 9)
    assert game.effects(list(range(6))) == pytest.approx(banzhaf(game.values(cube(6).states)))
    assert game.effects([0, 2]) == pytest.approx(banzhaf(game.values(cube(2).within(6, (0, 2)).states)))


def test_ours_is_exact_where_the_peers_are_not():
    found = measure(8, 2)
    errors = found["largest_error_nats"]
    assert found["passes"] == 34
    assert errors["cuts-v1"] < 1e-9
    assert min(error for name, error in errors.items() if name != "cuts-v1") > 1


def test_a_tally_counts_claims_edges_and_intervals():
    floor = planted_rule.floor_of(8, "mild", 19)
    found = planted_rule.tally("single", 8, "mild", 3, floor)
    assert (found["n"], found["complete"], found["false"], found["edge_recall"]) == (3, 3, 0, 1.0)
    assert found["intervals"] == 24
    assert found["covered"] <= 24
    assert 34 <= found["runs"] <= 44
    assert planted_rule.tally("single", 3, "mild", 2, floor)["intervals"] == 0


def test_peers_are_given_no_more_passes_than_they_are_allowed():
    claim_of_nine = plant.single(9, 8.0, 4)
    for name, estimate in planted_peers.ESTIMATORS.items():
        game = CountingGame(claim_of_nine)
        scores = estimate(game, 60, 1)
        assert int(scores.argmax()) == 4, name
        assert scores[4] == pytest.approx(8.0, abs=0.5), name
        assert game.runs <= max(64 if "64" in name else 60, 10), name


@pytest.mark.slow
def test_the_section_says_each_target_and_is_not_measured_twice(tmp_path, capsys, monkeypatch):
    arguments = ["attribution", "--small", "--out", str(tmp_path), "--sections", "planted"]
    assert main(arguments) == 0
    document = json.loads((tmp_path / "attribution.json").read_text())
    findings = document["comparisons"]
    said = {one["name"]: [goal["what"] for goal in one["goals"]] for one in findings}
    assert said["planted, d = 1, mild: all edges found"] == ["least lower bound (single)"]
    assert said["games of order two, d = 8, 34 passes: largest error"] == ["error"]
    assert any(goal.startswith("least coverage") for goals in said.values() for goal in goals)
    assert {"planted, d = 8: seed-v4", "planted, d = 8: KernelSHAP"} <= set(said)
    tables = (tmp_path / "planted.md").read_text()
    assert all(f"\n| {name} | " in tables for name in TARGETED)
    first = capsys.readouterr().out
    monkeypatch.setattr(planted_rule, "measure", lambda *_, **__: pytest.fail("measured twice"))
    monkeypatch.setattr(planted_peers, "measure", lambda *_, **__: pytest.fail("measured twice"))
    assert main(arguments) == 0
    assert capsys.readouterr().out == first


def test_measured_tables_go_where_the_page_names_them(tmp_path):
    (tmp_path / "planted.md").write_text("| new |\n")
    page = "a\n<!-- measured: planted -->\nold\n<!-- end -->\nb\n<!-- measured: other -->\nkept\n<!-- end -->\n"
    assert filled(page, tmp_path) == page.replace("old", "\n| new |\n")
