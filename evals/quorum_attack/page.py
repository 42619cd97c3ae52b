"""The page of a study: one HTML file that opens from disk, the same bytes for the same document."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evals.errors import ReportError
from evals.quorum_attack import pictures
from evals.quorum_attack.document import QuorumAttackData
from evals.report import text
from evals.report.environment import page_environment, style_sheet
from ledger_core.stores.files import write_whole

PAGE: Final = "index.html"
DOCUMENT: Final = "quorum-attack.json"

SECTIONS: Final = (
    ("result", "The result"),
    ("curve", "The curve"),
    ("rewrites", "An attacker who knows the rule"),
    ("ledger", "Through the ledger"),
    ("sets", "What was compared"),
)

MEASURES: Final = {
    "passing": "attacks that pass",
    "merged": "honest pairs merged",
    "silenced": "questions without an honest quorum",
}


def write_study(folder: Path, data: QuorumAttackData) -> Path:
    """Write page and document into ``folder``; returns the page's path.

    Raises:
        ReportError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / DOCUMENT, data.to_json().encode())
        write_whole(folder / PAGE, render_study(data).encode())
    except OSError as error:
        raise ReportError(f"the study cannot be written to {folder}: {error.strerror or error}") from error
    return folder / PAGE


def render_study(data: QuorumAttackData) -> str:
    """The study as one HTML document without any reference outside its folder."""
    environment = page_environment("evals.quorum_attack")
    return environment.get_template("quorum_attack.html.j2").render(
        data=data,
        css=style_sheet(environment),
        sections=SECTIONS,
        measures=MEASURES,
        headline=headline(data),
        sweep=pictures.sweep,
        trade_off=pictures.trade_off,
        series_of=pictures.series_of,
        threshold=lambda ppm: f"{ppm / 1_000_000:.2f}",
        document=DOCUMENT,
    )


def headline(data: QuorumAttackData) -> str:
    """The result in one sentence, whatever it is."""
    parts = []
    for name in ("seed-v4", "calibrated"):
        passed = [row for row in data.figures if (row.point, row.measure) == (name, "passing")]
        shown = ", ".join(f"{row.events:.0f} of {row.of} on {row.set_name}" for row in passed)
        taken = [row for row in data.figures if (row.point, row.measure, row.part) == (name, "merged", "check")]
        honest = ", ".join(f"{text.percent(row.share.estimate)} on {row.set_name}" for row in taken)
        parts.append(f"{name} lets attacks pass: {shown}; it merges honest pairs: {honest}")
    worst = [row for row in data.rewrites if row.point == "calibrated"]
    if worst:
        most = max(worst, key=lambda row: (row.passed / max(1, row.of), row.rewrite))
        parts.append(f"an attacker who rewrites ({most.rewrite}) passes calibrated on {most.passed} of {most.of}")
    return "; ".join(parts) + "."
