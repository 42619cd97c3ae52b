"""tau-bench results: ``[{task_id, trial, reward, info, traj: [chat messages]}]`` in one JSON file.

Source: github.com/sierra-research/tau-bench, `EnvRunResult`. Its environment reports a tool's exception as a result that
begins with ``Error:``, and no file carries a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ledger_core.connectors.messages import Dialect, read_messages
from ledger_core.connectors.reading import describe, load, load_json, mapping, record_digest
from ledger_core.connectors.transcript import Outcome, Reading, RecordError, Reject, TranscriptRecord
from ledger_core.kernel.errors import ConnectorError


def _outcome(_message: Mapping[str, object], text: str) -> Outcome:
    return "error" if text.startswith("Error:") else "ok"


_DIALECT = Dialect(outcome=_outcome)


def read_tau_bench(path: Path) -> Reading:
    """The trials of ``path``; one that cannot be read is rejected with its index.

    Raises:
        ConnectorError: a file that is missing, empty, cut off, not UTF-8, or no list.
    """
    value = load_json(path, load(path))
    if not isinstance(value, list):
        raise ConnectorError(
            f"{path}: is {describe(value)}, not tau-bench's list of trials; name the file's own format"
        )
    if not value:
        raise ConnectorError(f"{path}: is an empty list; pass a file with at least one trial")
    return Reading(len(value), _records(value))


def _records(trials: list[object]) -> Iterator[TranscriptRecord | Reject]:
    for index, trial in enumerate(trials):
        place = f"record {index}"
        try:
            yield _record(mapping(trial, "it"), place)
        except RecordError as error:
            yield Reject(place, str(error))


def _record(trial: Mapping[str, object], place: str) -> TranscriptRecord:
    parts = (trial.get("task_id"), trial.get("trial"))
    own_id = tuple(str(part) for part in parts if isinstance(part, (int, str)) and not isinstance(part, bool))
    is_own = len(own_id) == len(parts)
    return TranscriptRecord(
        place=f"{place} (task {own_id[0]}, trial {own_id[1]})" if is_own else place,
        own_id=own_id if is_own else None,
        digest=record_digest(trial),
        messages=read_messages(trial.get("traj"), _DIALECT),
    )
