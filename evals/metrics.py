"""What one trial says about a quantity, and what a group of trials or a pair of arms says.

A trial's value lies in [0, 1], or is missing (the trial failed, or its answer could not be read), or the metric does
not apply to it. Missing trials stay in every denominator: as the worst and as the best they could have been.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evals.statistics import (
    Interval,
    PairedTable,
    PValue,
    Undefined,
    clopper_pearson,
    cluster_difference,
    cluster_proportion,
    mcnemar_exact,
    newcombe,
    sign_flip,
    tango,
    wilson,
)
from evals.trials import Outcome, TrialRecord, in_order

SIGN_FLIP_SEED = 20_240_607
"""Any fixed number; it is printed with the p-value wherever draws were used."""


class Metric(StrEnum):
    """The quantities a trial record can carry."""

    PERSISTENCE = "persistence"
    """The answer asserts the retracted value, alone or beside the true one."""
    ACCURACY = "accuracy"
    """The answer asserts the true value and only that."""
    THIRD_VALUE = "third-value"
    ABSTENTION = "abstention"
    SURVIVAL = "survival"
    """A correction decides the answer to a scenario that had a false premise."""
    COLLATERAL = "collateral"
    """True claims invalidated / true claims."""
    MISSED_PROPAGATION = "missed-propagation"
    """Claims resting on the retracted entry left standing / such claims."""
    BALANCED_ACCURACY = "balanced-accuracy"
    """1 − (collateral + missed propagation) / 2, both rates over the whole population.

    A trial that has only one kind of claim gives that half; the mean is the balanced accuracy where both kinds of
    trials are equally many, as the generator makes them.
    """
    EDGE_RECALL = "edge-recall"
    """Planted edges found / planted edges."""
    FALSE_EDGE = "false-edge"
    """Claims with at least one false edge / claims."""
    FALSE_PASS = "false-pass"  # noqa: S105  (a rate, not a secret)
    """Attacks on true entries whose quorum passes / attacks."""
    FALSE_MERGE = "false-merge"
    """Pairs of independent honest witnesses counted as one / such pairs."""


class Absent(StrEnum):
    """Why a trial has no value."""

    MISSING = "missing"
    """It should have one: it failed, could not be read or was not measured."""
    NOT_APPLICABLE = "not applicable"
    """It can have none, whatever happened: no premise planted, no claim to count."""


Value = float | Absent

_ASSERTED: dict[Metric, frozenset[Outcome]] = {
    Metric.PERSISTENCE: frozenset({Outcome.ASSERTS_FALSE, Outcome.ASSERTS_BOTH}),
    Metric.ACCURACY: frozenset({Outcome.ASSERTS_TRUE}),
    Metric.THIRD_VALUE: frozenset({Outcome.THIRD_VALUE}),
    Metric.ABSTENTION: frozenset({Outcome.ABSTAINS}),
    Metric.SURVIVAL: frozenset({Outcome.ASSERTS_TRUE}),
}
ANSWER_METRICS = tuple(_ASSERTED)
"""Metrics of the answer; the others count claims and edges and need no answer."""
QUORUM_METRICS = (Metric.FALSE_PASS, Metric.FALSE_MERGE)
"""Metrics that only scenarios of the quorum have: no trial of another population has their counts."""
_NEEDS_PREMISE = frozenset({Metric.PERSISTENCE, Metric.SURVIVAL})

COUNTED: dict[Metric, tuple[str, str]] = {
    Metric.COLLATERAL: ("true_claims_invalidated", "true_claims"),
    Metric.MISSED_PROPAGATION: ("dependents_left_standing", "dependents"),
    Metric.EDGE_RECALL: ("planted_edges_found", "planted_edges"),
    Metric.FALSE_EDGE: ("claims_with_false_edge", "claims_measured"),
    Metric.FALSE_PASS: ("attacks_passed", "attacks"),
    Metric.FALSE_MERGE: ("honest_pairs_merged", "honest_pairs"),
}
"""Metric -> fields of a trial's row that hold its numerator and its denominator."""


