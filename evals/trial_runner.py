"""Reads one scenario's statements through one arm, asks the agent, and logs what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evals.agents.base import Agent, Answer, Choice, Fault
from evals.arms import Arm
from evals.compaction import Folded, SummaryError, folded_lines, groups_of, summary_of
from evals.counts import counts_of
from evals.errors import ArmError, ScenarioError
from evals.matcher import read_answer
from evals.prompts import (
    INSTRUCTIONS,
    AssembledPrompt,
    Line,
    Tokenizer,
    assemble,
    context_segments,
    question_segments,
)
from evals.reading import Known, read
from evals.scenario_log import ScenarioLog, belief_under
from evals.scenarios import Question, Scenario
from evals.trials import ForcedChoice, Outcome, TrialRecord
from ledger_core.belief.state import BeliefState
from ledger_core.harness.render import context_entries
from ledger_core.kernel import digests
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.types import PPM

__all__ = ["ScenarioLog", "Trial", "belief_under", "prompt_of", "run_trial", "trial_of"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A logged trial and the exact prompt it was asked with."""

    record: TrialRecord
    prompt: AssembledPrompt
    prompt_text: str
    answer_ids: tuple[int, ...]
    """Generated token ids; empty where the agent failed or does not know them."""


def prompt_of(
    log: ScenarioLog, arm: Arm, tokenizer: Tokenizer, policy: Policy, agent: object = None
) -> tuple[AssembledPrompt, list[Line]]:
    """The exact prompt of a scenario's question under an arm, and the lines it shows.

    Args:
        log: the scenario as logged.
        arm: the row of the table.
        tokenizer: the model's.
        policy: the policy in force; the arm may ask for a stricter one.
        agent: who sums up its notes, where the arm's compaction is a summary and the scenario is folded.

    Raises:
        ScenarioError: the scenario asks nothing.
        ArmError: the arm reads measured edges and a claim was not measured.
        SummaryError: the agent gave no summary.
    """
    return _prompt(log, arm, tokenizer, _state(log, arm, policy), agent)


def _prompt(
    log: ScenarioLog, arm: Arm, tokenizer: Tokenizer, state: BeliefState, agent: object
) -> tuple[AssembledPrompt, list[Line]]:
    question = _question(log.scenario)
    entries = context_entries(state, log.statements, log.texts)
    known = _known(log, question)
    lines = read(arm, entries, known=known)
    if log.scenario.folds:
        best = read(replace(arm, order="renderer"), entries, known=known)
        folded = Folded(
            corrections=frozenset(log.entry_ids[key] for key in log.scenario.corrections),
            ranks={line.key: rank for rank, line in enumerate(best) if line.key is not None},
            summarise=lambda notes: summary_of(notes, agent, tokenizer),
        )
        lines = folded_lines(arm.compaction, groups_of(log.scenario, lines, log.entry_ids), folded)
    segments = (
        *context_segments(lines, INSTRUCTIONS[arm.instruction]),
        *question_segments(question.text, question.stem),
    )
    return assemble(segments, tokenizer), list(lines)


def _state(log: ScenarioLog, arm: Arm, policy: Policy) -> BeliefState:
    if arm.edges == "measured" and log.unmeasured:
        raise ArmError(
            f"arm {arm.display} reads measured edges, and {len(log.unmeasured)} claims of scenario {log.scenario.id} have "
            f"none ({log.unmeasured[0]}); measure them first, or leave the arm out for family {log.scenario.family}"
        )
    return belief_under(log, _POLICIES[arm.policy](policy), arm.edges)


_POLICIES: Mapping[str, Callable[[Policy], Policy]] = MappingProxyType(
    {
        "in-force": lambda policy: policy,
        "strict": lambda policy: policy.model_copy(update={"undeclared_context_ppm": PPM}),
    }
)


def _known(log: ScenarioLog, question: Question) -> Known:
    return Known(
        falsehoods=frozenset(log.entry_ids[key] for key in log.scenario.falsehoods),
        label=log.scenario.digest,
        kind=question.kind,
        vocabulary=question.vocabulary,
    )


