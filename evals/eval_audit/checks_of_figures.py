"""Checks of the reported figure and of its standard error against the answers they are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from evals.eval_audit.checks_of_answers import SAME, mean_with_zeros, shown
from evals.eval_audit.figures import Figure
from evals.eval_audit.findings import Beside, Finding
from evals.eval_audit.runs import EvalRun, Reported
from evals.eval_audit.standard_errors import CLUSTERED, NAIVE, clustered_error, mean_of, naive_error
from evals.statistics import Interval, Undefined, clopper_pearson

RATIO = 1.25
"""A clustered error that is larger than the naive one by this factor is pointed at."""

_LEAST_CLUSTERS = 5
"""With fewer clusters the clustered error itself is too uncertain to point at anything."""

_MOST_FIELDS = 3
_ROUNDING = 0.01
"""Relative difference of two errors that rounding may explain."""
_RESAMPLING = 0.15
"""The same for an error found by resampling."""
_NORMAL = 1.96
_MEAN = "mean over samples of the mean over their epochs"
_AVERAGED = frozenset({"accuracy", "mean", "acc", "acc_norm", "exact_match"})
"""Metrics that are the plain mean of their answers' scores."""


def figure_findings(run: EvalRun, scorer: str, cluster: str | None) -> Iterator[Finding]:
    """What is wrong with the figure of a scorer.

    Args:
        run: the run.
        scorer: the scorer.
        cluster: field of the samples by which the user says they belong together.
    """
    values = run.values(scorer)
    reported = run.reported_of(scorer)
    if not values:
        yield from _unfounded(run, reported)
        return
    mean = mean_of(values)
    figure = None if isinstance(mean, Undefined) else mean
    if reported is not None:
        yield from _other_mean(run, reported, values, figure)
    yield from _error(run, scorer, reported, values, figure)
    if run.epochs > 1 and not run.errors_score_zero:
        yield from _epochs(run, scorer, values, figure)
    yield from _clusters(run, scorer, reported, values, cluster)


def _beside(scorer: str, reported: Reported | None, figure: Figure | None) -> Beside:
    return Beside(scorer, shown(reported), figure, None if figure is None else figure.method)


def _unfounded(run: EvalRun, reported: Reported | None) -> Iterator[Finding]:
    """An error of 0 beside a figure of which the log holds no answer."""
    if reported is None or reported.stderr != 0.0 or reported.value is None:
        return
    says = "the standard error is reported as 0, and the log does not hold the answers that it is about"
    of = None
    if run.planned is not None and reported.value in (0.0, 1.0):
        samples = min(run.planned, run.dataset or run.planned)
        says += f"; if it holds of {samples} sample{'' if samples == 1 else 's'}, this is what stands there"
        of = clopper_pearson(reported.value * samples, samples)
    figure = Figure.of(of) if isinstance(of, Interval) else None
    yield _beside(reported.scorer, reported, figure).finding("wrong", "zero-error", says)


def _other_mean(
    run: EvalRun, reported: Reported, values: Mapping[str, Sequence[float]], figure: Figure | None
) -> Iterator[Finding]:
    """A reported mean that the answers do not give, however the missing and doubled ones are counted."""
    beside = _beside(reported.scorer, reported, figure)
    if reported.value is None:
        yield beside.finding("wrong", "other-mean", f"the reported {reported.metric} is no number")
        return
    if reported.metric not in _AVERAGED or not run.is_plain(reported):
        return
    numbers = [value for row in run.rows if (value := run.value_of(row, reported.scorer)) is not None]
    by_sample = math.fsum(math.fsum(each) / len(each) for each in values.values()) / len(values)
    explained = (by_sample, math.fsum(numbers) / len(numbers), mean_with_zeros(run, reported.scorer))
    if all(abs(reported.value - mean) > SAME for mean in explained):
        says = (
            f"the answers in the log give {by_sample:.6g}, with doubled rows {explained[1]:.6g}, with missing ones as 0 "
            f"{explained[2]:.6g}; none is the reported {reported.value:.6g}"
        )
        yield beside.finding("wrong", "other-mean", says, formula=_MEAN)


def _error(
    run: EvalRun,
    scorer: str,
    reported: Reported | None,
    values: Mapping[str, Sequence[float]],
    figure: Figure | None,
) -> Iterator[Finding]:
    count = len(values)
    beside = _beside(scorer, reported, figure)
    if reported is None or reported.stderr is None:
        yield beside.finding("wrong", "no-error", f"no standard error is reported of a mean of {count} samples")
        return
    if reported.stderr == 0.0:
        settled = f"{count} sample{'s' if count != 1 else ''} settled the question"
        yield beside.finding("wrong", "zero-error", f"the standard error is reported as 0, as if {settled}")
        return
    means = [math.fsum(each) / len(each) for each in values.values()]
    yield from _other_error(run, reported, values, means, figure)
    if reported.value is not None and figure is not None and all(0.0 <= each <= 1.0 for each in means):
        low, high = (reported.value + sign * _NORMAL * reported.stderr for sign in (-1, 1))
        if low < 0.0 or high > 1.0:
            says = (
                f"value ± 1.96 · error is [{low:.3f}, {high:.3f}], beyond what a share can be: n = {count} is too small for "
                "this error to mean what it seems to"
            )
            yield beside.finding("check", "outside-range", says)


