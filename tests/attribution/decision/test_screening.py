"""From a screening of many units to cuts."""

import numpy as np
import pytest

from attribution.decision import Floor, RuleConfig, decide, final_statistic, plan_design_states
from attribution.decision.effects import FOCUS_UNITS, SCREENED_ABOVE, designs_for
from attribution.designs import screen
from attribution.games import SWAPPED, CountingGame
from attribution.games import planted as plant
from attribution.games.background import Background
from tests.bench.planted_claims import claim

FLOOR = Floor(2.0, 4.0, 199, "shipped")

PLANTED = [
    plant.single(200, 8.0, 133),
    plant.copies(200, 8.0, (3, 180)),
    plant.conjunctive(200, 8.0, (0, 77, 199)),
    plant.majority(200, 8.0, (5, 50, 150)),
    plant.two_chains(200, 8.0, (10, 60, 110, 160)),
    plant.suppressor(200, 8.0, 12, 88),
    *(plant.copies(200, 8.0, tuple(range(0, 200, 25))[:r]) for r in (4, 8)),
    plant.single(1000, 8.0, 999),
    plant.copies(1000, 8.0, tuple(range(0, 1000, 200))),
]


def names(game):
    return f"{game.name}-{game.units}"


@pytest.mark.parametrize("game", PLANTED, ids=names)
def test_exactly_the_planted_edges_and_cuts_of_many_units(game):
    found = decide(game, FLOOR)
    assert found.edges == game.truth.edges
    assert {frozenset(cut.members) for cut in found.cuts} == {cut for cut in game.truth.cuts if len(cut) > 1}


@pytest.mark.parametrize(("units", "most"), [(129, 180), (500, 240), (1000, 300)])
def test_many_units_cost_few_masks(units, most):
    """Two fold-overs would take 4·h(d) masks, leave-one-out d + 1."""
    assert decide(plant.conjunctive(units, 8.0, (0, units - 1)), FLOOR).runs <= most


def test_fold_overs_up_to_the_bound_and_one_screening_beyond():
    names_at = [[design.name for design in designs_for(units, RuleConfig())] for units in (6, SCREENED_ABOVE)]
    assert names_at == [["cube"], ["foldover", "foldover"]]
    (only,) = designs_for(SCREENED_ABOVE + 1, RuleConfig())
    assert (only.name, only.states.shape) == ("screen", (64, SCREENED_ABOVE + 1))
    assert plan_design_states(SCREENED_ABOVE + 1, RuleConfig()).shape == (64 + 2, SCREENED_ABOVE + 1)


def test_what_is_not_in_the_focus_has_no_effect_and_nothing_is_null():
    found = decide(plant.single(200, 8.0, 133), FLOOR)
    measured = [unit for unit in found.units if unit.effect_nats is not None]
    assert len(measured) == FOCUS_UNITS
    assert found.units[133].effect_nats == pytest.approx(8.0)
    assert found.units[133].interval == pytest.approx((8.0, 8.0))
    assert {unit.verdict for unit in found.units} == {"edge", "undetermined"}
    assert all(unit.interval is None for unit in found.units if unit.effect_nats is None)


def test_an_earlier_claim_reads_the_head_of_a_screening():
    """A trajectory's one screening serves its claims, those over few units by a cube of their own."""
    whole = screen(300, 0)
    assert decide(plant.copies(150, 8.0, (3, 140)), FLOOR, designs=(whole.head(150),)).edges == {3, 140}
    assert decide(plant.copies(20, 8.0, (3, 14)), FLOOR, designs=(whole.head(20),)).edges == {3, 14}
    few = CountingGame(plant.copies(3, 8.0, (0, 1)))
    assert decide(few, FLOOR, designs=(whole.head(3),)).edges == {0, 1}
    assert few.runs <= 2**3 + 6


def test_a_null_claim_of_many_units_is_ungrounded():
    found = decide(plant.null(300), FLOOR, lowerable=False)
    assert (found.result, found.edges) == ("ungrounded", frozenset())
    assert final_statistic(plant.null(300)) == (0.0, 0.0)


class Strict:
    """A claim in which one unit has no matched text."""

    units = 150

    def __init__(self):
        self.inner = plant.conjunctive(150, 8.0, (4, 90))

    def values(self, states):
        assert not np.any(states[:, 7] == SWAPPED)
        return self.inner.values(states)


def test_what_has_no_matched_text_is_deleted_where_it_would_be_swapped():
    found = decide(Strict(), FLOOR, swappable=[unit for unit in range(150) if unit != 7])
    assert found.edges == {4, 90}


@pytest.mark.parametrize("seed", range(6))
def test_copies_are_found_over_a_background_that_moves_the_claim_by_itself(seed):
    """Swapping a hundred idle units costs nats too: the search follows the jump, not the drift."""
    game = plant.copies(200, 10.0, tuple(range(seed, 200, 40))).over(Background(200, seed))
    found = decide(game, FLOOR, RuleConfig(seed=seed))
    assert found.edges >= game.truth.edges


@pytest.mark.parametrize("index", [3, 22, 32])
def test_copies_that_idle_swaps_hide_from_the_total_effect_are_found_by_its_second_half(index):
    """Over 200 units idle swaps alone move one null claim in twenty by 4 nats, the second half of them by 1.5."""
    game = claim("copies-4", 200, index, "mild")
    found = decide(game, Floor(1.97, 1.49, 300, "shipped"), RuleConfig(seed=index))
    assert found.total_effect < 4.0
    assert found.edges == game.truth.edges
