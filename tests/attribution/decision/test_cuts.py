import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.decision import Floor, RuleConfig, Undefined, decide, final_statistic, plan_design_states
from attribution.decision.verdicts import Label, uncalibrated_ppm
from attribution.designs import Design, cube, foldover, foldover_pair
from attribution.errors import AttributionError, DecisionError
from attribution.games import CountingGame
from attribution.games import planted as plant
from attribution.games.background import Background

FLOOR = Floor(0.5, 0.5, 199, "shipped")

PLANTED = [
    plant.single(5, 8.0, 3),
    plant.single(14, 8.0, 3),
    plant.copies(5, 8.0, (0, 3)),
    plant.copies(14, 8.0, (0, 3)),
    plant.conjunctive(5, 8.0, (1, 2)),
    plant.conjunctive(14, 8.0, (1, 2, 9)),
    plant.majority(6, 8.0, (0, 1, 2)),
    plant.majority(14, 8.0, (0, 1, 2, 3, 4)),
    plant.two_chains(6, 8.0, (0, 1, 2, 3)),
    plant.two_chains(9, 8.0, (0, 1, 2, 3)),
    plant.anchored_copies(6, 8.0, 0, (1, 2, 3)),
    plant.anchored_copies(14, 8.0, 0, tuple(range(1, 9))),
    plant.paraphrase(5, 8.0, 0, 1),
    plant.paraphrase(5, 8.0, 0, 1, share=0.6),
    plant.saturating(5, 8.0, (0, 1, 2)),
    plant.suppressor(5, 8.0, 0, 1),
    plant.suppressor(14, 8.0, 0, 1),
    plant.naming(5, 8.0, 0, 1, 20.0),
    plant.many(14, 10.0, tuple(range(10))),
    *(plant.copies(14, 8.0, tuple(range(r))) for r in range(2, 9)),
    *(plant.copies(6, 4.0, tuple(range(r))) for r in range(2, 7)),
    *(plant.copies(20, 30.0, tuple(range(r))) for r in (7, 8)),
]


def names(verdict):
    return {label.name for label in verdict.labels}


@pytest.mark.parametrize("game", PLANTED, ids=lambda game: f"{game.name}-{game.units}")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exactly_the_planted_edges(game, seed):
    found = decide(game, FLOOR, RuleConfig(seed=seed))
    assert found.result == "grounded"
    assert found.edges == game.truth.edges
    for unit, label in game.truth.labels:
        assert label in names(found.units[unit])
    assert game.truth.opposes == {unit.unit for unit in found.units if unit.verdict == "opposes"}
    assert not any(unit.verdict == "null" and unit.unit in game.truth.edges for unit in found.units)


@pytest.mark.parametrize(
    "game", [game for game in PLANTED if game.name not in {"many", "paraphrase"}], ids=lambda g: f"{g.name}-{g.units}"
)
def test_exactly_the_planted_cuts(game):
    found = decide(game, FLOOR)
    assert {frozenset(cut.members) for cut in found.cuts} == {cut for cut in game.truth.cuts if len(cut) > 1}
    single_cuts = {unit.unit for unit in found.units if unit.ppm is not None and unit.ppm > 950_000}
    assert single_cuts == {unit for cut in game.truth.cuts if len(cut) == 1 for unit in cut}


def test_weights_are_about_sets():
    found = decide(plant.copies(5, 8.0, (0, 3)), FLOOR)
    assert [found.units[unit].ppm for unit in (0, 3)] == [0, 0]
    (cut,) = found.cuts
    assert (cut.members, cut.lost_nats, cut.margin_nats, cut.ppm) == ((0, 3), 8.0, -6.0, 999_665)
    assert found.units[0].labels == (Label("redundant-with", (3,)), Label("sufficient"))


def test_uncalibrated_weights():
    assert uncalibrated_ppm(-3.0) == 0
    assert uncalibrated_ppm(1.0) == 632_121
    assert uncalibrated_ppm(0.00049) == 0
    assert uncalibrated_ppm(1000.0) == 1_000_000


def test_labels_of_a_conjunction():
    found = decide(plant.conjunctive(14, 8.0, (1, 2, 9)), FLOOR)
    assert found.units[2].labels == (
        Label("necessary"),
        Label("conjunct-with", (1,)),
        Label("conjunct-with", (9,)),
    )


