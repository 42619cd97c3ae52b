"""The policies: lines before each fold in, lines of the context out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evals.prompts import Line
from evals.scenarios import FoldStep, GiveStep, SayStep, Scenario, SealStep

KEPT_LINES = 4
"""What a context holds after a fold: as many lines as a compaction scenario has before its first remark."""

Lines = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a policy may know beside the lines."""

    corrections: frozenset[str]
    """Keys of the corrections; for the scripted bound only."""
    ranks: Mapping[str, int]
    """Key -> place in the renderer's own order, best first."""
    summarise: Callable[[Lines], Line]
    """The agent's own summary of its notes as one line."""


def groups_of(scenario: Scenario, lines: Sequence[Line], keys: Mapping[str, str]) -> tuple[Lines, ...]:
    """``lines`` by the fold before which their entry came, and those after the last fold; as many groups as folds, and one.

    Args:
        scenario: says where the folds are.
        lines: what is shown, in an order of the arm's own that is kept within each group.
        keys: scenario key -> key of the line.
    """
    place: dict[str | None, int] = {}
    fold = 0
    for step in scenario.steps:
        if isinstance(step, FoldStep):
            fold += 1
        elif isinstance(step, SealStep | GiveStep | SayStep):
            place[keys[step.entry]] = fold
    return tuple(tuple(line for line in lines if place[line.key] == number) for number in range(fold + 1))


def folded_lines(policy: str, groups: Sequence[Lines], known: Folded) -> Lines:
    """The context after the last fold and what came behind it; a context that was never folded is as it was."""
    return COMPACTIONS[policy](groups, known)


def _trim(groups: Sequence[Lines], known: Folded) -> Lines:  # noqa: ARG001 - one signature for all policies
    kept: Lines = ()
    for group in groups[:-1]:
        kept = (*kept, *group)[-KEPT_LINES:]
    return (*kept, *groups[-1])


def _drop_corrections(groups: Sequence[Lines], known: Folded) -> Lines:
    before = (line for group in groups[:-1] for line in group)
    return (*(line for line in before if line.key not in known.corrections), *groups[-1])


def _summary(groups: Sequence[Lines], known: Folded) -> Lines:
    """Each fold sums up the summary before it together with what came since."""
    kept: Lines = ()
    for group in groups[:-1]:
        kept = (known.summarise((*kept, *group)),)
    return (*kept, *groups[-1])


def _regenerate(groups: Sequence[Lines], known: Folded) -> Lines:
    before = [line for group in groups[:-1] for line in group]
    best = sorted(before, key=lambda line: known.ranks[line.key or ""])[:KEPT_LINES]
    chosen = {line.key for line in best}
    return (*(line for line in before if line.key in chosen), *groups[-1])


COMPACTIONS: Mapping[str, Callable[[Sequence[Lines], Folded], Lines]] = MappingProxyType(
    {"trim": _trim, "drop-corrections": _drop_corrections, "summary": _summary, "regenerate": _regenerate}
)
"""Policy, as an arm's row names it -> function."""
