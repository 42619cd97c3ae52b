import pytest

from attribution.decision.bisect import minimal_cut
from attribution.decision.probe import Probe
from attribution.errors import DecisionError
from attribution.games.planted import copies, majority, single


@pytest.mark.parametrize("causes", [(3,), (0, 29), (1, 5, 9), tuple(range(0, 30, 4)), tuple(range(12))])
def test_all_copies_are_one_cut(causes):
    probe = Probe(copies(30, 8.0, causes))
    assert minimal_cut(probe, (), range(30), 4.0, 16) == causes


def test_each_member_costs_about_a_logarithm():
    probe = Probe(copies(128, 8.0, (5, 60, 127)))
    minimal_cut(probe, (), range(128), 4.0, 16)
    assert probe.game.runs <= 3 * 8 + 6


def test_a_cut_is_minimal_and_follows_the_given_order():
    assert minimal_cut(Probe(majority(9, 8.0, (0, 1, 2, 3, 4))), (), [4, 3, 2, 1, 0], 4.0, 16) == (2, 3, 4)


def test_nothing_to_find():
    assert minimal_cut(Probe(single(4, 8.0, 0)), (), [1, 2, 3], 4.0, 16) is None
    assert minimal_cut(Probe(copies(9, 8.0, tuple(range(9)))), (), range(9), 4.0, 8) is None


def test_absent_units_stay_absent():
    assert minimal_cut(Probe(copies(6, 8.0, (0, 1, 2))), (0,), [1, 2, 3, 4, 5], 4.0, 16) == (1, 2)


def test_swappable_units_must_exist():
    with pytest.raises(DecisionError, match="swappable"):
        Probe(single(3, 8.0), [3])


class Drifting:
    """Copies among units of which each idle one, swapped, costs a tenth of a nat: together more than the claim is worth."""

    units = 128

    def __init__(self, causes):
        self.inner = copies(128, 8.0, causes)

    def values(self, states):
        return self.inner.values(states) - 0.1 * (states != 1).sum(axis=1)


@pytest.mark.parametrize("causes", [(5, 90), (60, 61, 127), (0, 20, 40, 80)])
def test_a_member_is_where_the_loss_jumps_not_where_it_creeps_over_the_line(causes):
    probe = Probe(Drifting(causes))
    assert minimal_cut(probe, (), range(128), 7.0, 16) == causes


class Stairs:
    """Five sources whose loss comes in equal steps."""

    units = 5

    def values(self, states):
        return 2.0 * (states == 1).sum(axis=1)


def test_among_few_units_a_loss_in_steps_is_several_causes():
    """Half of ten nats is lost at the third of five steps; no jump is looked for."""
    assert minimal_cut(Probe(Stairs()), (), range(5), 5.0, 16) == (0, 1, 2)