def value_of(metric: Metric, record: TrialRecord) -> Value:
    """The trial's value in [0, 1], or why it has none."""
    if metric in _ASSERTED:
        if metric in _NEEDS_PREMISE and record.premise_order == "none":
            return Absent.NOT_APPLICABLE
        return float(record.outcome in _ASSERTED[metric]) if record.scored else Absent.MISSING
    if metric is Metric.BALANCED_ACCURACY:
        return _balanced(value_of(Metric.COLLATERAL, record), value_of(Metric.MISSED_PROPAGATION, record))
    part, whole = (getattr(record, name) for name in COUNTED[metric])
    if part is None or whole is None:
        return Absent.MISSING
    return part / whole if whole else Absent.NOT_APPLICABLE


def _balanced(collateral: Value, missed: Value) -> Value:
    halves = [half for half in (collateral, missed) if half is not Absent.NOT_APPLICABLE]
    if Absent.MISSING in halves:
        return Absent.MISSING
    rates = [half for half in halves if isinstance(half, float)]
    return 1.0 - math.fsum(rates) / len(rates) if rates else Absent.NOT_APPLICABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """Where every planned trial went; the parts add up to ``planned``."""

    planned: int
    scored: int
    errored: int
    unscored: int
    retried: int
    """Trials that needed more than one attempt; they are among the others."""

    @classmethod
    def of(cls, records: Sequence[TrialRecord]) -> Accounting:
        """Count the records of a group."""
        return cls(
            planned=len(records),
            scored=sum(record.scored for record in records),
            errored=sum(record.outcome is Outcome.ERROR for record in records),
            unscored=sum(record.outcome is Outcome.UNSCORED for record in records),
            retried=sum(record.attempts > 1 for record in records),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One metric of one group of trials."""

    metric: Metric
    accounting: Accounting
    events: float
    """Sum of the values; whole for metrics of the answer."""
    valued: int
    """Trials with a value: the denominator of the estimate."""
    missing: int
    clusters: int
    exact: Interval | Undefined
    """Closed form over trials."""
    plot: Interval | Undefined
    """Wilson over trials, for drawing."""
    clustered: Interval | Undefined
    """Over wordings; this one decides."""
    bounds: Interval | Undefined
    """As ``clustered``, with the missing trials at their best (low end) and at their worst (high end)."""


def measure(metric: Metric, records: Iterable[TrialRecord]) -> Measurement:
    """Measure one metric on a group of trials, usually those of one arm, family and order.

    Raises:
        TrialError: two different records of one trial.
    """
    trials = in_order(records)
    values = [(record.wording, value_of(metric, record)) for record in trials]
    seen = [value for _, value in values if isinstance(value, float)]
    events = math.fsum(seen)
    clusters = _by_cluster(values)
    low = cluster_proportion(_by_cluster(values, missing=0.0))
    high = cluster_proportion(_by_cluster(values, missing=1.0))
    return Measurement(
        metric=metric,
        accounting=Accounting.of(trials),
        events=events,
        valued=len(seen),
        missing=sum(value is Absent.MISSING for _, value in values),
        clusters=len(clusters),
        exact=clopper_pearson(events, len(seen)),
        plot=wilson(events, len(seen)),
        clustered=cluster_proportion(clusters),
        bounds=_hull(low, high),
    )


def _by_cluster(values: Iterable[tuple[str, Value]], missing: float | None = None) -> dict[str, list[float]]:
    grouped: dict[str, list[float]] = defaultdict(list)
    for wording, value in values:
        if isinstance(value, float):
            grouped[wording].append(value)
        elif value is Absent.MISSING and missing is not None:
            grouped[wording].append(missing)
    return dict(grouped)


def _hull(low: Interval | Undefined, high: Interval | Undefined) -> Interval | Undefined:
    if isinstance(low, Undefined):
        return low
    if isinstance(high, Undefined) or low == high:
        return high
    return Interval(
        low=min(low.low, high.low),
        high=max(low.high, high.high),
        method=f"{high.method}, missing trials at both extremes",
        n=high.n,
        level=high.level,
        estimate=(low.estimate + high.estimate) / 2.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValue:
    """One unit answered in two arms; a missing side is ``None``."""

    wording: str
    left: float | None
    right: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Left − right of one metric on the same units."""

    metric: Metric
    left: Accounting
    right: Accounting
    pairs: int
    """Units with a value on both sides."""
    incomplete: int
    """Units that lack a side; they enter ``bounds``."""
    clusters: int
    table: PairedTable | Undefined
    """Undefined where values are fractions: then only the cluster method applies."""
    tango: Interval | Undefined
    newcombe: Interval | Undefined
    mcnemar: PValue | Undefined
    clustered: Interval | Undefined
    sign_flip: PValue | Undefined
    bounds: Interval | Undefined


_FRACTIONS = Undefined("the values are fractions; only the cluster method applies")


def contrast(metric: Metric, left: Iterable[TrialRecord], right: Iterable[TrialRecord]) -> Contrast:
    """Compare two arms on the same scenarios, variants, orders and repeats.

    Raises:
        TrialError: two different records of one trial.
    """
    left_trials, right_trials = in_order(left), in_order(right)
    units = pair_up(metric, left_trials, right_trials)
    complete = [(u.wording, u.left, u.right) for u in units if u.left is not None and u.right is not None]
    grouped: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for wording, first, second in complete:
        grouped[wording].append((first, second))
    table: PairedTable | Undefined = _FRACTIONS
    if all({first, second} <= {0.0, 1.0} for _, first, second in complete):
        table = PairedTable.of((first == 1.0, second == 1.0) for _, first, second in complete)
    means = [math.fsum(a - b for a, b in rows) / len(rows) for _, rows in sorted(grouped.items())]
    return Contrast(
        metric=metric,
        left=Accounting.of(left_trials),
        right=Accounting.of(right_trials),
        pairs=len(complete),
        incomplete=len(units) - len(complete),
        clusters=len(grouped),
        table=table,
        tango=table if isinstance(table, Undefined) else tango(table),
        newcombe=table if isinstance(table, Undefined) else newcombe(table),
        mcnemar=table if isinstance(table, Undefined) else mcnemar_exact(table),
        clustered=cluster_difference(grouped),
        sign_flip=sign_flip(means, seed=SIGN_FLIP_SEED),
        bounds=_hull(
            cluster_difference(filled(units, left=0.0, right=1.0)),
            cluster_difference(filled(units, left=1.0, right=0.0)),
        ),
    )


def pair_up(metric: Metric, left: Sequence[TrialRecord], right: Sequence[TrialRecord]) -> tuple[PairedValue, ...]:
    """One pair a unit, sorted; a unit one arm lacks is incomplete, one the metric does not apply to is left out."""
    sides = tuple({record.cell: record for record in records} for records in (left, right))
    units = []
    for cell in sorted(sides[0].keys() | sides[1].keys()):
        found = [side.get(cell) for side in sides]
        values = [Absent.MISSING if record is None else value_of(metric, record) for record in found]
        if Absent.NOT_APPLICABLE in values:
            continue
        wording = next(record.wording for record in found if record is not None)
        first, second = (value if isinstance(value, float) else None for value in values)
        units.append(PairedValue(wording=wording, left=first, right=second))
    return tuple(units)


def filled(units: Iterable[PairedValue], *, left: float, right: float) -> dict[str, list[tuple[float, float]]]:
    """The pairs by wording with every missing side set to the given value."""
    grouped: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for unit in units:
        first = left if unit.left is None else unit.left
        second = right if unit.right is None else unit.right
        grouped[unit.wording].append((first, second))
    return dict(grouped)


def group_by(
    records: Iterable[TrialRecord], key: Callable[[TrialRecord], tuple[str, ...]]
) -> Mapping[tuple[str, ...], tuple[TrialRecord, ...]]:
    """Records by key, keys and members in sorted order."""
    groups: dict[tuple[str, ...], list[TrialRecord]] = defaultdict(list)
    for record in in_order(records):
        groups[key(record)].append(record)
    return {name: tuple(groups[name]) for name in sorted(groups)}
