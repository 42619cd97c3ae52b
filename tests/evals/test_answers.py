"""An answer as the only claim of its exact prompt, against the other values it could have held."""

from __future__ import annotations

import pytest

from evals.answers import answer_foils, answer_trajectory
from evals.arms import arm
from evals.scenarios import generate
from evals.trial_runner import prompt_of
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from tests.evals.byte_model import byte_model, shown
from tests.evals.test_trial_runner import logged

(SCENARIO,) = generate("planted-premise", 1, 0)
QUESTION = SCENARIO.question


def laid_out(tmp_path, said: bytes, answer: str, name: str = "1"):
    model = byte_model(tmp_path)
    log = logged(SCENARIO, model)
    prompt, lines = prompt_of(log, arm(name), model, SEED_V4_CLUSTERS)
    swaps = {str(event): SCENARIO.entry(key).swap for key, event in log.entry_ids.items()}
    trajectory = answer_trajectory(model, "s/1", prompt, lines, answer, tuple(said), QUESTION, swaps)
    return trajectory, prompt, log


def test_the_answer_is_scored_behind_the_prompt_it_was_given_to(tmp_path):
    trajectory, prompt, log = laid_out(tmp_path, b" potatoes.", " potatoes.")
    (claim,) = trajectory.claims
    target = trajectory.layout.targets[0]
    assert trajectory.layout.ids == (*prompt.ids, *b" potatoes.")
    assert (target.start, target.stop) == (len(prompt.ids), len(prompt.ids) + 10)
    assert [unit.named for unit in trajectory.units] == [log.entry_ids[key] for key in SCENARIO.in_context]
    assert (claim.units, claim.contrasted, trajectory.fidelity) == (5, True, "exact")


def test_its_foils_are_the_answer_with_every_other_value(tmp_path):
    trajectory, _, _ = laid_out(tmp_path, b" potatoes, of course.", " potatoes, of course.")
    assert [shown(foil) for foil in trajectory.layout.targets[0].foils] == [
        f" {value}, of course." for value in ("carrots", *QUESTION.third)
    ]


def test_text_after_the_answer_is_laid_out_and_not_attributed(tmp_path):
    trajectory, prompt, _ = laid_out(tmp_path, b" potatoes. The sea", " potatoes.")
    target = trajectory.layout.targets[0]
    assert (len(trajectory.layout.ids) - len(prompt.ids), target.stop - target.start) == (18, 10)


@pytest.mark.parametrize("tail", [b"\xe2\x82", b"\xff\xfe", b"\xf0\x9f\x98"])
def test_an_answer_that_was_cut_off_inside_a_character_is_measured_all_the_same(tmp_path, tail):
    said = b" potatoes " + tail
    trajectory, prompt, _ = laid_out(tmp_path, said, said.decode("utf-8", "replace"))
    assert trajectory.layout.targets[0].stop == len(prompt.ids) + len(said)


def test_an_arm_that_shows_less_has_fewer_units(tmp_path):
    trajectory, _, log = laid_out(tmp_path, b" potatoes.", " potatoes.", name="1o")
    assert [unit.named for unit in trajectory.units] == [
        log.entry_ids[key] for key in ("filler", "correction-a", "correction-b")
    ]


def test_swaps_are_the_scenarios_own_and_keep_the_line_break(tmp_path):
    trajectory, _, _ = laid_out(tmp_path, b" potatoes.", " potatoes.")
    premise = SCENARIO.entry("premise")
    swap = shown(trajectory.layout.units[0].swap[0])
    assert swap == (premise.swap + " There is nothing")[: len(premise.text)] + "\n"


def test_an_answer_that_asserts_no_value_has_no_foils():
    assert answer_foils(" I do not know.", QUESTION) == ()


def test_the_first_asserted_value_is_exchanged():
    assert answer_foils(" not carrots, but potatoes.", QUESTION) == tuple(
        f" not carrots, but {value}." for value in ("carrots", *QUESTION.third)
    )
