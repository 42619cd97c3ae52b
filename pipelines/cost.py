"""What a run would cost: passes, tokens, minutes and memory, from layouts alone. Nothing is scored and nothing appended."""

from __future__ import annotations

import resource
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from evals.prompts import Line, assemble, context_segments, question_segments
from pipelines.stages.attribution import measurer
from pipelines.stages.scenarios import arms_of, planned_scenarios
from pipelines.stages.trajectories import trajectories

if TYPE_CHECKING:
    from attribution.models import LanguageModel
    from evals.scenarios import Scenario
    from ledger_core.kernel.statements import Scope
    from pipelines.workspace import Workspace

PROBE_TOKENS = 256
"""Tokens of the pass that is timed."""
ANSWER_TOKENS = 12
"""Tokens of an answer, about; a sentence ends it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cost of a job. Minutes come from one forward pass timed on this machine now."""

    passes: int
    """Ablations and answers."""
    tokens: int
    """Tokens through the model, shared prefixes counted once a mask."""
    minutes: float
    memory_mib: int
    """Weights, cache and activations of one process."""


def estimate_scope(at: Workspace, scope: Scope) -> Estimate:
    """Cost of measuring the chosen records of a scope: what is surely run, with shared prefixes read once."""
    passes = tokens = 0
    for trajectory in trajectories(at, scope):
        masks, read = measurer(at, trajectory).sure_work(trajectory)
        passes += masks
        tokens += read
    return _priced(at, passes, tokens)


def estimate(at: Workspace) -> Estimate:
    """Cost of the main job: every claim's masks and every arm's answers; equal prompts are counted as often as they occur."""
    passes = tokens = 0
    for scenario in planned_scenarios(at):
        length = _length(at, scenario)
        masks = 2 ** (len(scenario.entries) - 1) if scenario.claims else 0
        answers = len(arms_of(at, scenario))
        passes += masks + answers
        tokens += masks * length + answers * (length + ANSWER_TOKENS)
    return _priced(at, passes, tokens)


def _length(at: Workspace, scenario: Scenario) -> int:
    lines = [Line(entry.key, entry.text) for entry in scenario.entries]
    question = scenario.question
    tail = () if question is None else question_segments(question.text, question.stem)
    return len(assemble((*context_segments(lines), *tail), at.model()).ids)


def _priced(at: Workspace, passes: int, tokens: int) -> Estimate:
    model = at.model()
    seconds = model.seconds_per_pass(PROBE_TOKENS)
    return Estimate(
        passes=passes,
        tokens=tokens,
        minutes=round(tokens / PROBE_TOKENS * seconds / 60, 1),
        memory_mib=resident_mib(model),
    )


def resident_mib(model: LanguageModel) -> int:
    """Memory of one process that runs ``model``: what this one has taken, or twice the weights."""
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return max(model.weight_bytes * 2, resident) // (1 << 20)


def print_estimate(found: Estimate, *, as_json: bool) -> None:
    """Print an estimate as text or JSON."""
    import json

    import typer

    if as_json:
        typer.echo(json.dumps(asdict(found)))
        return
    typer.echo(f"{found.passes} passes, {found.tokens} tokens, at most about {found.minutes} minutes on this machine,")
    typer.echo(f"about {found.memory_mib} MiB of memory. Nothing was scored and nothing appended.")
