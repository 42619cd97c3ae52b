"""What a suite would cost, before anything of it is run: its very prompts are made, each distinct one counted once.

Ablations of claims are laid out as the scorer will share their prefixes. Scenarios are recorded in memory by a stand-in that
says each claim without running the model. Measured edges are read as the declared ones and two witnesses as independent where
their hosts differ, so a few prompts differ from those of the run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from attribution.measurement import Measurer
from attribution.models.decoding import Constrained
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory import Claim, Generation, Wording, exact_trajectories
from evals.agents.base import Answer
from evals.agents.local import MAX_SUMMARY_TOKENS
from evals.answers import context_items
from evals.arms import arm
from evals.prompts import TEMPLATE, Line, assemble, context_segments
from evals.recorder import ScenarioRecorder
from evals.scenario_log import ScenarioLog
from evals.trial_runner import prompt_of
from ledger_core.belief.policies import CLUSTER_RECIPE
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from pipelines.cost import ANSWER_TOKENS, PROBE_TOKENS, Estimate, resident_mib
from pipelines.stages.attribution import shipped_floors
from pipelines.stages.scenarios import arms_of, is_measured, planned_scenarios
from pipelines.suite import RUN_POLICIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attribution.models import ChatPieces, LanguageModel, ModelFiles
    from evals.prompts import AssembledPrompt
    from evals.scenarios import Scenario, ScenarioEntry
    from pipelines.workspace import Workspace

_CHOICE_STEPS = 2
"""A forced choice reads the model's own stem once and then all values side by side."""
_DECODED = 16
"""Tokens that are generated to time one."""
_ANSWER_MASKS = 32
"""Masks of a persisted answer that is attributed: a cube over five entries."""


@dataclass
class _Work:
    """What was counted so far."""

    passes: int = 0
    tokens: int = 0
    """Read in whole passes."""
    steps: int = 0
    """Generated one by one."""
    seen: set[str] = field(default_factory=set)
    longest: int = 0

    def read(self, tokens: int, times: int = 1) -> None:
        self.passes += times
        self.tokens += tokens * times

    def say(self, tokens: int, steps: int) -> None:
        self.read(tokens)
        self.steps += steps


class _StandIn:
    """The model's tokenizer and name; what it is made to say it says, and only the work is counted."""

    def __init__(self, model: LanguageModel, work: _Work) -> None:
        self.files: ModelFiles = model.files
        self.tokenize = model.tokenize
        self.chat_template_pieces: ChatPieces = model.chat_template_pieces
        self._work = work

    def constrained(self, prompt_ids: Sequence[int], response_ids: Sequence[int]) -> Constrained:
        self._work.read(len(prompt_ids) + len(response_ids))
        return Constrained(0.0, tuple(response_ids), None)

    def summarise(self, prompt: AssembledPrompt) -> Answer:
        """As long as a summary may be; equal prompts are summed up once."""
        if prompt.digest not in self._work.seen:
            self._work.seen.add(prompt.digest)
            self._work.say(len(prompt.ids), MAX_SUMMARY_TOKENS)
        return Answer(f"{prompt.digest[:8]} {'note ' * (MAX_SUMMARY_TOKENS // 2)}", ())


def estimate_suite(at: Workspace) -> Estimate:
    """Cost of an evaluation: recording, measuring, asking, and attributing the answers that persist."""
    plan, model, work = at.run.plan, at.model(), _Work()
    policy = RUN_POLICIES[plan.policy].model_copy(update={"independence_recipe": CLUSTER_RECIPE})
    stand_in = _StandIn(model, work)
    measurer = Measurer(
        TransformersScorer(model),
        at.floors or shipped_floors(),
        weights_digest=model.files.weights_digest,
        template=TEMPLATE,
        cache=at.blocks,
    )
    with Ledger.in_memory(plan.scope, now=at.now, policy=policy, policy_name=plan.policy) as ledger:
        recorder = ScenarioRecorder(ledger, cast("LanguageModel", stand_in))  # what of a model recording needs
        for scenario in planned_scenarios(at):
            before = ledger.count()
            parts = recorder.record(scenario)
            keys = {
                part.part.removeprefix("entry/"): EventId(part.event_id)
                for part in parts
                if part.part.startswith("entry/")
            }
            log = ScenarioLog(scenario, tuple(event.statement for event in ledger.events(after=before)), keys)
            if is_measured(at, scenario):
                _measure(scenario, model, measurer, work)
            for name in arms_of(at, scenario):
                row = replace(arm(name), edges="declared")
                prompt, _ = prompt_of(log, row, stand_in, policy, stand_in)
                _ask(prompt, work)
    work.read(work.longest, plan.answers_measured * _ANSWER_MASKS)
    return _priced(model, work)


def _ask(prompt: AssembledPrompt, work: _Work) -> None:
    """An answer, and a forced choice that reads on from it; equal prompts get equal answers and are asked once."""
    if prompt.digest in work.seen:
        return
    work.seen.add(prompt.digest)
    work.longest = max(work.longest, len(prompt.ids))
    work.say(len(prompt.ids), ANSWER_TOKENS)
    work.steps += _CHOICE_STEPS


def _measure(scenario: Scenario, model: LanguageModel, measurer: Measurer, work: _Work) -> None:
    """The masks of its claims, shared prefixes read once."""
    wording = Wording(
        {claim.key: claim.foils for claim in scenario.claims}, {entry.key: entry.swap for entry in scenario.entries}
    )
    for trajectory in exact_trajectories(
        [_generation(scenario, claim, model) for claim in scenario.claims],
        wording,
        tokenize=model.tokenize,
        token_bytes=model.token_bytes,
        context_window=model.context_window,
    ):
        masks, tokens = measurer.sure_work(trajectory)
        work.passes += masks
        work.tokens += tokens


def _generation(scenario: Scenario, claim: ScenarioEntry, model: LanguageModel) -> Generation:
    """A claim and the context that it was said in."""
    before = scenario.entries[: scenario.entries.index(claim)]
    prompt = assemble(context_segments([Line(entry.key, entry.text) for entry in before]), model)
    texts = {entry.key: entry.text for entry in before}
    return Generation(
        event_id=claim.key,
        record=scenario.id,
        step=len(before),
        context=context_items(prompt, texts),
        response=claim.text,
        claims=(Claim(claim.key, 0, len(claim.text.encode()), "sentence"),),
        prompt_ids=prompt.ids,
        response_ids=model.tokenize(claim.text),
        weights_digest=None,
    )


def _priced(model: LanguageModel, work: _Work) -> Estimate:
    a_pass = model.seconds_per_pass(PROBE_TOKENS)
    prompt = tuple(range(PROBE_TOKENS))
    began = time.perf_counter()
    model.generate(prompt, _DECODED)
    a_step = max(0.0, time.perf_counter() - began - a_pass) / _DECODED
    seconds = work.tokens / PROBE_TOKENS * a_pass + work.steps * a_step
    return Estimate(
        passes=work.passes,
        tokens=work.tokens + work.steps,
        minutes=round(seconds / 60, 1),
        memory_mib=resident_mib(model),
    )
