"""One pass scores every claim; what a claim cannot see never costs it anything; nothing is scored twice."""

from __future__ import annotations

import numpy as np
import pytest

from attribution.blocks import BlockCache
from attribution.games.base import DELETED, PRESENT, SWAPPED
from attribution.models import LanguageModel
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory import ClaimGame, Trajectory, TrajectoryScores, Wording, keep_targets
from tests.attribution.trajectory.builders import (
    HashScorer,
    exact_generation,
    lay_out,
    seen_before,
    text_of,
    two_step_record,
)
from tests.attribution.trajectory.test_foreign import generations
from tests.attribution.trajectory.test_foreign import lay_out as lay_out_foreign

FOILS = Wording({"c": ("tan van.",), "e": ("pink cab.", "teal cab.")}, {"a": "van is tan."})


def exact() -> Trajectory:
    (trajectory,) = lay_out(*two_step_record(), wording=FOILS)
    return trajectory


def every_mask(units: int) -> np.ndarray:
    return np.array(np.meshgrid(*[[0, 1, 2]] * units, indexing="ij"), dtype=np.uint8).reshape(units, -1).T


@pytest.mark.parametrize("trajectory", [exact(), lay_out_foreign(generations())], ids=["exact", "foreign"])
def test_a_layout_cut_off_behind_a_claim_scores_it_like_the_whole_one(trajectory):
    scorer = HashScorer()
    for number, claim in enumerate(trajectory.claims):
        states = every_mask(claim.units)[:: 1 + 7 * (claim.units > 4)]
        whole = np.full((len(states), len(trajectory.units)), PRESENT, dtype=np.uint8)
        whole[:, : claim.units] = states
        cut = TrajectoryScores(trajectory, scorer, None).alone(claim.target)
        width = len(cut.trajectory.layout.units)
        alone = np.array(cut.under(whole[:, :width]))[:, 0]
        full = np.array(TrajectoryScores(trajectory, scorer, None).under(whole))[:, number]
        assert alone.tolist() == full.tolist()
        assert len(cut.trajectory.layout.ids) == trajectory.layout.targets[claim.target].stop


def test_a_language_model_agrees_to_the_precision_of_statements(tiny: LanguageModel):
    (trajectory,) = tiny_record(tiny)
    scorer = TransformersScorer(tiny)
    claim = trajectory.claims[1]
    states = every_mask(claim.units)[::20]
    cut = TrajectoryScores(trajectory, scorer, None).alone(claim.target)
    alone = np.array(cut.under(states))[:, 0]
    full = np.array(TrajectoryScores(trajectory, scorer, None).under(states))[:, 1]
    np.testing.assert_allclose(alone, full, atol=1e-4)


def tiny_record(tiny: LanguageModel) -> tuple[Trajectory, ...]:
    from attribution.trajectory import exact_trajectories

    return exact_trajectories(
        two_step_record(),
        FOILS,
        tokenize=lambda text: tuple(text.encode()),
        token_bytes=lambda token: bytes([token]),
        context_window=tiny.context_window,
    )


def test_the_cut_layout_holds_only_what_the_claim_sees():
    trajectory = lay_out_foreign(generations())
    layout = keep_targets(trajectory.layout, (1,))  # the tool call, whose result comes after it
    assert text_of(layout.ids).endswith('{"name": "look"}')
    assert [unit.key for unit in layout.units] == ["q1", "say", "result"]
    assert len(layout.units[2].swap) == 1
    assert len(layout.targets) == 1


def test_a_claims_score_is_its_log_odds_against_its_foils_given_the_surviving_tokens():
    trajectory = exact()
    scorer = HashScorer()
    states = np.array([[SWAPPED, DELETED, PRESENT, PRESENT]], dtype=np.uint8)
    assert text_of(tuple(seen_before(trajectory.layout, states[0], 0))) == "N:van is tan."
    table = scorer.score(trajectory.layout, _block(scorer, trajectory, states))[0]
    claim, foil = trajectory.layout.scored[:2]
    # "red van." and "tan van." differ in their first byte.
    expected = table[claim.start : claim.stop].sum() - table[foil.start : foil.stop].sum()
    (odds,) = TrajectoryScores(trajectory, scorer, None).under(states)
    assert odds[0] == pytest.approx(expected, abs=1e-12)


def _block(scorer, trajectory, states):
    from attribution.blocks import make_blocks

    (block,) = make_blocks(scorer, trajectory.layout, states)
    return block


def test_masks_scored_for_all_claims_serve_every_claim_by_their_beginning():
    trajectory, scorer = exact(), HashScorer()
    scores = TrajectoryScores(trajectory, scorer, None)
    scores.require(every_mask(4))
    games = [ClaimGame(scores, claim) for claim in trajectory.claims]
    asked = [game.values(every_mask(game.units)) for game in games]
    assert len(scorer.blocks) == 2  # 81 masks in blocks of 64, and not one for a claim alone
    assert [len(values) for values in asked] == [9, 81]
    fresh = ClaimGame(TrajectoryScores(trajectory, HashScorer(), None), trajectory.claims[0])
    assert asked[0].tolist() == fresh.values(every_mask(2)).tolist()


def test_other_masks_are_scored_for_the_claim_alone_and_only_once():
    trajectory, scorer = exact(), HashScorer()
    scores = TrajectoryScores(trajectory, scorer, None)
    scores.require(np.array([[1, 1, 1, 1]], dtype=np.uint8))
    game = ClaimGame(scores, trajectory.claims[0])
    asked = np.array([[0, 1], [1, 1], [0, 1]], dtype=np.uint8)
    first = game.values(asked)
    assert first[0] == first[2]
    assert [(len(layout.ids), block.states.tolist()) for layout, block in scorer.blocks] == [
        (54, [[1, 1, 1, 1]]),
        (33, [[0, 1, 1]]),
    ]
    assert game.values(asked).tolist() == first.tolist()
    assert len(scorer.blocks) == 2


def test_masks_known_only_later_are_found_too():
    trajectory, scorer = exact(), HashScorer()
    scores = TrajectoryScores(trajectory, scorer, None)
    assert scores.known(bytes([1, 0])) is None
    scores.require(np.array([[1, 0, 1, 1]], dtype=np.uint8))
    assert scores.known(bytes([1, 0])) is not None
    assert scores.known(bytes([0, 0])) is None


def test_a_second_attempt_asks_for_the_same_blocks_and_finds_them_all(tmp_path):
    results = []
    for scorer in (HashScorer(), HashScorer()):
        scores = TrajectoryScores(exact(), scorer, BlockCache(tmp_path))
        scores.require(every_mask(4)[::3])
        game = ClaimGame(scores, exact().claims[1])
        results.append(game.values(every_mask(4)).tolist())
        counted = len(scorer.blocks)
    assert results[0] == results[1]
    assert counted == 0


def test_a_claim_over_no_units_has_one_score():
    (trajectory,) = lay_out(exact_generation("r", 0, [(None, "N:")], "red.", [("c", 0, 4)]))
    scores = TrajectoryScores(trajectory, HashScorer(), None)
    game = ClaimGame(scores, trajectory.claims[0])
    assert game.units == 0
    (value,) = game.values(np.zeros((1, 0), dtype=np.uint8))
    assert value == scores.under(np.ones((1, len(trajectory.units)), dtype=np.uint8))[0][0]
