"""Reads one scenario's statements through one arm, asks the agent, and logs what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evals.agents.base import Agent, Choice, Fault
from evals.arms import Arm, EdgeSource
from evals.lexical import kept_parents
from evals.matcher import read_answer
from evals.prompts import AssembledPrompt, Line, Tokenizer, assemble, context_segments, question_segments
from evals.reading import Known, read
from evals.scenarios import Question, Scenario
from evals.scenarios.attacks import QUORUM_FAMILIES
from evals.trials import ForcedChoice, Outcome, TrialRecord
from ledger_core.belief.fold import fold
from ledger_core.belief.state import BeliefState, FoldOptions, Hyperedge
from ledger_core.harness.render import context_entries
from ledger_core.kernel import digests
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import CLAIM_KINDS, Statement
from ledger_core.kernel.types import EventId


@dataclass(frozen=True, slots=True)
class ScenarioLog:
    """A scenario with the statements it became."""

    scenario: Scenario
    statements: tuple[Statement, ...]
    """As logged; measurements among them count only where an arm reads them."""
    entry_ids: Mapping[str, EventId]
    """Scenario key -> entry."""

    @property
    def texts(self) -> dict[EventId, str]:
        """Texts of the entries still in the context when the question is put."""
        return {self.entry_ids[key]: self.scenario.entry(key).text for key in self.scenario.in_context}


@dataclass(frozen=True, slots=True)
class Trial:
    """A logged trial and the exact prompt it was asked with."""

    record: TrialRecord
    prompt: AssembledPrompt
    prompt_text: str
    answer_ids: tuple[int, ...]
    """Generated token ids; empty where the agent failed or does not know them."""


def belief_under(log: ScenarioLog, policy: Policy, edges: EdgeSource) -> BeliefState:
    """The fold of the scenario's statements over an arm's edges."""
    return fold(log.statements, policy, _options(log, edges))


def _options(log: ScenarioLog, edges: EdgeSource) -> FoldOptions:
    if edges == "declared-and-lexical":
        return FoldOptions(measured=False, hyperedges=_lexical_edges(log))
    return FoldOptions(measured=edges == "measured")


def _lexical_edges(log: ScenarioLog) -> dict[EventId, tuple[Hyperedge, ...]]:
    texts = {log.entry_ids[entry.key]: entry.text for entry in log.scenario.entries}
    edges: dict[EventId, tuple[Hyperedge, ...]] = {}
    for statement in log.statements:
        if statement.kind not in CLAIM_KINDS:
            continue
        weights = {EventId(parent.entry): parent.ppm for parent in statement.body.parents}  # type: ignore[union-attr]
        kept = kept_parents(texts[statement.event_id], [(str(key), texts[key]) for key in weights])
        edges[statement.event_id] = tuple(
            Hyperedge((EventId(key),), weights[EventId(key)]) for key in kept if weights[EventId(key)]
        )
    return edges


def prompt_of(log: ScenarioLog, arm: Arm, tokenizer: Tokenizer, policy: Policy) -> tuple[AssembledPrompt, list[Line]]:
    """The exact prompt of a scenario's question under an arm, and the lines it shows."""
    state = belief_under(log, policy, arm.edges)
    question = _question(log.scenario)
    lines = read(arm, context_entries(state, log.statements, log.texts), known=_known(log, question))
    segments = (*context_segments(lines), *question_segments(question.text, question.stem))
    return assemble(segments, tokenizer), list(lines)


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
    """
    scenario = log.scenario
    state = belief_under(log, policy, arm.edges)
    question = _question(scenario)
    prompt, lines = prompt_of(log, arm, tokenizer, policy)
    answer = agent.answer(prompt)
    shown = {line.key for line in lines}
    corrections = {log.entry_ids[key] for key in scenario.corrections}
    text = None if isinstance(answer, Fault) else answer.text
    reading = None if text is None else read_answer(question.expected, text)
    record = TrialRecord(
        scenario_id=scenario.id,
        family=scenario.family,
        wording=scenario.wording,
        premise_order=scenario.order,
        variant=scenario.variant,
        arm=arm.display,
        repeat=0,
        outcome=Outcome.ERROR if reading is None else reading.outcome,
        answer_digest=digests.body_hex((text or "").encode("utf-8", "replace")),
        answer=text,
        forced_choice=None if reading is None else _forced_choice(agent, prompt, question, reading.own_stem),
        prompt_digest=prompt.digest,
        fault=answer.reason if isinstance(answer, Fault) else None,
        correction_in_context=bool(corrections & shown) if corrections else None,
    )
    counts = (count(log, state, arm) for count in (_cascade_counts, _edge_counts, _quorum_counts, _guess_counts))
    record = replace(record, **{name: value for counted in counts for name, value in counted.items()})
    body = "\n".join((*(line.text for line in lines), f"{question.text}", question.stem))
    return Trial(record, prompt, body, () if isinstance(answer, Fault) else answer.ids)


def _question(scenario: Scenario) -> Question:
    if scenario.question is None:
        from evals.errors import ScenarioError

        raise ScenarioError(f"scenario {scenario.id} asks nothing; it has no trial")
    return scenario.question


def _forced_choice(agent: Agent, prompt: AssembledPrompt, question: Question, own_stem: str) -> ForcedChoice | None:
    candidates: dict[ForcedChoice, Sequence[str]] = {"true": (question.true,), "third": question.third}
    if question.false is not None:
        candidates["false"] = (question.false,)
    choice = agent.forced_choice(prompt, own_stem, candidates)
    return choice.preferred if isinstance(choice, Choice) else None


def _cascade_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """What the reading's cascade does to claims that should stand and to claims that should fall.

    Undefined for a reading without a cascade: nothing retracted, or by an oracle.
    """
    scenario = log.scenario
    if arm.retraction != "used" or not scenario.is_judged or not scenario.claims:
        return {}
    standing = {key for key in log.entry_ids if not state.entries[log.entry_ids[key]].invalidated}
    return {
        "true_claims": len(scenario.true_claims),
        "true_claims_invalidated": len(set(scenario.true_claims) - standing),
        "dependents": len(scenario.dependents),
        "dependents_left_standing": len(set(scenario.dependents) & standing),
    }


def _edge_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """How the arm's edges compare with the planted ones."""
    scenario = log.scenario
    if not scenario.claims or arm.context == "flat":
        return {}
    planted = {(log.entry_ids[parent], log.entry_ids[claim]) for parent, claim in scenario.planted_edges}
    claims = {log.entry_ids[claim.key] for claim in scenario.claims}
    found = {(parent, claim) for claim in claims for edge in state.entries[claim].hyperedges for parent in edge.parents}
    return {
        "planted_edges": len(planted),
        "planted_edges_found": len(planted & found),
        "claims_measured": len(claims),
        "claims_with_false_edge": len({claim for parent, claim in found - planted}),
    }


def _quorum_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """Whether the quorum let an attack through, or counted two honest witnesses as one."""
    scenario = log.scenario
    if arm.context == "flat" or scenario.family not in QUORUM_FAMILIES:
        return {}
    passed = all(log.entry_ids[target] in state.retractions for target in scenario.retracted)
    if scenario.is_attack:
        return {"attacks": 1, "attacks_passed": int(passed)}
    return {"honest_pairs": 1, "honest_pairs_merged": int(not passed)}


def _guess_counts(log: ScenarioLog, state: BeliefState, arm: Arm) -> dict[str, Any]:
    """Guesses, and claims that rest on one, against the least believed of the observations that the scenario seals."""
    scenario = log.scenario
    guesses = scenario.guesses
    if arm.context == "flat" or not guesses:
        return {}
    sealed = [state.entries[log.entry_ids[entry.key]].belief or 0 for entry in scenario.entries if entry.kind == "seal"]
    above = [key for key in guesses if (state.entries[log.entry_ids[key]].belief or 0) >= min(sealed)]
    return {"guesses": len(guesses), "guesses_laundered": len(above)}
