from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.calibration import (
    Calibration,
    Pair,
    Placebos,
    Uncalibrated,
    calibrate,
    collect,
    learnt_from,
    reweigh,
)
from attribution.calibration.pairs import margin_left
from attribution.decision import Floor, decide
from attribution.errors import DecisionError
from attribution.games.planted import copies, single
from attribution.measurement import ClaimMeasurement
from attribution.shares import share
from attribution.trajectory import TrajectoryClaim


def truth(margin):
    """The chance of the synthetic world: half at a margin of 0, falling with it."""
    return 1 / (1 + math.exp(1.5 * margin))


def world(n, *, seed=0, scenarios=40, noise=0.0, slope=1.0):
    """Pairs whose claim falls with a known chance; ``noise``: share that any deletion loses."""
    draw = np.random.RandomState(seed)
    margins = draw.normal(0, 3, n)
    fallen = [noise + (1 - noise) * truth(slope * margin) > draw.rand() for margin in margins]
    return [
        Pair(f"scenario-{number % scenarios}", float(margin), lost=bool(lost))
        for number, (margin, lost) in enumerate(zip(margins, fallen, strict=True))
    ]


def test_known_chances_are_found():
    found = calibrate(world(4_000), Placebos(400, 0))
    assert isinstance(found, Calibration)
    for margin in (-4.0, -1.0, 0.0, 1.0, 4.0):
        assert found.chance(margin) == pytest.approx(truth(margin), abs=0.08)
    assert found.ppm(0.0) == round(found.chance(0.0) * 1e6)


def test_held_out_predictions_beat_the_base_rate_and_are_reliable():
    found = calibrate(world(4_000), Placebos(400, 0))
    pairs = world(4_000)
    best = np.mean([(truth(pair.margin_nats) - pair.lost) ** 2 for pair in pairs])
    assert best <= found.brier < best + 0.01
    assert found.brier_base_rate == pytest.approx(0.25, abs=0.005)
    assert 0 < found.gain[0] < found.brier_base_rate - found.brier < found.gain[1]
    assert sum(group.n for group in found.reliability) == found.pairs == 4_000
    assert all(abs(group.predicted - group.observed) < 0.1 for group in found.reliability)
    assert [g.predicted for g in found.reliability] == sorted(g.predicted for g in found.reliability)


def test_margins_that_say_nothing_gain_nothing():
    found = calibrate(world(2_000, slope=0.0), Placebos(100, 0))
    assert found.gain[0] < 0.005
    assert abs(found.brier - found.brier_base_rate) < 0.01


def test_what_any_deletion_loses_is_taken_out():
    """A fifth of all answers change by themselves; the weight of a cut is what is left."""
    found = calibrate(world(6_000, noise=0.2), Placebos(1_000, 200))
    around = np.linspace(-2, 2, 41)
    # Steps of an isotonic fit wander around the truth; their mean does not.
    assert np.mean([found.chance(margin) for margin in around]) == pytest.approx(0.5, abs=0.03)
    assert found.chance(6.0) < 0.03
    raw = replace(found, placebos=Placebos(1_000, 0))
    assert raw.chance(6.0) == pytest.approx(0.2, abs=0.05)


def test_no_chance_is_0_or_1():
    pairs = [Pair(f"s{number % 10}", float(number - 150), lost=number < 150) for number in range(300)]
    found = calibrate(pairs, Placebos(10, 0))
    assert found.chance(-1e9) == 1 - 1 / 302
    assert found.chance(1e9) == 1 / 302
    assert found.brier < 0.01


@given(st.integers(0, 2**20), st.lists(st.floats(-30, 30), min_size=2, max_size=6))
@settings(max_examples=15, deadline=None)
def test_a_chance_never_rises_with_the_margin(seed, margins):
    found = calibrate(world(260, seed=seed), Placebos(50, 1))
    chances = [found.chance(margin) for margin in sorted(margins)]
    assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize(
    ("pairs", "placebos", "says"),
    [
        (world(199), Placebos(9, 0), "199 pairs"),
        ([replace(p, lost=n < 49) for n, p in enumerate(world(300))], Placebos(9, 0), "49 lost and 251 kept"),
        ([replace(p, lost=n >= 49) for n, p in enumerate(world(300))], Placebos(9, 0), "251 lost and 49 kept"),
        (world(300, scenarios=4), Placebos(9, 0), "from 4 scenarios"),
        (world(300), Placebos(0, 0), "no placebo deletion"),
        (world(300), Placebos(10, 9), "as often (9 of 10)"),
        ([], Placebos(0, 0), "0 pairs"),
    ],
)
def test_too_few_data_are_said_to_be_too_few(pairs, placebos, says):
    found = calibrate(pairs, placebos)
    assert isinstance(found, Uncalibrated)
    assert says in found.reason
    assert found.document()["status"] == "uncalibrated"
    assert found.pairs == len(pairs)


