import numpy as np
import pytest

from attribution.errors import AttributionError
from attribution.games import CountingGame


class Sum:
    units = 3

    def __init__(self):
        self.batches = []

    def values(self, states):
        self.batches.append(states.copy())
        return states.sum(axis=1).astype(np.float64)


def rows(*masks):
    return np.array(masks, dtype=np.uint8)


def test_every_distinct_mask_runs_once_in_the_order_first_asked():
    inner = Sum()
    game = CountingGame(inner)
    assert game.values(rows([1, 1, 1], [0, 1, 0], [1, 1, 1])).tolist() == [3.0, 1.0, 3.0]
    assert game.values(rows([0, 1, 0], [2, 0, 0])).tolist() == [1.0, 2.0]
    assert game.runs == 3
    assert [batch.tolist() for batch in inner.batches] == [[[1, 1, 1], [0, 1, 0]], [[2, 0, 0]]]


def test_no_masks_no_runs():
    inner = Sum()
    assert CountingGame(inner).values(np.zeros((0, 3), dtype=np.uint8)).shape == (0,)
    assert inner.batches == []


@pytest.mark.parametrize("states", [np.ones((1, 2), np.uint8), np.ones(3, np.uint8), np.ones((1, 3), np.int64)])
def test_states_of_another_shape_or_type_are_refused(states):
    with pytest.raises(AttributionError, match=r"uint8\[mask, 3\]"):
        CountingGame(Sum()).values(states)


def test_unknown_states_and_scores_that_are_not_finite_are_refused():
    with pytest.raises(AttributionError, match="state 3"):
        CountingGame(Sum()).values(rows([3, 0, 0]))

    class Broken(Sum):
        def values(self, states):
            return np.full(len(states), -np.inf)

    with pytest.raises(AttributionError, match="mask 101 is -inf"):
        CountingGame(Broken()).values(rows([1, 0, 1]))

    class Short(Sum):
        def values(self, states):
            return np.zeros(len(states) + 1)

    with pytest.raises(AttributionError, match="one score a mask"):
        CountingGame(Short()).values(rows([1, 0, 1]))