def run_trial(log: ScenarioLog, arm: Arm, agent: Agent, tokenizer: Tokenizer, policy: Policy) -> Trial:
    """One trial; what fails in the agent becomes an outcome, not an exception.

    Raises:
        ScenarioError: the scenario asks nothing.
        ArmError: the arm reads measured edges and a claim was not measured.
    """
    state = _state(log, arm, policy)
    answer: Answer | Fault
    try:
        prompt, lines = _prompt(log, arm, tokenizer, state, agent)
    except SummaryError as fault:
        prompt, lines, answer = fault.prompt, [], Fault(f"no summary: {fault}")
    else:
        answer = agent.answer(prompt)
    question = _question(log.scenario)
    record = _record(log, arm, prompt, lines, answer)
    if isinstance(answer, Answer):
        reading = read_answer(question.expected, answer.text)
        record = replace(record, forced_choice=_forced_choice(agent, prompt, question, reading.own_stem))
    record = replace(record, **counts_of(log, state, arm))
    return Trial(record, prompt, _text_of(lines, question), () if isinstance(answer, Fault) else answer.ids)


def trial_of(
    log: ScenarioLog, arm: Arm, record: TrialRecord, agent: object, tokenizer: Tokenizer, policy: Policy
) -> Trial:
    """A trial that was logged before, with its prompt made again and nothing asked; it is not re-rolled.

    Raises:
        ArmError: the arm reads measured edges and a claim was not measured.
    """
    try:
        prompt, lines = _prompt(log, arm, tokenizer, _state(log, arm, policy), agent)
    except SummaryError as fault:
        prompt, lines = fault.prompt, []
    return Trial(record, prompt, _text_of(lines, _question(log.scenario)), ())


def _text_of(lines: Sequence[Line], question: Question) -> str:
    return "\n".join((*(line.text for line in lines), f"{question.text}", question.stem))


def _record(
    log: ScenarioLog, arm: Arm, prompt: AssembledPrompt, lines: Sequence[Line], answer: Answer | Fault
) -> TrialRecord:
    scenario = log.scenario
    text = None if isinstance(answer, Fault) else answer.text
    expected = _question(scenario).expected
    return TrialRecord(
        scenario_id=scenario.id,
        family=scenario.family,
        wording=scenario.wording,
        premise_order=scenario.order,
        variant=scenario.variant,
        arm=arm.display,
        repeat=0,
        outcome=Outcome.ERROR if text is None else read_answer(expected, text).outcome,
        attempts=answer.attempts,
        answer_digest=digests.body_hex((text or "").encode("utf-8", "replace")),
        answer=text,
        forced_choice=None,
        prompt_digest=prompt.digest,
        fault=answer.reason if isinstance(answer, Fault) else None,
        correction_in_context=_corrected(log, lines),
    )


def _corrected(log: ScenarioLog, lines: Sequence[Line]) -> bool | None:
    """Whether a correction is shown, or a line of several entries states the true value; None where nothing corrects."""
    corrections = {log.entry_ids[key] for key in log.scenario.corrections}
    if not corrections:
        return None
    expected = _question(log.scenario).expected
    asserting = {Outcome.ASSERTS_TRUE, Outcome.ASSERTS_BOTH}
    return any(
        line.key in corrections if line.key is not None else read_answer(expected, line.text).outcome in asserting
        for line in lines
    )


def _question(scenario: Scenario) -> Question:
    if scenario.question is None:
        raise ScenarioError(f"scenario {scenario.id} asks nothing; it has no trial")
    return scenario.question


def _forced_choice(agent: Agent, prompt: AssembledPrompt, question: Question, own_stem: str) -> ForcedChoice | None:
    candidates: dict[ForcedChoice, Sequence[str]] = {"true": (question.true,), "third": question.third}
    if question.false is not None:
        candidates["false"] = (question.false,)
    choice = agent.forced_choice(prompt, own_stem, candidates)
    return choice.preferred if isinstance(choice, Choice) else None
