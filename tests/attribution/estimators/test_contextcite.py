import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.designs import bernoulli
from attribution.errors import DecisionError
from attribution.estimators import contextcite, log_odds

MASKS = bernoulli(5, 64, 0).states


def scores():
    x = MASKS.astype(np.float64)
    return -3 + 6 * x[:, 0] * x[:, 1] + 2 * x[:, 2] - 0.4 * x[:, 3] + np.sin(np.arange(64))


def test_weights_are_those_of_the_peer():
    """Computed with `LassoRegression.fit` of context-cite 0.0.4 under scikit-learn 1.9.1 on these masks and scores."""
    fit = contextcite(MASKS, scores(), 9)
    peer = [3.1397150354426158, 2.7405740917870896, 1.8065844476222992, -0.6795117403703357, 0.0]
    assert fit.weights == pytest.approx(peer, abs=1e-6)
    assert fit.bias == pytest.approx(-4.256226108818171, abs=1e-6)


def peer(name):
    """A module of the installed `context-cite`; loaded by its file, because importing the package asks the network for data."""
    package = importlib.util.find_spec("context_cite")
    (folder,) = package.submodule_search_locations
    spec = importlib.util.spec_from_file_location(f"peer_{name}", Path(folder) / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@given(
    units=st.integers(1, 60),
    count=st.sampled_from([8, 32, 64, 256]),
    tokens=st.integers(1, 300),
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.1, 3.0, 40.0]),
)
@settings(max_examples=60, deadline=None)
def test_weights_are_those_of_the_peers_own_solver(units, count, tokens, seed, scale):
    draw = np.random.default_rng(seed)
    masks = bernoulli(units, count, seed).states
    weights = draw.standard_t(2, size=units) * (draw.random(units) < 0.3)
    scores = scale * (masks @ weights + draw.normal(size=count)) - 20
    fit = contextcite(masks, scores, tokens)
    their_weights, their_bias = peer("solver").LassoRegression().fit(masks.astype(bool), scores, tokens)
    assert fit.weights == pytest.approx(their_weights, abs=1e-6)
    assert fit.bias == pytest.approx(float(their_bias), abs=1e-6)


def test_the_default_penalty_erases_small_effects_of_long_claims():
    """An effect of 0.5 nats survives in a claim of 5 tokens and vanishes in one of 100: about 0.02 nats a token."""
    y = 0.5 * MASKS[:, 0].astype(np.float64)
    assert contextcite(MASKS, y, 5).weights[0] > 0.3
    assert contextcite(MASKS, y, 100).weights[0] == 0.0


def test_prediction_is_linear_in_presence():
    fit = contextcite(MASKS, scores(), 9)
    both = fit.predict(np.array([[0, 0, 0, 0, 0], [1, 0, 1, 0, 0]], dtype=np.uint8))
    assert both == pytest.approx([fit.bias, fit.bias + fit.weights[0] + fit.weights[2]])


def test_constant_scores_give_no_weight():
    fit = contextcite(MASKS, np.full(64, -7.0), 3)
    assert fit.weights.tolist() == [0.0] * 5
    assert fit.bias == pytest.approx(-7.0, abs=1e-6)


def test_no_units_leave_the_mean():
    assert contextcite(np.zeros((3, 0), dtype=np.uint8), np.array([1.0, 2.0, 6.0]), 4).bias == 3.0


@pytest.mark.parametrize(
    ("masks", "values", "tokens", "message"),
    [
        (MASKS, np.zeros(63), 1, "do not pair"),
        (MASKS, np.zeros(64), 0, "0 tokens"),
        (MASKS, np.full(64, -np.inf), 1, "log1mexp"),
    ],
)
def test_refusals(masks, values, tokens, message):
    with pytest.raises(DecisionError, match=message):
        contextcite(masks, values, tokens)


def test_log_odds_are_stable_at_both_ends():
    log_p = np.array([-1e-12, -np.log(2.0), -50.0, -800.0])
    expected = [27.631021115928547, 0.0, -50.0, -800.0]
    assert log_odds(log_p) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_log_odds_of_a_certain_claim_are_refused_not_infinite():
    with pytest.raises(DecisionError, match="foil"):
        log_odds(np.array([0.0]))
