"""The document arranged for the page: groups, pictures and counts, so that the template only prints."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from markupsafe import Markup

from evals.arms import ARMS
from evals.report.anchors import slug
from evals.report.arm_rows import arm_rank
from evals.report.charts import Dot, Goal, Line, Scale, forest, outcome_bars
from evals.report.commands import BOTH, gate
from evals.report.curves import Curve, Point, panels
from evals.report.data import (
    ArmRow,
    CriterionRow,
    Estimate,
    OutcomeRow,
    PartRow,
    ReportData,
    SurvivalRow,
)
from evals.report.evidence import Cascade, PersistedRow, StabilityRow
from evals.report.fields import GateName
from evals.report.graph import cascade_graph
from evals.report.text import percent, points

Item = TypeVar("Item")
Key = TypeVar("Key")

FAMILIES = {
    "planted-premise": "Planted premise",
    "true-premise-attacked": "True premise attacked",
    "compaction": "Compaction",
    "mixed-parents": "Mixed parents",
    "redundant-support": "Redundant support",
    "conjunctive-causes": "Conjunctive causes",
    "laundered-guess": "Laundered guess",
    "syndicated": "Syndicated copies",
    "sybil": "Sybil attack",
    "poisoned-tool": "Poisoned tool",
    "stale-source": "Stale source",
    "reversal": "Reversal",
    "null": "Null claims",
    "competence": "Competence",
}
"""Family -> heading, in reading order; populations made from other people's files follow under their own names."""
ORDERS = {"premise-first": "premise first", "corrections-first": "corrections first", BOTH: "both orders", "none": ""}
SERIES = ("premise-first", "corrections-first")

