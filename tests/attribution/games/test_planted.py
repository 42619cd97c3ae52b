import numpy as np
import pytest

from attribution.designs import cube
from attribution.estimators import main_effects
from attribution.games import DELETED, PRESENT, SWAPPED
from attribution.games.background import Background
from attribution.games.planted import (
    anchored_copies,
    conjunctive,
    copies,
    majority,
    many,
    naming,
    null,
    paraphrase,
    saturating,
    single,
    suppressor,
    two_chains,
)


def score(game, present=(), swapped=()):
    row = np.full((1, game.units), DELETED, dtype=np.uint8)
    row[0, list(present)] = PRESENT
    row[0, list(swapped)] = SWAPPED
    return game.values(row)[0]


@pytest.mark.parametrize(
    ("game", "present", "expected"),
    [
        (null(3), (0, 1, 2), -6.0),
        (single(3, 8.0, 1), (1,), 2.0),
        (single(3, 8.0, 1), (0, 2), -6.0),
        (copies(4, 8.0, (0, 2)), (2,), 2.0),
        (conjunctive(4, 8.0, (0, 2)), (2,), -6.0),
        (conjunctive(4, 8.0, (0, 2)), (0, 2), 2.0),
        (majority(5, 8.0, (0, 1, 2)), (0,), -6.0),
        (majority(5, 8.0, (0, 1, 2)), (0, 2), 2.0),
        (two_chains(4, 8.0, (0, 1, 2, 3)), (0, 3), -6.0),
        (two_chains(4, 8.0, (0, 1, 2, 3)), (2, 3), 2.0),
        (anchored_copies(4, 8.0, 0, (1, 2)), (1, 2), -6.0),
        (anchored_copies(4, 8.0, 0, (1, 2)), (0, 2), 2.0),
        (paraphrase(2, 10.0, 0, 1), (1,), 2.5),
        (suppressor(2, 8.0, 0, 1), (0, 1), -2.0),
        (many(4, 8.0, (0, 1, 2, 3)), (0, 1, 2), 0.0),
        (saturating(3, 16.0, (0, 1, 2)), (0,), 6.0),
    ],
)
def test_scores_by_hand(game, present, expected):
    assert score(game, present) == pytest.approx(expected)


def test_a_swap_takes_the_fact_and_leaves_the_name():
    game = naming(3, 8.0, cause=0, namer=1, effect=20.0)
    assert score(game, (0, 1)) == 22.0
    assert score(game, (0,), swapped=(1,)) == 22.0
    assert score(game, (1,), swapped=(0,)) == 14.0
    assert score(game, (0,)) == 2.0


@pytest.mark.parametrize(
    ("game", "cuts"),
    [
        (single(5, 8.0, 2), [{2}]),
        (copies(5, 8.0, (0, 3, 4)), [{0, 3, 4}]),
        (conjunctive(5, 8.0, (0, 3)), [{0}, {3}]),
        (majority(5, 8.0, (0, 1, 2)), [{0, 1}, {0, 2}, {1, 2}]),
        (two_chains(5, 8.0, (0, 1, 2, 3)), [{0, 2}, {0, 3}, {1, 2}, {1, 3}]),
        (anchored_copies(5, 8.0, 4, (0, 1)), [{4}, {0, 1}]),
    ],
)
def test_the_known_cuts(game, cuts):
    assert game.truth.cuts == frozenset(map(frozenset, cuts))


def test_background_is_a_fixed_function_of_mask_and_seed():
    masks = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [2, 1, 2, 1, 2, 1]], dtype=np.uint8)
    one, again, other = Background(6, 7), Background(6, 7), Background(6, 8)
    assert np.array_equal(one.values(masks), again.values(masks))
    assert not np.allclose(one.values(masks), other.values(masks))
    assert np.allclose(Background(6, 7, scale=2.0).values(masks), 2 * one.values(masks))
    assert len(set(one.values(masks))) == 3


def test_the_backgrounds_main_effects_are_those_of_its_cube():
    background = Background(7, 11)
    masks = cube(7).states
    assert background.main_effects() == pytest.approx(main_effects(masks, background.values(masks)))


def test_main_effects_of_some_units_while_the_others_are_present():
    background = Background(7, 11)
    varied = (1, 4, 6)
    masks = cube(3).within(7, varied).states
    expected = np.zeros(7)
    expected[list(varied)] = main_effects(masks[:, list(varied)], background.values(masks))
    assert background.main_effects(varied) == pytest.approx(expected)
