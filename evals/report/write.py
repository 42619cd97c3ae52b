"""Put a report into a folder: each file is complete or absent, and only ``run.json`` knows when and where."""

from __future__ import annotations

import json
import os
from pathlib import Path

from evals.errors import ReportError
from evals.report.data import ReportData
from evals.report.inputs import RunFacts
from evals.report.render import render_html
from evals.report.tables import write_tables

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
        _write(folder / DOCUMENT, data.to_json())
        write_tables(folder, data)
        _write(folder / RUN, facts)
        _write(folder / PAGE, render_html(data))
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


def _write(path: Path, content: str) -> None:
    temporary = path.with_name(f".{path.name}.partial")
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