def test_more_candidates_than_are_enumerated_are_partial():
    found = decide(plant.many(14, 10.0, tuple(range(10))), FLOOR)
    assert all(found.units[unit].has("partial") for unit in range(10))
    assert [unit.ppm for unit in found.units if unit.verdict == "edge"] == [632_121] * 10


def test_a_claim_without_support_is_ungrounded_and_its_units_null():
    found = decide(plant.null(5), FLOOR)
    assert (found.result, found.total_effect, found.cuts) == ("ungrounded", 0.0, ())
    assert {unit.verdict for unit in found.units} == {"null"}
    assert found.statistics.exactness == "exact"


def test_an_entry_that_merely_names_the_entity_is_no_edge():
    found = decide(plant.naming(5, 0.0, None, 2, 20.0), FLOOR)
    assert (found.result, found.edges) == ("ungrounded", frozenset())
    assert found.units[2].verdict == "undetermined"
    assert (found.units[2].strongest_nats, found.units[2].swap_nats) == (20.0, 0.0)


def test_a_namer_beside_redundant_support_does_not_hide_it():
    game = plant.copies(5, 6.0, (0, 1))
    named = plant.PlantedGame(game.name, 5, game.support, 6.0, game.truth, naming=((2, 25.0),))
    assert decide(named, FLOOR).edges == {0, 1}


class Spread:
    """Fourteen units that each lend a little: together well over the floor, alone and in pairs under it."""

    units = 14

    def values(self, states):
        return 0.2 * (states == 1).sum(axis=1)


def test_a_claim_that_no_small_set_carries_is_diffuse_and_nothing_in_it_null():
    found = decide(Spread(), Floor(0.8, 1.0, 199, "shipped"))
    assert (found.result, found.edges) == ("diffuse", frozenset())
    assert found.total_effect == pytest.approx(2.8)
    assert {unit.verdict for unit in found.units} == {"undetermined"}


def test_without_a_floor_nothing_is_run_and_nothing_decided():
    game = CountingGame(plant.single(5, 8.0))
    found = decide(game, Undefined("18 null claims"))
    assert (found.result, found.runs, found.total_effect, game.runs) == ("undetermined", 0, None, 0)
    assert [unit.verdict for unit in found.units] == ["undetermined"] * 5


def test_a_provisional_floor_is_flagged():
    assert decide(plant.single(5, 8.0), Floor(0.5, 0.5, 19, "provisional")).flags == (
        "provisional-floor",
        "uncalibrated",
    )
    assert decide(plant.single(5, 8.0), FLOOR).flags == ("uncalibrated",)


def test_a_unit_without_replacement_text_is_never_an_edge():
    found = decide(plant.single(5, 8.0, 0), FLOOR, swappable=[1, 2, 3, 4])
    assert found.units[0].verdict == "undetermined"
    assert found.units[0].strongest_nats == 8.0
    assert found.result == "diffuse"


def test_effects_under_the_floor_are_no_edges():
    found = decide(plant.single(5, 0.9, 0), Floor(1.0, 1.0, 199, "shipped"))
    assert (found.result, found.units[0].verdict) == ("ungrounded", "undetermined")


def test_small_but_real_effects_are_undetermined_not_null():
    found = decide(plant.single(5, 0.3, 0), FLOOR)
    assert [unit.verdict for unit in found.units] == ["undetermined", "null", "null", "null", "null"]


def test_the_final_statistic_is_the_largest_floor_that_a_unit_passes():
    assert final_statistic(plant.null(5)) == (0.0, 0.0)
    assert final_statistic(plant.single(5, 8.0)) == (8.0, 8.0)
    assert final_statistic(plant.copies(14, 8.0, (0, 3))) == (8.0, 8.0)
    assert final_statistic(plant.naming(5, 0.0, None, 2, 20.0)) == (0.0, 0.0)


@pytest.mark.parametrize("strength", [0.6, 1.0, 3.0])
def test_a_claim_passes_exactly_the_floors_up_to_its_final_statistic(strength):
    game = plant.single(5, strength)
    largest, _ = final_statistic(game)
    assert decide(game, Floor(largest, 0.5, 199, "shipped")).edges == {0}
    assert decide(game, Floor(largest + 1e-9, 0.5, 199, "shipped")).edges == frozenset()


# Inputs that broke others.


