"""Differences between arms arranged for the page: by premise order, by right and wrong retractions, by folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.report.anchors import slug
from evals.report.arm_rows import WRONG_RETRACTIONS
from evals.report.charts import Line, forest
from evals.report.commands import BOTH
from evals.report.compare import Comparison, PairedRun
from evals.report.data import ContrastRow, FoldRow, ReportData
from evals.report.text import points
from evals.report.view import SERIES, Block, dot, family_place, grouped, order_name, population_title

_NOTHING_STANDS = ("laundered-guess", "reversal")
"""Families in which no retraction is in force when the question is put."""


def contrasts(data: ReportData) -> tuple[Block[ContrastRow], ...]:
    """Secondary contrasts by population and metric, each premise order beside the pooled figure."""
    blocks = []
    found = grouped(data.contrasts, lambda r: (r.family, r.variant, r.metric))
    for (family, variant, metric), rows in sorted(found, key=family_place):
        key = slug("contrast", family, variant, metric)
        title = f"{population_title(family, variant)}: {metric.replace('-', ' ')}"
        blocks.append(Block(key=key, title=title, chart=_by_order(rows, key, title), rows=tuple(rows)))
    return tuple(blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A comparison that a reviewer would ask for first."""

    question: str
    block: str
    """Key of the contrast's own picture and table."""
    metric: str
    left: str
    right: str
    by_order: Mapping[str, ContrastRow]


CONTROLS = (
    ("Does the ledger help at all?", "planted-premise", "persistence", ("2", "1")),
    ("Is it the retraction, or the renderer's order and tags?", "planted-premise", "persistence", ("2", "2k")),
    ("Does deletion alone do as much?", "planted-premise", "persistence", ("2", "2d")),
    ("Do the tags of stored tiers alone do as much?", "planted-premise", "persistence", ("2", "2t")),
    ("Is a marker enough?", "planted-premise", "persistence", ("2m", "2")),
    ("How far is it from never having seen the falsehood?", "planted-premise", "accuracy", ("2", "1o")),
    ("What does a right retraction gain?", "planted-premise", "accuracy", ("2", "2k")),
    ("What does a wrong retraction cost?", "true-premise-attacked", "accuracy", ("2", "2k")),
)
"""Question, family, metric, and the arms that answer it, left − right."""


def controls(data: ReportData) -> tuple[Control, ...]:
    """The comparisons of ``CONTROLS`` that the run made, each in every premise order."""
    found = []
    for question, family, metric, (left, right) in CONTROLS:
        rows = [
            row
            for row in data.contrasts
            if (row.family, row.metric, row.left, row.right) == (family, metric, left, right)
        ]
        for variant, members in grouped([r for r in rows if r.variant in ("base", "used")], lambda r: r.variant):
            found.append(
                Control(
                    question=question,
                    block=slug("contrast", family, variant, metric),
                    metric=metric,
                    left=left,
                    right=right,
                    by_order={BOTH if row.premise_order == "none" else row.premise_order: row for row in members},
                )
            )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retractions:
    """What retraction does to accuracy, arm 2 − 2k, where it is right and where it is wrong, on one axis."""

    chart: Markup
    right: tuple[ContrastRow, ...]
    wrong: tuple[ContrastRow, ...]


def retractions(data: ReportData) -> Retractions:
    """Gain and cost of retractions by population."""
    rows = [r for r in data.contrasts if (r.left, r.right, r.metric) == ("2", "2k", "accuracy")]
    rows = [row for row in rows if row.family not in _NOTHING_STANDS]
    right = tuple(row for row in rows if row.family not in WRONG_RETRACTIONS)
    wrong = tuple(row for row in rows if row.family in WRONG_RETRACTIONS)
    title = "Right retractions and wrong ones: accuracy in arm 2 − 2k"
    return Retractions(
        chart=_by_order((*right, *wrong), "retractions", title, _retraction_label), right=right, wrong=wrong
    )


def _retraction_label(row: ContrastRow) -> str:
    side = "wrong" if row.family in WRONG_RETRACTIONS else "right"
    return f"{side} · {population_title(row.family, row.variant)}"


def _pair_label(row: ContrastRow) -> str:
    return f"{row.left} − {row.right}"


def _by_order(
    rows: Sequence[ContrastRow], key: str, title: str, label: Callable[[ContrastRow], str] = _pair_label
) -> Markup:
    """One line a label: pooled and in each premise order, as far as there are several."""
    orders = [BOTH, *(order for order in SERIES if any(row.premise_order == order for row in rows))]
    lines = []
    for name, members in grouped(rows, label):
        found = {BOTH if row.premise_order == "none" else row.premise_order: row for row in members}
        dots = [
            dot(found[order].clustered, points, series=place) for place, order in enumerate(orders) if order in found
        ]
        lines.append(Line(label=name, dots=tuple(dots)))
    series = [order_name(order) for order in orders] if len(orders) > 1 else ()
    return forest(lines, scale="difference", identity=slug("chart", key), title=title, series=series)


def fold_curves(data: ReportData) -> tuple[Block[FoldRow], ...]:
    """How far two arms are apart after so many folds, a line a number of folds."""
    blocks = []
    for (family, left, right), rows in grouped(data.folds, lambda r: (r.family, r.left, r.right)):
        key = slug("folds", family, left, "minus", right)
        title = f"{population_title(family, 'any')}: accuracy by folds, arm {left} − {right}"
        lines = [
            Line(label=f"{row.folds} fold{'' if row.folds == 1 else 's'}", dots=(dot(row.band, points),))
            for row in rows
        ]
        chart = forest(lines, scale="difference", identity=slug("chart", key), title=f"{title}, simultaneous 95 % band")
        blocks.append(Block(key=key, title=title, chart=chart, rows=tuple(rows)))
    return tuple(blocks)


def compared(found: Comparison) -> tuple[Block[PairedRun], ...]:
    """Paired differences of two runs by population and metric."""
    blocks = []
    groups = grouped(found.paired, lambda r: (r.family, r.variant, r.metric))
    for (family, variant, metric), rows in sorted(groups, key=family_place):
        key = slug("compared", family, variant, metric)
        title = f"{population_title(family, variant)}: {metric.replace('-', ' ')}, left run − right run"
        lines = [Line(label=f"arm {row.arm}", dots=(dot(row.clustered, points),)) for row in rows]
        chart = forest(lines, scale="difference", identity=slug("chart", key), title=title)
        blocks.append(Block(key=key, title=title, chart=chart, rows=tuple(rows)))
    return tuple(blocks)