def _other_error(
    run: EvalRun,
    reported: Reported,
    values: Mapping[str, Sequence[float]],
    means: Sequence[float],
    figure: Figure | None,
) -> Iterator[Finding]:
    """A reported error that is neither the naive one of the samples nor one of their clusters."""
    assert reported.stderr is not None
    naive = naive_error(means)
    if isinstance(naive, Undefined) or reported.metric not in _AVERAGED:
        return
    rows = [value for each in values.values() for value in each]
    over_rows = naive_error(rows)
    tolerance = _RESAMPLING if (reported.stderr_name or "").startswith("bootstrap") else _ROUNDING
    if reported.clustered_by is not None:
        groups = grouped(run, reported.scorer, reported.clustered_by)
        naive = clustered_error(groups) if groups else Undefined("no such field")
        if isinstance(naive, Undefined):
            return
    if _close(reported.stderr, naive, tolerance):
        return
    beside = _beside(reported.scorer, reported, figure)
    if (
        len(rows) > len(means)
        and not isinstance(over_rows, Undefined)
        and _close(reported.stderr, over_rows, tolerance)
    ):
        right = clustered_error(values)
        says = (
            f"the error counts {len(rows)} answers to {len(means)} samples as independent; clustered by sample it is "
            + ("undefined" if isinstance(right, Undefined) else f"{right:.4f}")
        )
        yield beside.finding("wrong", "clusters-ignored", says, formula=CLUSTERED)
        return
    says = f"the answers in the log give a standard error of {naive:.4f}, not the reported {reported.stderr:.4f}"
    formula = NAIVE if reported.clustered_by is None else CLUSTERED
    yield beside.finding("check", "other-error", says, formula=formula)


def _close(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= tolerance * max(abs(one), abs(other)) + SAME


def _epochs(
    run: EvalRun, scorer: str, values: Mapping[str, Sequence[float]], figure: Figure | None
) -> Iterator[Finding]:
    answers = sum(len(each) for each in values.values())
    every: list[Reported | None] = [each for each in run.reported if each.scorer == scorer]
    for reported in every or [None]:
        plain = reported is None or run.is_plain(reported)
        reducers = (reported.reducer if reported else None) or ", ".join(run.reducers)
        says = f"{answers} answers in {run.epochs} epochs become {len(values)} scores by {reducers}: " + (
            "the units are samples" if plain else "the figure is not the share of right answers, which stands beside it"
        )
        beside = _beside(scorer, reported, figure)
        yield beside.finding("check" if plain else "wrong", "epochs-reduced", says, formula=_MEAN)


def grouped(run: EvalRun, scorer: str, field: str) -> dict[str, list[float]]:
    """The numbers by a field of their samples; empty unless every scored answer has it."""
    groups: dict[str, list[float]] = {}
    for row in run.unique():
        value = run.value_of(row, scorer)
        if value is None:
            continue
        if field not in row.groups:
            return {}
        groups.setdefault(row.groups[field], []).append(value)
    return groups


def _clusters(
    run: EvalRun,
    scorer: str,
    reported: Reported | None,
    values: Mapping[str, Sequence[float]],
    chosen: str | None,
) -> Iterator[Finding]:
    """Answers that belong together and were counted as if they did not."""
    rows = [value for each in values.values() for value in each]
    naive = naive_error(rows)
    if isinstance(naive, Undefined) or naive == 0.0:
        return
    if run.errors_score_zero and len(values) < len(rows):
        found = _clustered_by(scorer, reported, "tasks", values, naive)
        if found is not None:
            yield found[1]
    fields = [chosen] if chosen is not None else list(dict.fromkeys(name for row in run.rows for name in row.groups))
    pointed: list[tuple[float, Finding]] = []
    for field in fields:
        groups = grouped(run, scorer, field)
        together = not (len(groups) >= len(values) or len(groups) < (2 if chosen else _LEAST_CLUSTERS))
        if not together or (reported is not None and reported.clustered_by == field):
            continue
        found = _clustered_by(scorer, reported, f"values of `{field}`", groups, naive, sure=chosen is not None)
        if found is not None and (chosen is not None or found[0] >= RATIO):
            pointed.append(found)
    pointed.sort(key=lambda each: -each[0])
    yield from (finding for _, finding in pointed[:_MOST_FIELDS])


def _clustered_by(
    scorer: str,
    reported: Reported | None,
    what: str,
    groups: Mapping[str, Sequence[float]],
    naive: float,
    *,
    sure: bool = True,
) -> tuple[float, Finding] | None:
    """How much larger the error is by clusters, and the finding that says so."""
    error, corrected = clustered_error(groups), mean_of(groups)
    if isinstance(error, Undefined) or isinstance(corrected, Undefined):
        return None
    total = sum(len(each) for each in groups.values())
    ratio = error / naive
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))
    says = (
        f"{total} answers share {len(groups)} {what}: the error is {error:.4f} clustered by it and {naive:.4f} as "
        f"if all were independent, {ratio:.2f} times as large"
        + ("" if sure else "; it counts if samples so alike are not independent")
    )
    beside = Beside(scorer, shown(reported) or f"naive error {naive:.4f}", corrected, f"{CLUSTERED}, against {NAIVE}")
    names = [f"{name} × {len(each)}" for name, each in largest]
    return ratio, beside.finding("wrong" if sure else "check", "clusters-ignored", says, names=names)
