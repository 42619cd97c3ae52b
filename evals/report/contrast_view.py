"""Differences between arms arranged for the page: by premise order, by right and wrong retractions, by folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def retractions(data: ReportData) -> tuple[Block[ContrastRow], ...]:
    """What retraction does to accuracy, arm 2 − 2k, where it is right and where it is wrong."""
    rows = [r for r in data.contrasts if (r.left, r.right, r.metric) == ("2", "2k", "accuracy")]
    rows = [row for row in rows if row.family not in _NOTHING_STANDS]
    blocks = []
    for key, title, chosen in (
        ("right", "Right retractions: what they gain", [r for r in rows if r.family not in WRONG_RETRACTIONS]),
        ("wrong", "Wrong retractions: what they cost", [r for r in rows if r.family in WRONG_RETRACTIONS]),
    ):
        if chosen:
            place = slug("retractions", key)
            chart = _by_order(chosen, place, f"{title}, accuracy in arm 2 − 2k", _population_label)
            blocks.append(Block(key=place, title=title, chart=chart, rows=tuple(chosen)))
    return tuple(blocks)


def _pair_label(row: ContrastRow) -> str:
    return f"{row.left} − {row.right}"


def _population_label(row: ContrastRow) -> str:
    return population_title(row.family, row.variant)


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
