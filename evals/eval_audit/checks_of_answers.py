"""Checks of the answers: which are missing, failed, unread, doubled, cut off, and what that makes of the figure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from evals.eval_audit.figures import Figure
from evals.eval_audit.findings import Beside, Check, Finding, Names
from evals.eval_audit.runs import EvalRun, Reported, Row
from evals.eval_audit.standard_errors import mean_of
from evals.statistics import Undefined

BOUNDS = "low end as if every answer without a score had scored 0, high end as if 1"
DOUBTED = "low end as if every one of these had scored 0, high end as if 1"
_FINISHED = "success"
SAME = 1e-6
"""Figures that differ by less are the same."""


def run_findings(run: EvalRun) -> Iterator[Finding]:
    """What concerns the whole run."""
    if run.unread:
        yield Finding(
            check="unread-rows",
            weight="wrong",
            says=f"{len(run.unread)} rows cannot be read ({run.unread[0][0]}: {run.unread[0][1]}) and are in no figure",
            answers=Names.of(place for place, _ in run.unread),
        )
    if not run.rows:
        yield Finding(check="no-samples", weight="wrong", says="the log holds no answers, so no figure can be checked")
    elif run.reduced:
        yield Finding(
            check="no-samples",
            weight="check",
            says=f"the log holds only reduced scores of {len(run.rows)} samples: errors, limits and doubles cannot be seen",
        )
    if run.rows and not run.scorers:
        yield Finding(
            check="no-scores",
            weight="check",
            says=f"none of {len(run.rows)} answers has a score, and no figure is reported",
        )
    if run.status is not None and run.status != _FINISHED:
        yield Finding(
            check="stopped-early",
            weight="check",
            says=f"the run ended as “{run.status}”: what it holds is what happened to finish first",
        )
    samples = len({row.sample for row in run.rows})
    if run.dataset is not None and samples and samples < run.dataset:
        yield Finding(
            check="subset",
            weight="check",
            says=f"{samples} of the data set's {run.dataset} samples were run: the figure is about those",
        )
    yield from _doubles(run)
    again = [row for row in run.unique() if row.retries]
    if again:
        yield Finding(
            check="retried",
            weight="check",
            says=f"{len(again)} answers were asked for again after an error, others not: where hard samples fail more often, "
            "they had more tries",
            answers=Names.of(f"{row.name} ({row.retries + 1} tries)" for row in again),
        )


def _doubles(run: EvalRun) -> Iterator[Finding]:
    counts = Counter((row.sample, row.epoch) for row in run.rows)
    doubled = {key: found for key, found in counts.items() if found > 1}
    if not doubled:
        return
    scores: dict[tuple[str, int], set[tuple[tuple[str, str], ...]]] = {}
    for row in run.rows:
        written = tuple(sorted((name, score.written) for name, score in row.scores.items()))
        scores.setdefault((row.sample, row.epoch), set()).add(written)
    differ = sum(len(scores[key]) > 1 for key in doubled)
    yield Finding(
        check="duplicated",
        weight="wrong",
        says=f"{len(doubled)} answers are logged more than once ({sum(doubled.values()) - len(doubled)} rows too many), "
        f"{differ} of them with different scores; every figure here counts the first of each",
        answers=Names.of(f"{sample} epoch {epoch} × {doubled[sample, epoch]}" for sample, epoch in doubled),
    )


def answer_findings(run: EvalRun, scorer: str) -> Iterator[Finding]:
    """What concerns the answers that a scorer should have scored."""
    rows = list(run.unique())
    beside = Beside(scorer, shown(run.reported_of(scorer)), bounded(run, scorer), BOUNDS)
    failed = [row for row in rows if row.error is not None and run.value_of(row, scorer) is None]
    if failed:
        says = f"{len(failed)} of {len(rows)} answers failed and "
        names = [f"{row.name}: {str(row.error).splitlines()[0][:60]}" for row in failed]
        if run.errors_score_zero:
            says += "are written as a score of 0"
            yield beside.finding("check", "errors-as-failures", says, names=names)
        else:
            yield beside.finding("wrong", "errors-left-out", says + _fate(run, scorer), names=names)
    absent = 0 if run.planned is None else run.planned - len(rows)
    if absent > 0 and rows:
        says = f"{run.planned} answers are counted and {len(rows)} are in the log: {absent} cannot be checked"
        yield beside.finding("wrong", "answers-missing", says)
    yield from _unscored(run, scorer, rows, beside)
    yield from _ended(run, scorer, rows)


def _unscored(run: EvalRun, scorer: str, rows: list[Row], beside: Beside) -> Iterator[Finding]:
    answered = [row for row in rows if row.error is None]
    missing = [row for row in answered if scorer not in row.scores]
    if missing:
        says = f"{len(missing)} of {len(answered)} answers have no score and {_fate(run, scorer)}"
        yield beside.finding("wrong", "unscored-left-out", says, names=[row.name for row in missing])
    unusable: tuple[tuple[str, Check, str], ...] = (
        ("not-a-number", "not-a-number", "the score is NaN or infinite"),
        ("unreadable", "unreadable-score", "the score is no number and no grade"),
    )
    for state, check, what in unusable:
        found = [row for row in answered if scorer in row.scores and row.scores[scorer].state == state]
        if found:
            says = f"of {len(found)} of {len(answered)} answers {what}: they {_fate(run, scorer)}"
            names = [f"{row.name}: {row.scores[scorer].written}" for row in found]
            yield beside.finding("wrong", check, says, names=names)


def _ended(run: EvalRun, scorer: str, rows: list[Row]) -> Iterator[Finding]:
    """Answers that something other than the model ended, and answers that are empty."""
    ended = [row for row in rows if row.limit is not None and run.value_of(row, scorer) is not None]
    if ended:
        kinds = ", ".join(
            f"{kind}: {found}" for kind, found in sorted(Counter(str(row.limit) for row in ended).items())
        )
        says = f"a limit ended {len(ended)} of {len(rows)} answers ({kinds}); {_scored(run, scorer, ended)}"
        names = [f"{row.name}: {row.limit}" for row in ended]
        yield _doubting(run, scorer, ended).finding("check", "limits-hit", says, names=names)
    silent = [row for row in rows if row.empty and run.value_of(row, scorer) is not None]
    if silent:
        says = (
            f"{len(silent)} of {len(rows)} answers are empty; {_scored(run, scorer, silent)}. Nothing tells a model "
            "that had nothing to say from a server that sent nothing"
        )
        names = [row.name for row in silent]
        yield _doubting(run, scorer, silent).finding("check", "empty-answers", says, names=names)


def _doubting(run: EvalRun, scorer: str, doubted: Iterable[Row]) -> Beside:
    return Beside(scorer, shown(run.reported_of(scorer)), bounded(run, scorer, doubted), DOUBTED)


def _scored(run: EvalRun, scorer: str, rows: Iterable[Row]) -> str:
    return f"they scored {math.fsum(run.value_of(row, scorer) or 0.0 for row in rows):g} in all"


def bounded(run: EvalRun, scorer: str, doubted: Iterable[Row] = ()) -> Figure | None:
    """Where the figure may lie if every answer without a number, and every ``doubted`` one, had scored anything from 0 to 1.

    The interval reaches from the low end of the worst case to the high end of the best one. None for scores outside 0…1.
    """
    doubtful = {(row.sample, row.epoch) for row in doubted}
    known: dict[str, list[float]] = {}
    unknown: list[str] = []
    rows = list(run.unique())
    for row in rows:
        value = run.value_of(row, scorer)
        if value is None or (row.sample, row.epoch) in doubtful:
            unknown.append(row.sample)
        else:
            known.setdefault(row.sample, []).append(value)
    if any(not 0.0 <= value <= 1.0 for values in known.values() for value in values):
        return None
    unknown += _absent(run, len(rows))
    worst, best = (mean_of(_with(known, unknown, value)) for value in (0.0, 1.0))
    if isinstance(worst, Undefined) or isinstance(best, Undefined):
        return None
    method = worst.method if worst.method == best.method else f"{worst.method}; {best.method}"
    return Figure(low=worst.low, high=best.high, method=method, n=worst.n)


def _absent(run: EvalRun, present: int) -> Iterator[str]:
    """A sample for every answer that the log counts and does not hold: further ones, as far as the data set has them."""
    samples = list(dict.fromkeys(row.sample for row in run.rows))
    absent = (run.planned or 0) - present
    room = absent if run.dataset is None or not samples else max(0, run.dataset - len(samples))
    for place in range(absent):
        yield f"absent {place}" if place < room else samples[(place - room) % len(samples)]


def _with(known: dict[str, list[float]], names: list[str], value: float) -> dict[str, list[float]]:
    filled = {sample: list(values) for sample, values in known.items()}
    for name in names:
        filled.setdefault(name, []).append(value)
    return filled


def mean_with_zeros(run: EvalRun, scorer: str) -> float:
    """The mean over all answers that are in the log or should be, those without a number as 0."""
    total = math.fsum(value for values in run.values(scorer).values() for value in values)
    return total / max(run.planned or 0, sum(1 for _ in run.unique()), 1)


def _fate(run: EvalRun, scorer: str) -> str:
    """What became of answers without a number, by the figure that was reported."""
    reported = run.reported_of(scorer)
    if reported is None or reported.value is None:
        return "are in no figure"
    if not run.values(scorer):
        return "may count as anything in the reported figure"
    as_zero = abs(reported.value - mean_with_zeros(run, scorer)) <= SAME
    return "count as 0 in the reported figure" if as_zero and reported.value > 0.0 else "are not in the denominator"


def shown(reported: Reported | None) -> str | None:
    """A reported figure as the log has it."""
    if reported is None:
        return None
    value = "no number" if reported.value is None else f"{reported.value:.3f}"
    return f"{reported.metric} {value}" + ("" if reported.stderr is None else f" ± {reported.stderr:.3f}")