def test_an_empty_context():
    game = CountingGame(plant.null(0))
    found = decide(game, FLOOR)
    assert (found.result, found.units, found.cuts, found.total_effect, found.runs) == ("ungrounded", (), (), 0.0, 0)
    assert final_statistic(plant.null(0)) == (0.0, 0.0)
    assert plan_design_states(0, RuleConfig()).shape == (1, 0)


def test_one_entry():
    found = decide(plant.single(1, 8.0), FLOOR)
    assert (found.result, found.edges, found.runs) == ("grounded", {0}, 3)
    assert found.units[0].labels == (Label("necessary"), Label("sufficient"))
    assert decide(plant.null(1), FLOOR).units[0].verdict == "null"


@pytest.mark.parametrize("units", [2, 3, 6, 7, 12])
def test_all_entries_identical(units):
    found = decide(plant.copies(units, 8.0, tuple(range(units))), FLOOR)
    assert found.edges == set(range(units))
    assert [cut.members for cut in found.cuts] == [tuple(range(units))]
    assert {unit.ppm for unit in found.units} == {0}


def test_more_copies_than_the_search_looks_for_are_diffuse_not_null():
    found = decide(plant.copies(40, 8.0, tuple(range(20))), FLOOR, RuleConfig(largest_cut=16))
    assert found.result == "diffuse"
    assert "null" not in {unit.verdict for unit in found.units}


def test_scores_that_are_not_finite_are_refused():
    class Certain:
        units = 2

        def values(self, states):
            return np.full(len(states), np.inf)

    with pytest.raises(AttributionError, match="is inf"):
        decide(Certain(), FLOOR)


# Designs and cost.


def test_the_gates_cost():
    assert decide(plant.null(5), FLOOR).runs == 32 + 1
    assert decide(plant.conjunctive(14, 8.0, (0, 1, 2)), FLOOR).runs <= 80


def test_design_two_is_skipped_without_candidates_unless_a_weight_could_fall():
    spared = decide(plant.null(14), FLOOR, lowerable=False)
    assert spared.runs == 32 + 2
    assert {unit.verdict for unit in spared.units} == {"undetermined"}
    assert {unit.interval for unit in spared.units} == {None}
    assert spared.result == "ungrounded"
    assert decide(plant.null(14), FLOOR).runs > 60
    assert decide(plant.single(14, 8.0), FLOOR, lowerable=False).edges == {0}


@pytest.mark.parametrize("units", [1, 4, 6, 7, 14])
def test_planned_masks_are_all_that_a_null_claim_asks(units):
    config = RuleConfig(seed=5)
    game = CountingGame(plant.null(units))
    planned = plan_design_states(units, config)
    game.values(planned)
    assert len(set(map(bytes, planned))) == len(planned) == game.runs
    assert decide(game, FLOOR, config).runs == 0


def test_a_trajectorys_designs_serve_its_earlier_claims():
    pair = tuple(design.head(9) for design in foldover_pair(14, 3))
    found = decide(plant.copies(9, 8.0, (0, 8)), FLOOR, designs=pair)
    assert found.edges == {0, 8}
    few = tuple(design.head(3) for design in foldover_pair(14, 3))
    assert decide(plant.conjunctive(3, 8.0, (0, 2)), FLOOR, designs=few).edges == {0, 2}


def test_designs_that_do_not_fit_are_refused():
    with pytest.raises(DecisionError, match="over 5"):
        decide(plant.null(5), FLOOR, designs=(cube(4),))
    with pytest.raises(DecisionError, match="0 designs"):
        decide(plant.null(5), FLOOR, designs=())
    bent = Design("foldover", foldover(5, 0).states[1:].copy(), 0)
    with pytest.raises(DecisionError, match="half present"):
        decide(plant.null(5), FLOOR, designs=(bent,))


@pytest.mark.parametrize(
    "changes", [{"cube_up_to": 13}, {"enumerate_up_to": 0}, {"null_threshold": 0.0}, {"confidence": 1.0}]
)
def test_rules_that_cannot_be_are_refused(changes):
    with pytest.raises(DecisionError):
        RuleConfig(**changes)


# Intervals.


def test_a_game_of_order_two_is_exact_to_order_two():
    found = decide(plant.conjunctive(14, 8.0, (0, 1)), FLOOR)
    assert found.statistics.exactness == "exact to order 2"
    assert found.units[0].effect_nats == pytest.approx(4.0, abs=1e-9)
    assert found.units[0].interval == pytest.approx((4.0, 4.0), abs=1e-9)