MAIN_METRICS = {
    ("planted-premise", "base"): ("persistence", "accuracy"),
    ("planted-premise", "corrections-leave"): ("third-value", "persistence"),
    ("mixed-parents", "any"): ("collateral", "missed-propagation", "balanced-accuracy"),
    ("redundant-support", "one-retracted"): ("collateral", "accuracy"),
    ("redundant-support", "both-retracted"): ("missed-propagation", "persistence", "accuracy"),
    ("conjunctive-causes", "first-retracted"): ("edge-recall", "missed-propagation", "persistence", "accuracy"),
    ("conjunctive-causes", "second-retracted"): ("edge-recall", "missed-propagation", "persistence", "accuracy"),
    ("true-premise-attacked", "used"): ("accuracy", "collateral"),
    ("true-premise-attacked", "unused"): ("accuracy", "collateral"),
}
"""What a population is for, where its variants are for different things."""
FAMILY_METRICS = {
    "compaction": ("accuracy",),
    "competence": ("accuracy",),
    "null": ("false-edge",),
    "reversal": ("accuracy",),
    "sybil": ("false-pass", "false-merge"),
    "syndicated": ("false-pass", "false-merge"),
}
"""What a family is for; of any other, and of other people's sets, `USUAL_METRICS` are shown. The rest is folded away."""
USUAL_METRICS = ("persistence", "accuracy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Generic[Item]):
    """A picture and the table behind it."""

    key: str
    title: str
    chart: Markup
    rows: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricBlock:
    """One metric of one population: a picture and its table."""

    metric: str
    chart: Markup
    rows: tuple[ArmRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationBlock:
    """One family and variant."""

    key: str
    title: str
    outcome_chart: Markup
    outcomes: tuple[OutcomeRow, ...]
    main: tuple[MetricBlock, ...]
    more: tuple[MetricBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSummary:
    """One gate over all claims."""

    gate: GateName
    claims: int
    decisions: tuple[tuple[str, int], ...]
    edges: int
    median_rho: float | None
    passes: int
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseSummary:
    """What the persisted falsehoods of one arm rest on."""

    arm: str
    answers: int
    roles: tuple[tuple[str, int], ...]


def population_title(family: str, variant: str) -> str:
    """A population as a heading."""
    name = FAMILIES.get(family, family.replace("-", " ").capitalize())
    return name if variant in ("base", "any") else f"{name}: {variant.replace('-', ' ')}"


def order_name(order: str) -> str:
    """A premise order in words; empty where there is none."""
    return ORDERS.get(order, order)


def part_chart(criterion: CriterionRow, part: PartRow) -> Markup:
    """The deciding interval of one part against its threshold; a second line where trials are missing."""
    scale: Scale = "share" if part.right is None else "difference"
    show = percent if part.right is None else points
    dots = [dot(part.interval, show)]
    if part.incomplete:
        low, high = part.optimistic, part.pessimistic
        if part.direction == "lower-above":
            low, high = high, low
        ends = Estimate(
            estimate=part.interval.estimate,
            low=low.low,
            high=high.high,
            method="missing trials at both extremes",
            n=part.wordings,
            level=part.interval.level,
            undefined=part.interval.undefined,
        )
        dots.append(dot(ends, show, series=1))
    line = Line(
        label=part.left if part.right is None else f"{part.left} − {part.right}", dots=tuple(dots), emphasis=True
    )
    return forest(
        [line],
        scale=scale,
        identity=slug("chart", criterion.id, part.name),
        title=f"{criterion.id.upper()}, {part.name}",
        series=("observed", "missing trials at both extremes") if part.incomplete else (),
        goal=Goal(value=part.threshold, direction=part.direction, subject=""),
    )


def populations(data: ReportData) -> tuple[PopulationBlock, ...]:
    """Arms by population."""
    blocks = []
    for (family, variant), rows in sorted(grouped(data.arms, lambda r: (r.family, r.variant)), key=family_place):
        outcomes = [o for o in data.outcomes if (o.family, o.variant) == (family, variant)]
        apart = [o for o in outcomes if o.premise_order != BOTH]
        apart.sort(key=lambda o: _arm_places(outcomes)[o.arm])
        key = slug(family, variant)
        title = population_title(family, variant)
        metrics = {metric: tuple(members) for metric, members in grouped(rows, lambda r: r.metric)}
        wanted = MAIN_METRICS.get((family, variant)) or FAMILY_METRICS.get(family, USUAL_METRICS)
        main = [m for m in wanted if m in metrics]
        blocks.append(
            PopulationBlock(
                key=key,
                title=title,
                outcome_chart=outcome_bars(
                    [(_labelled(o.arm, o.premise_order), o.counts) for o in apart],
                    identity=slug("outcomes-chart", key),
                    title=f"{title}: outcomes by arm",
                ),
                outcomes=tuple(apart),
                main=tuple(_metric_block(key, title, m, metrics[m]) for m in main),
                more=tuple(_metric_block(key, title, m, rows) for m, rows in metrics.items() if m not in main),
            )
        )
    return tuple(blocks)


def competence_chart(data: ReportData) -> Markup:
    """Accuracy where nothing but corrections was shown, against the bar below which nothing is judged."""
    assert data.competence is not None
    return forest(
        [Line(label=f"arm {data.competence.arm}", dots=(dot(data.competence.exact, percent),), emphasis=True)],
        scale="share",
        identity="competence-chart",
        title="Competence: accuracy where only corrections were shown",
        bar=data.competence_threshold,
    )


def readings(data: ReportData) -> tuple[tuple[str, str], ...]:
    """The arms that the run read, with what each answers."""
    read = {row.arm for row in data.accounting}
    asked = [(name, row.question) for name, row in ARMS.items() if name in read]
    return (*asked, *((name, "Not in the table of arms.") for name in sorted(read - ARMS.keys())))


def gates(rows: Iterable[StabilityRow]) -> tuple[GateSummary, ...]:
    """Every gate over the claims it judged."""
    summaries = []
    for name, members in grouped(rows, lambda r: r.gate):
        rhos = [row.rho for row in members if row.rho is not None]
        summaries.append(
            GateSummary(
                gate=name,
                claims=len(members),
                decisions=tuple(sorted(Counter(row.decision for row in members).items())),
                edges=sum(row.edges for row in members),
                median_rho=statistics.median(rhos) if rhos else None,
                passes=sum(row.passes for row in members),
                command=gate(name, dict.fromkeys(row.ledger for row in members)),
            )
        )
    return tuple(summaries)


def causes(rows: Iterable[PersistedRow]) -> tuple[CauseSummary, ...]:
    """Per arm, what the persisted falsehoods rest on."""
    summaries = []
    for arm, members in grouped(rows, lambda r: r.arm):
        roles = Counter(row.entry_role or f"no entry ({row.result})" for row in members)
        answers = {(row.scenario_id, row.variant, row.premise_order) for row in members}
        summaries.append(CauseSummary(arm=arm, answers=len(answers), roles=tuple(sorted(roles.items()))))
    return tuple(sorted(summaries, key=lambda s: arm_rank(s.arm)))


def survival(data: ReportData) -> tuple[Block[SurvivalRow], ...]:
    """Survival curves by family, an arm a panel."""
    blocks = []
    for family, rows in grouped(data.survival, lambda r: r.family):
        title = FAMILIES.get(family, family.replace("-", " ").capitalize())
        curves = [
            Curve(label=f"arm {arm}", points=tuple(_point(row) for row in members))
            for arm, members in grouped(rows, lambda r: r.arm)
        ]
        key = slug("survival-curves", family)
        chart = panels(
            curves,
            identity=slug("chart", key),
            title=f"{title}: share of answers that a correction decides, by folds since, simultaneous 95 % bands",
            series=("a correction decides the answer", "a correction is in view"),
        )
        blocks.append(Block(key=key, title=title, chart=chart, rows=tuple(rows)))
    return tuple(blocks)


def _point(row: SurvivalRow) -> Point:
    in_view = row.in_context / row.in_context_known if row.in_context_known else None
    return Point(folds=row.folds, share=row.band.estimate, low=row.band.low, high=row.band.high, beside=in_view)


def power_of(criterion: CriterionRow) -> str:
    """The power of a whole criterion in words: between what its parts leave certain and the least of theirs."""
    least = min(part.power_at_least for part in criterion.parts)
    tail = "at the smallest effect of interest, with every wording counted once"
    if criterion.power_at_least > 0:
        return (
            f"between {percent(criterion.power_at_least)} and {percent(least)} {tail}; the range is what the dependence "
            "of the bounds leaves open"
        )
    missing = " + ".join(percent(1 - part.power_at_least) for part in criterion.parts)
    return (
        f"at most {percent(least)} {tail}; no lower limit is known, because the chances that a bound is missed ({missing}) "
        "add up to all, and may exclude each other"
    )


def graph_of(cascade: Cascade, place: int) -> Markup:
    """The picture of one cascade."""
    return cascade_graph(cascade, identity=slug("cascade", str(place), cascade.scenario_id, cascade.arm))


def _metric_block(key: str, title: str, metric: str, rows: Sequence[ArmRow]) -> MetricBlock:
    orders = [order for order in SERIES if any(row.premise_order == order for row in rows)]
    by_arm = {arm: {row.premise_order: row for row in members} for arm, members in grouped(rows, lambda r: r.arm)}
    lines = []
    for arm, found in by_arm.items():
        shown = [found[order] for order in orders if order in found] or list(found.values())
        dots = tuple(dot(row.plot, percent, series=place) for place, row in enumerate(shown))
        lines.append(Line(label=arm, dots=dots, emphasis=arm == "2"))
    chart = forest(
        lines,
        scale="share",
        identity=slug("chart", key, metric),
        title=f"{title}: {metric.replace('-', ' ')} by arm, Wilson 95 % intervals",
        series=[order_name(order) for order in orders],
        goal=_goal(rows),
    )
    return MetricBlock(metric=metric, chart=chart, rows=tuple(rows))


def _goal(rows: Sequence[ArmRow]) -> Goal | None:
    """The threshold of the rows' criterion, if there is exactly one."""
    goals = {
        (row.threshold, row.threshold_direction, row.arm)
        for row in rows
        if row.threshold is not None and row.threshold_direction is not None
    }
    if len(goals) != 1:
        return None
    value, direction, arm = goals.pop()
    return Goal(value=value, direction=direction, subject=f"arm {arm}")


def dot(estimate: Estimate, show: Callable[[float | None], str], series: int = 0) -> Dot:
    """An estimate as a mark of a forest plot, with its figures in one unit."""
    if estimate.estimate is None or estimate.low is None or estimate.high is None:
        return Dot(estimate=None, low=None, high=None, text="undefined", series=series)
    text = f"{show(estimate.estimate)} [{show(estimate.low)}, {show(estimate.high)}]"
    unit = "\u202fpp" if show is points else "\u202f%"
    compact = text.replace(unit, "") + unit
    return Dot(estimate=estimate.estimate, low=estimate.low, high=estimate.high, text=compact, series=series)


def family_place(group: tuple[tuple[str, ...], object]) -> int:
    """Planted premises first: they are what the report is about."""
    family = group[0][0]
    return list(FAMILIES).index(family) if family in FAMILIES else len(FAMILIES)


def _labelled(arm: str, order: str) -> str:
    name = order_name(order)
    return f"{arm} · {name}" if name else arm


def _arm_places(rows: Sequence[OutcomeRow]) -> dict[str, int]:
    return {arm: place for place, arm in enumerate(dict.fromkeys(row.arm for row in rows))}


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    """Items by key in the order of first appearance."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())
