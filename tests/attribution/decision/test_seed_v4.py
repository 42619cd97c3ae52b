import numpy as np
import pytest

from attribution.decision import Floor, decide, decide_seed_v4
from attribution.decision.seed_v4 import SeedV4Config
from attribution.decision.verdicts import Label
from attribution.errors import DecisionError
from attribution.games import CountingGame
from attribution.games import planted as plant


def test_a_single_cause_passes_the_gate():
    found = decide_seed_v4(plant.single(14, 8.0, 2), declared=(2, 5), num_tokens=8)
    assert (found.passed, found.kept, found.decision.edges) == (True, frozenset(), {2})
    assert found.rho == pytest.approx(1.0)
    assert found.weights.shape == (2, 14)
    assert found.loo.tolist() == [8.0 if unit == 2 else 0.0 for unit in range(14)]
    assert found.decision.units[5].verdict == "null"
    assert found.decision.statistics.stability.jaccard == 1.0
    assert found.decision.statistics.stability.r2 > 0.99
    assert found.decision.units[2].effect_nats == pytest.approx(8 - 2 * 0.01 * 8, abs=0.01)
    assert found.decision.units[2].ppm == 999_606


def test_redundant_support_does_not_survive_leave_one_out():
    """The specification's failure that `cuts-v1` mends, on the same scores."""
    game = CountingGame(plant.copies(5, 8.0, (0, 1)))
    found = decide_seed_v4(game, declared=(0, 1), num_tokens=8)
    assert found.passed
    assert found.decision.edges == frozenset()
    assert decide(game, Floor(0.5, 0.5, 199, "shipped")).edges == {0, 1}


class Restless:
    """Scores without structure: two runs' surrogates have nothing in common."""

    units = 12

    def values(self, states):
        return np.array([10.0 * np.random.default_rng(list(row)).normal() for row in states])


def test_below_the_gate_declared_edges_are_kept():
    found = decide_seed_v4(Restless(), declared=(0, 7), num_tokens=8)
    assert found.rho is not None
    assert found.rho < 0.6
    assert (found.passed, found.kept, found.decision.edges) == (False, {0, 7}, {0, 7})
    assert found.decision.units[7].labels == (Label("declared-kept"),)
    assert found.decision.units[7].ppm == 1_000_000
    assert found.decision.units[1].verdict == "undetermined"


def test_an_undefined_correlation_keeps_declared_edges():
    found = decide_seed_v4(plant.null(5), declared=(1,), num_tokens=8)
    assert (found.rho, found.passed, found.kept, found.agreement) == (None, False, {1}, None)


@pytest.mark.parametrize("units", [0, 1])
def test_too_few_units_for_a_rank(units):
    found = decide_seed_v4(plant.null(units), declared=range(units), num_tokens=8)
    assert (found.rho, len(found.decision.units)) == (None, units)
    assert found.kept == set(range(units))


def test_runs_share_no_draw_and_small_contexts_cost_at_most_their_cube():
    assert decide_seed_v4(plant.null(3), declared=(), num_tokens=8).decision.runs <= 8 + 1
    assert decide_seed_v4(plant.single(20, 8.0), declared=(), num_tokens=8).decision.runs == 128 + 21 + 1


def test_log_probabilities_become_log_odds():
    class LogProbability:
        units = 6

        def values(self, states):
            log_odds = -2.0 + 4.0 * (states[:, 0] == 1)
            return -np.logaddexp(0.0, -log_odds)

    raw = decide_seed_v4(LogProbability(), (), num_tokens=1)
    fitted = decide_seed_v4(LogProbability(), (), num_tokens=1, config=SeedV4Config(log_probability=True))
    assert raw.weights[0, 0] == pytest.approx(2.0, abs=0.1)
    assert fitted.weights[0, 0] == pytest.approx(4.0, abs=0.1)


def test_a_claim_of_one_certain_token_keeps_what_was_declared():
    class Certain:
        units = 4

        def values(self, states):
            return np.where(states[:, 0] == 1, 0.0, -3.0)

    found = decide_seed_v4(Certain(), (1,), num_tokens=1, config=SeedV4Config(log_probability=True))
    assert (found.rho, found.passed, found.kept, found.agreement) == (None, False, {1}, None)
    assert found.weights.shape == (0, 4)
    assert found.loo.tolist() == [3.0, 0.0, 0.0, 0.0]
    assert found.decision.statistics.stability is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SeedV4Config(seeds=(1,)), "two or more"),
        (lambda: SeedV4Config(seeds=(1, 1)), "two or more"),
        (lambda: SeedV4Config(ablations=0), "0 ablations"),
        (lambda: decide_seed_v4(plant.null(2), (2,), num_tokens=1), "declared parents"),
        (lambda: decide_seed_v4(plant.null(2), (), num_tokens=0), "0 tokens"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(DecisionError, match=message):
        call()