def test_odd_interactions_widen_the_interval():
    game = plant.single(14, 8.0, 3).over(Background(14, 5))
    found = decide(game, FLOOR)
    assert found.statistics.exactness is None
    low, high = found.units[3].interval
    assert low < 8.0 + game.background.main_effects()[3] < high
    assert 0.2 < high - low < 1.0


@pytest.mark.parametrize("units", [8, 14])
def test_odd_interactions_of_the_candidates_are_known_and_do_not_alias(units):
    """Majority of three: each unit decides half of the subsets of the others, so its effect is half of eight nats."""
    found = decide(plant.majority(units, 8.0, (0, 1, 2)), FLOOR)
    assert found.statistics.exactness == "exact to order 2"
    effects = [4.0] * 3 + [0.0] * (units - 3)
    assert [unit.effect_nats for unit in found.units] == pytest.approx(effects, abs=1e-9)
    assert [unit.interval for unit in found.units] == [pytest.approx((e, e), abs=1e-9) for e in effects]


def test_sharper_intervals_cost_no_run():
    game = CountingGame(plant.majority(14, 8.0, (0, 1, 2)).over(Background(14, 5)))
    found = decide(game, FLOOR)
    again = game.runs
    assert decide(game, FLOOR).units == found.units
    assert game.runs == again


# Laws.

formulas = st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=3), min_size=1, max_size=3)


class Formula:
    """A monotone formula: any of the groups whole carries the claim."""

    def __init__(self, groups, units=6):
        self.units = units
        self.groups = [sorted(group) for group in groups]

    def values(self, states):
        held = states == 1
        return 8.0 * np.any([held[:, group].all(axis=1) for group in self.groups], axis=0)


def relevant(groups):
    """Units of groups that hold no other group."""
    return {unit for group in groups if not any(other < group for other in groups) for unit in group}


@given(groups=formulas)
@settings(max_examples=150, deadline=None)
def test_every_monotone_formula_of_six_facts_is_found_whole(groups):
    found = decide(Formula(groups), FLOOR)
    assert found.edges == relevant(groups)
    assert all(unit.verdict == "null" for unit in found.units if unit.unit not in found.edges)


wide_formulas = st.lists(st.sets(st.integers(0, 13), min_size=1, max_size=3), min_size=1, max_size=4)


@given(groups=wide_formulas, seed=st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_every_monotone_formula_of_up_to_four_groups_is_found_whole_by_fold_overs(groups, seed):
    found = decide(Formula(groups, 14), FLOOR, RuleConfig(seed=seed))
    assert found.edges == relevant(groups)
    assert not any(unit.verdict == "null" and unit.unit in relevant(groups) for unit in found.units)


@given(groups=formulas, order=st.permutations(range(6)))
@settings(max_examples=50, deadline=None)
def test_the_order_of_units_does_not_matter(groups, order):
    moved = [{order[unit] for unit in group} for group in groups]
    assert decide(Formula(moved), FLOOR).edges == {order[unit] for unit in decide(Formula(groups), FLOOR).edges}


@given(groups=formulas)
@settings(max_examples=80, deadline=None)
def test_every_cut_loses_the_claim_and_no_part_of_it_does(groups):
    game = Formula(groups)
    for cut in decide(game, FLOOR).cuts:
        without = np.ones((len(cut.members) + 1, 6), dtype=np.uint8)
        for row, spared in enumerate((None, *cut.members)):
            without[row, [unit for unit in cut.members if unit != spared]] = 0
        assert game.values(without).tolist() == [0.0] + [8.0] * len(cut.members)


# Figures that are reported and decide nothing.


def test_two_designs_are_compared_at_no_run():
    found = decide(plant.single(14, 8.0, 3), FLOOR)
    figures = found.statistics.stability
    assert (figures.jaccard, figures.r2) == (1.0, pytest.approx(1.0))
    assert figures.thresholded_rho == pytest.approx(1.0)
    assert found.runs == 32 + 32 + 5


def test_a_perfect_surrogate_of_a_redundant_claim_predicts_two_thirds_of_it():
    """``R²`` 2/3: two main effects of the three equal terms of an OR."""
    assert decide(plant.copies(14, 8.0, (0, 3)), FLOOR).statistics.stability.r2 == pytest.approx(2 / 3)


def test_one_design_has_nothing_to_compare():
    assert decide(plant.single(5, 8.0), FLOOR).statistics.stability is None
