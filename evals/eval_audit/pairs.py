"""Two runs of the same samples: the difference by pairs, beside what it looks like without them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evals.eval_audit.figures import Figure
from evals.eval_audit.findings import Finding, Names
from evals.eval_audit.runs import EvalRun
from evals.eval_audit.standard_errors import naive_error
from evals.statistics import PairedTable, PValue, Undefined, cluster_difference, mcnemar_exact

MOST_IN_A_GROUP = 8
"""Up to so many runs of one task are compared each with each, more of them each with the first."""

_LEAST_SHARE = 0.5
"""Share of the smaller run's samples that both must have."""
_NORMAL = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Left − right of one scorer over the samples that both runs scored."""

    left: str
    right: str
    scorer: str
    pairs: int
    """Samples in both."""
    only_left: int
    only_right: int
    unpaired: Figure
    """As two means with independent errors: what reading two reports side by side amounts to."""
    paired: Figure
    discordant: tuple[int, int] | None
    """Samples that only the left and only the right run got right; None unless all scores are 0 or 1."""
    mcnemar: PValue | None
    findings: tuple[Finding, ...]


def compare(runs: Sequence[EvalRun]) -> Iterator[Comparison]:
    """Every pair of runs of one population that scored the same samples."""
    groups: dict[tuple[str, str], list[EvalRun]] = {}
    for run in runs:
        groups.setdefault((run.format, run.population), []).append(run)
    for group in groups.values():
        pairs = (
            list(combinations(group, 2)) if len(group) <= MOST_IN_A_GROUP else [(group[0], run) for run in group[1:]]
        )
        for left, right in pairs:
            for scorer in (name for name in left.scorers if name in right.scorers):
                found = _compare(left, right, scorer)
                if found is not None:
                    yield found


def _compare(left: EvalRun, right: EvalRun, scorer: str) -> Comparison | None:
    ours, theirs = _means(left, scorer), _means(right, scorer)
    both = [sample for sample in ours if sample in theirs]
    if len(both) < max(2.0, _LEAST_SHARE * min(len(ours), len(theirs))):
        return None
    pairs = {sample: [(ours[sample], theirs[sample])] for sample in both}
    if any(not 0.0 <= value <= 1.0 for pair in pairs.values() for value in pair[0]):
        return None
    interval = cluster_difference(pairs)
    unpaired = _unpaired([ours[sample] for sample in ours], [theirs[sample] for sample in theirs])
    if isinstance(interval, Undefined) or unpaired is None:
        return None
    table = _table(pairs)
    p = None if table is None else mcnemar_exact(table)
    paired = Figure.of(interval)
    return Comparison(
        left=left.path,
        right=right.path,
        scorer=scorer,
        pairs=len(both),
        only_left=len(ours) - len(both),
        only_right=len(theirs) - len(both),
        unpaired=unpaired,
        paired=paired,
        discordant=None if table is None else (round(table.left_only), round(table.right_only)),
        mcnemar=p if isinstance(p, PValue) else None,
        findings=tuple(_findings(left, right, scorer, both, unpaired, paired)),
    )


def _means(run: EvalRun, scorer: str) -> dict[str, float]:
    return {sample: math.fsum(values) / len(values) for sample, values in run.values(scorer).items()}


def _unpaired(ours: Sequence[float], theirs: Sequence[float]) -> Figure | None:
    """The difference of two means whose errors add up as if the samples were different ones."""
    errors = [naive_error(ours), naive_error(theirs)]
    if any(isinstance(error, Undefined) for error in errors):
        return None
    reach = _NORMAL * math.hypot(*(error for error in errors if not isinstance(error, Undefined)))
    difference = math.fsum(ours) / len(ours) - math.fsum(theirs) / len(theirs)
    return Figure(
        low=difference - reach,
        high=difference + reach,
        method="normal, errors of both added in squares",
        n=len(ours) + len(theirs),
        estimate=difference,
    )


def _table(pairs: Mapping[str, Sequence[tuple[float, float]]]) -> PairedTable | None:
    """Of samples right in both, one or neither; None where a score is neither right nor wrong."""
    units = [pair[0] for pair in pairs.values()]
    if any(value not in (0.0, 1.0) for unit in units for value in unit):
        return None
    return PairedTable.of((bool(ours), bool(theirs)) for ours, theirs in units)


def _findings(
    left: EvalRun, right: EvalRun, scorer: str, both: Sequence[str], unpaired: Figure, paired: Figure
) -> Iterator[Finding]:
    wide, narrow = unpaired.high - unpaired.low, paired.high - paired.low
    ratio = f", {wide / narrow:.2f} times as wide" if narrow > 0 else ""
    yield Finding(
        check="unpaired",
        weight="check",
        scorer=scorer,
        says=f"both runs answered {len(both)} samples: set side by side their difference looks like {unpaired.estimate:+.3f} "
        f"[{unpaired.low:.3f}, {unpaired.high:.3f}]{ratio}; by pairs it is {paired.estimate:+.3f} "
        f"[{paired.low:.3f}, {paired.high:.3f}]",
        reported=str(unpaired),
        corrected=paired,
        formula=f"mean over samples of left − right, {paired.method}",
    )
    asked = {row.sample: row.asked for row in left.rows if row.asked is not None}
    other = [
        row.sample
        for row in right.rows
        if row.asked is not None and row.sample in asked and asked[row.sample] != row.asked
    ]
    if other:
        names = list(dict.fromkeys(other))
        yield Finding(
            check="other-inputs",
            weight="wrong",
            scorer=scorer,
            says=f"{len(names)} samples have one id in both runs and different inputs: they are no pairs",
            answers=Names.of(names),
        )
