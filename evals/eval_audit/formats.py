"""From a path to runs: what a file is, is decided by what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evals.errors import EvalLogError
from evals.eval_audit import lm_eval, tau_bench
from evals.eval_audit.inspect_log import read_inspect_run
from evals.eval_audit.runs import EvalRun
from ledger_core.connectors.reading import load, load_json, read_json
from ledger_core.connectors.transcript import RecordError
from ledger_core.kernel.errors import ConnectorError

KNOWN = "an Inspect log (.json, .eval), samples of lm-eval (samples_*.jsonl) and tau-bench results (.json)"

_STARTS = (b"{", b"[", b"PK")
_PROBED = 4096


class NotALog(Exception):  # noqa: N818 - in a folder it is no error
    """A file that is no evaluation log, and what it is instead."""


def files_of(path: Path) -> list[Path]:
    """The file itself, or all files below the folder that are not hidden, in order.

    Raises:
        EvalLogError: nothing is there.
    """
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file())
        return [each for each in inside if not any(part.startswith(".") for part in each.relative_to(path).parts)]
    if not path.exists():
        raise EvalLogError(f"{path}: there is no such file or folder; check the path")
    return [path]


def read_run(path: Path) -> EvalRun:
    """The run that the file at ``path`` logs.

    Raises:
        EvalLogError: the file is cut off, damaged or empty.
        NotALog: the file is something else.
    """
    try:
        return _read(path)
    except ConnectorError as error:
        raise EvalLogError(str(error)) from error


def _read(path: Path) -> EvalRun:
    data = load(path)
    start = data[:_PROBED].lstrip()
    if not start.startswith(_STARTS):
        raise NotALog("is neither JSON nor a zip")
    if start.startswith(b"PK"):
        return read_inspect_run(path)
    if start.startswith(b"["):
        return _array(path, data)
    first = data.lstrip().splitlines()[0]
    if lm_eval.is_sample(_json_or_none(first)):
        return lm_eval.lm_eval_run(path, *_lines(data))
    value = load_json(path, data)
    if isinstance(value, dict) and isinstance(value.get("eval"), dict):
        return read_inspect_run(path)
    if isinstance(value, dict) and "results" in value and ("configs" in value or "versions" in value):
        raise NotALog("reports the results of lm-eval, which are read beside its samples_*.jsonl")
    raise NotALog("is JSON of another form")


def _array(path: Path, data: bytes) -> EvalRun:
    value = load_json(path, data)
    items = value if isinstance(value, list) else []
    if any(map(lm_eval.is_sample, items)):
        return lm_eval.lm_eval_run(path, [(f"record {place}", item) for place, item in enumerate(items)], ())
    if any(map(tau_bench.is_trial, items)):
        return tau_bench.tau_bench_run(path, items)
    raise NotALog("is a list of something else")


def _lines(data: bytes) -> tuple[list[tuple[str, object]], list[tuple[str, str]]]:
    lines: list[tuple[str, object]] = []
    unread: list[tuple[str, str]] = []
    for place, line in _numbered(data):
        try:
            lines.append((place, read_json(line)))
        except RecordError as error:
            unread.append((place, str(error)))
    return lines, unread


def _numbered(data: bytes) -> Iterator[tuple[str, bytes]]:
    for place, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield f"line {place}", line


def _json_or_none(data: bytes) -> object:
    try:
        return read_json(data)
    except RecordError:
        return None
