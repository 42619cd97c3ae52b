"""The page: one self-contained HTML file, the same bytes for the same document."""

from __future__ import annotations

from dataclasses import dataclass

from evals.report import commands, contrast_view, text, view
from evals.report.charts import OUTCOME_COLOURS
from evals.report.compare import Comparison
from evals.report.data import ChangeTable, ReportData
from evals.report.environment import page_environment, style_sheet
from evals.report.tables import TABLES
from evals.report.weights import reliability_chart

SECTIONS = (
    ("verdicts", "Verdicts"),
    ("controls", "What a sceptic asks first"),
    ("criteria", "How each came about"),
    ("provenance", "Oracle and real"),
    ("arms", "The arms"),
    ("retractions", "Right and wrong"),
    ("changes", "Paired changes"),
    ("survival", "Survival"),
    ("persisted", "Persisted falsehoods"),
    ("cascades", "Cascades"),
    ("what-if", "What if"),
    ("stability", "Stability"),
    ("weights", "Weights"),
    ("transcripts", "Transcripts"),
)

_FULLEST = 0.22
"""Opacity of a cell that holds every unit: dark text on it keeps a contrast above 7 : 1."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many rows of the long tables the page shows; the tables beside it hold all."""

    persisted: int = 80
    cascades: int = 12
    what_if: int = 80
    stability: int = 240
    transcripts: int = 24


def render_html(data: ReportData) -> str:
    """The report as one HTML document without any reference outside its folder."""
    environment = page_environment()
    environment.globals.update(
        belief=lambda parts: text.number(parts / 1_000_000_000, 3),
        graph_of=view.graph_of,
        heat=_heat,
        number=text.number,
        outcome_name=lambda name: OUTCOME_COLOURS[name][2] if name in OUTCOME_COLOURS else name,
        order_name=view.order_name,
        competence_chart=view.competence_chart,
        part_chart=view.part_chart,
        points=text.points,
        power_of=view.power_of,
        population_title=view.population_title,
        recompute=commands.Recompute(data.identity.run, data.identity.evaluate),
        why=commands.why,
    )
    return environment.get_template("index.html.j2").render(
        data=data,
        css=style_sheet(environment),
        sections=SECTIONS,
        tables=[f"{name}.parquet" for name in TABLES],
        limits=Limits(),
        populations=view.populations(data),
        causes=view.causes(data.persisted),
        totals=_totals(data),
        contrasts=contrast_view.contrasts(data),
        controls=contrast_view.controls(data),
        retractions=contrast_view.retractions(data),
        fold_curves=contrast_view.fold_curves(data),
        readings=view.readings(data),
        reliability=reliability_chart(data.weights.reliability) if data.weights else "",
        gates=view.gates(data.stability),
        survival=view.survival(data),
    )


def render_comparison(found: Comparison) -> str:
    """Two reports side by side as one HTML document."""
    environment = page_environment()
    environment.globals.update(
        compared=contrast_view.compared(found),
        population_title=view.population_title,
        points=text.points,
    )
    return environment.get_template("compare.html.j2").render(found=found, css=style_sheet(environment))


def _totals(data: ReportData) -> dict[str, int]:
    """Trials of the whole run by where they went."""
    names = ("planned", "scored", "errored", "unscored", "retried")
    return {name: sum(getattr(row, name) for row in data.accounting) for name in names}


def _heat(found: int, table: ChangeTable) -> str:
    total = sum(sum(row) for row in table.counts)
    return f"{_FULLEST * found / total:.3f}" if total else "0"
