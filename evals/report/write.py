"""Put a report into a folder: each file is complete or absent, and only ``run.json`` knows when and where."""

from __future__ import annotations

import json
from pathlib import Path

from evals.errors import ReportError
from evals.report.data import ReportData
from evals.report.inputs import RunFacts
from evals.report.render import render_html
from evals.report.tables import write_tables
from ledger_core.stores.files import write_whole

PAGE = "index.html"
DOCUMENT = "report.json"
RUN = "run.json"


def write_report(folder: Path, data: ReportData, run: RunFacts) -> Path:
    """Write the page, its document, its tables and the run's own facts; returns the page's path.

    Raises:
        ReportError: the folder cannot be written.
    """
    facts = json.dumps(run.model_dump(mode="json"), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / DOCUMENT, data.to_json().encode())
        write_tables(folder, data)
        write_whole(folder / RUN, facts.encode())
        write_whole(folder / PAGE, render_html(data).encode())
    except OSError as error:
        raise ReportError(f"the report cannot be written to {folder}: {error.strerror or error}") from error
    return folder / PAGE


def read_report(folder: Path) -> ReportData:
    """The document of a written report.

    Raises:
        ReportError: no report there, or one of another version.
    """
    path = folder / DOCUMENT
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ReportError(f"no report at {path}: {error.strerror or error}; make one with `veritas report`") from error
    try:
        return ReportData.from_json(text)
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from error
