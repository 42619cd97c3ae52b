"""Folds: what each policy keeps, by hand; a summary that fails is the trial's outcome."""

from __future__ import annotations

import pytest

from evals.agents.base import Answer, Fault
from evals.agents.scripted import ScriptedAgent
from evals.arms import ARMS, arm
from evals.compaction import COMPACTIONS, KEPT_LINES, Folded, SummaryError, folded_lines, groups_of, summary_of
from evals.compaction.summary import INSTRUCTION, REQUEST, STEM
from evals.prompts import Line
from evals.scenarios import generate
from evals.trial_runner import prompt_of, run_trial
from evals.trials import Outcome
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from tests.evals.byte_model import byte_model, shown
from tests.evals.recorded import logged

PREMISE_FIRST, CORRECTIONS_FIRST = generate("compaction", 2, 0, "folds-5")
if PREMISE_FIRST.order != "premise-first":
    PREMISE_FIRST, CORRECTIONS_FIRST = CORRECTIONS_FIRST, PREMISE_FIRST
ONCE = generate("compaction", 1, 0, "folds-1")[0]


def lines(*names: str) -> tuple[Line, ...]:
    return tuple(Line(name, f"Text of {name}.") for name in names)


def refused(notes) -> Line:
    raise AssertionError(f"nobody asked for a summary of {notes}")


KNOWN = Folded(corrections=frozenset({"c"}), ranks={"c": 0, "a": 3, "b": 2, "d": 1, "e": 4, "f": 5}, summarise=refused)
FOLDED = (lines("a", "b", "c"), lines("d", "e"), lines("f"))


class Summing(ScriptedAgent):
    """Sums up as it is told and counts how often it is asked."""

    def __init__(self, said):
        super().__init__(lambda _: " oats.")
        self.said = said
        self.prompts = []

    def summarise(self, prompt):
        self.prompts.append(prompt)
        return self.said if isinstance(self.said, Fault) else Answer(self.said, ())


@pytest.mark.parametrize("policy", sorted(COMPACTIONS))
def test_a_context_that_was_never_folded_is_as_it_was(policy):
    assert folded_lines(policy, (lines("a", "c"),), KNOWN) == lines("a", "c")


@pytest.mark.parametrize(
    ("policy", "kept"),
    [("trim", "bcdef"), ("drop-corrections", "abdef"), ("regenerate", "abcdf")],
)
def test_what_is_kept_at_two_folds(policy, kept):
    assert folded_lines(policy, FOLDED, KNOWN) == lines(*kept)


def test_both_that_have_a_budget_keep_equally_many_lines():
    grown = (lines("a", "b", "c", "d", "e", "f"), ())
    kept = {policy: folded_lines(policy, grown, KNOWN) for policy in ("trim", "regenerate")}
    assert {len(left) for left in kept.values()} == {KEPT_LINES}
    assert kept["trim"] == lines("c", "d", "e", "f")
    assert kept["regenerate"] == lines("a", "b", "c", "d")


def test_a_summary_sums_up_the_one_before_it_with_what_came_since():
    asked = []

    def summed(notes):
        asked.append([line.text for line in notes])
        return Line(None, f"summary {len(asked)}")

    known = Folded(KNOWN.corrections, KNOWN.ranks, summed)
    assert folded_lines("summary", FOLDED, known) == (Line(None, "summary 2"), *lines("f"))
    assert asked == [
        ["Text of a.", "Text of b.", "Text of c."],
        ["summary 1", "Text of d.", "Text of e."],
    ]


def test_entries_are_grouped_by_the_fold_before_which_they_came():
    keys = {entry.key: entry.key for entry in PREMISE_FIRST.entries}
    groups = groups_of(PREMISE_FIRST, lines(*keys), keys)
    names = [[line.key for line in group] for group in groups]
    assert names == [
        ["premise", "claim-1", "correction-a", "correction-b", "filler-1", "filler-2"],
        *([f"filler-{2 * fold + 1}", f"filler-{2 * fold + 2}"] for fold in range(1, 5)),
        [],
    ]


@pytest.fixture
def model(tmp_path):
    return byte_model(tmp_path)