def test_a_scenario_is_held_out_whole():
    """Each scenario has its own answer: what is learnt in one says nothing in another, so nothing may be gained."""
    draw = np.random.RandomState(0)
    fate = draw.rand(50) < 0.5
    pairs = [Pair(f"{s:02}", s + draw.rand() / 10, lost=bool(fate[s])) for s in range(50) for _ in range(8)]
    found = calibrate(pairs, Placebos(50, 0))
    assert found.brier > 0.2


def test_a_margin_that_is_not_finite_is_refused():
    with pytest.raises(DecisionError, match="not finite"):
        calibrate([*world(300), Pair("x", math.inf, lost=True)], Placebos(9, 0))
    with pytest.raises(DecisionError, match="nan nats"):
        calibrate(world(300), Placebos(9, 0)).chance(math.nan)
    with pytest.raises(DecisionError, match="3 of 2"):
        Placebos(2, 3)


def test_the_document_is_plain_json():
    found = calibrate(world(400), Placebos(10, 1))
    document = json.loads(json.dumps(found.document()))
    assert document["pairs"] == 400
    assert document["placebo_rate"] == 0.1
    assert len(document["margins"]) == len(document["chances"])


def measured(game):
    """A claim over a planted game, decided, with the scores that it was decided on."""
    scores = {}

    class Recording:
        units = game.units

        def values(self, states):
            values = game.values(states)
            scores.update({"".join(map(str, row)): float(v) for row, v in zip(states, values, strict=True)})
            return values

    floor = Floor(1.0, 1.0, 199, "shipped")
    decision = decide(Recording(), floor)
    claim = TrajectoryClaim("c", "g", 0, game.units, frozenset(), contrasted=True)
    return ClaimMeasurement(claim, floor, decision, None, scores)


def test_pairs_come_from_edges_and_cuts_and_placebos_from_nulls():
    asked = []
    redundant = measured(copies(4, 10.0, (0, 1)))

    def asserts(deleted):
        asked.append(deleted)
        return not {0, 1} <= deleted

    found = collect(redundant, "s", asserts)
    assert [each.members for each in found] == [(0,), (1,), (0, 1), (2,), (3,)]
    assert [each.placebo for each in found] == [False, False, False, True, True]
    assert [each.loss_nats for each in found] == [0.0, 0.0, 10.0, 0.0, 0.0]
    pairs, placebos = learnt_from(found)
    assert pairs == (Pair("s", 4.0, lost=False), Pair("s", 4.0, lost=False), Pair("s", -6.0, lost=True))
    assert placebos == Placebos(2, 0)
    assert asked == [frozenset(), {0}, {1}, {0, 1}, {2}, {3}]


def test_a_claim_that_is_not_said_again_teaches_nothing():
    asked = []
    assert collect(measured(single(4, 10.0)), "s", lambda deleted: asked.append(deleted) or False) == ()
    assert learnt_from(()) == ((), Placebos(0, 0))
    assert asked == [frozenset()]


def test_a_decision_gets_its_calibrated_weights_and_nothing_else():
    found = calibrate(world(4_000), Placebos(400, 0))
    one = measured(copies(4, 10.0, (0, 1)))
    weighed = reweigh(one, found)
    assert [unit.ppm for unit in weighed.units] == [found.ppm(4.0), found.ppm(4.0), None, None]
    assert [cut.ppm for cut in weighed.cuts] == [found.ppm(-6.0)]
    assert "uncalibrated" in one.cuts.flags
    assert weighed.flags == ()
    assert [unit.verdict for unit in weighed.units] == [unit.verdict for unit in one.cuts.units]


def test_a_margin_that_was_never_scored_is_not_guessed():
    with pytest.raises(DecisionError, match=r"without the units \[0\]"):
        margin_left(replace(measured(single(4, 10.0)), scores={}), [0])


def test_shares_have_intervals_and_none_of_nothing():
    assert share(0, 0) is None
    assert share(5, 10).words() == "0.500 [0.237, 0.763], n = 10"
    assert (share(0, 20).low, share(20, 20).high) == (0.0, 1.0)
    with pytest.raises(DecisionError, match="3 events of 2"):
        share(3, 2)