def kept_by(scenario, name, model, agent=None) -> list[str | None]:
    log = logged(scenario, model)
    names = {event: key for key, event in log.entry_ids.items()}
    _, found = prompt_of(log, arm(name), model, SEED_V4_CLUSTERS, agent)
    return [None if line.key is None else names[line.key] for line in found]


CORRECTIONS = ["correction-a", "correction-b"]


def test_after_five_folds_the_flat_context_has_forgotten_and_the_ledger_has_not(model):
    last = ["filler-7", "filler-8", "filler-9", "filler-10"]
    assert kept_by(PREMISE_FIRST, "1", model) == last
    assert kept_by(CORRECTIONS_FIRST, "1", model) == last
    assert [key for key in kept_by(PREMISE_FIRST, "2", model) if key in {"premise", *CORRECTIONS}] == CORRECTIONS
    assert [key for key in kept_by(CORRECTIONS_FIRST, "2", model) if key in {"premise", *CORRECTIONS}] == CORRECTIONS
    assert len(kept_by(PREMISE_FIRST, "2", model)) == KEPT_LINES


def test_with_nothing_retracted_the_ledger_keeps_the_falsehood_beside_its_corrections(model):
    kept = kept_by(PREMISE_FIRST, "2k", model)
    assert {"claim-1", *CORRECTIONS} <= set(kept)


def test_the_scripted_bound_loses_the_corrections_and_nothing_else(model):
    everything = [entry.key for entry in PREMISE_FIRST.entries]
    assert kept_by(PREMISE_FIRST, "1w", model) == [key for key in everything if key not in CORRECTIONS]


def test_every_other_arm_reads_a_scenario_without_folds_as_before(model):
    planted = generate("planted-premise", 1, 0)[0]
    assert kept_by(planted, "1w", model) == kept_by(planted, "1m", model) == kept_by(planted, "1", model)


def test_a_summary_is_a_line_of_the_template_that_the_next_prompt_shows(model):
    agent = Summing("The farm\n grows corn.")
    log = logged(ONCE, model)
    trial = run_trial(log, arm("1m"), agent, model, SEED_V4_CLUSTERS)
    (asked,) = agent.prompts
    assert shown(asked.ids).startswith(f"<system\n{INSTRUCTION}>\n<user\nNotes:\n")
    assert shown(asked.ids).endswith(f"Question: {REQUEST}>\n<assistant\n{STEM}")
    assert asked.keys == tuple(log.entry_ids[entry.key] for entry in ONCE.entries)
    assert f"Notes:\n{STEM} The farm grows corn.\nQuestion: " in shown(trial.prompt.ids)
    assert trial.prompt.keys == ()


@pytest.mark.parametrize("stated", [True, False])
def test_whether_a_summary_still_states_the_correction_is_recorded(model, stated):
    question = ONCE.question
    agent = Summing(f"{question.stem} {question.true}." if stated else "There is a quay.")
    record = run_trial(logged(ONCE, model), arm("1m"), agent, model, SEED_V4_CLUSTERS).record
    assert record.correction_in_context is stated


@pytest.mark.parametrize(("said", "fault"), [(Fault("the server is gone"), "the server is gone"), ("  \n", "empty")])
def test_a_summary_that_fails_is_the_outcome_of_its_trial(model, said, fault):
    trial = run_trial(logged(ONCE, model), arm("1m"), Summing(said), model, SEED_V4_CLUSTERS)
    assert trial.record.outcome is Outcome.ERROR
    assert fault in trial.record.fault
    assert trial.record.answer is None
    assert len(trial.record.prompt_digest) == 64


def test_an_agent_that_cannot_sum_up_says_so(model):
    with pytest.raises(SummaryError, match="cannot sum up notes; leave out the arms whose compaction is `summary`"):
        summary_of(lines("a"), ScriptedAgent(lambda _: ""), model)


def test_every_arm_names_a_policy_that_there_is():
    assert {row.compaction for row in ARMS.values()} == set(COMPACTIONS)
    assert {name for name, row in ARMS.items() if row.context == "ledger"} == {
        name for name, row in ARMS.items() if row.compaction == "regenerate"
    }
