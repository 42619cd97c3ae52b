"""Which records `veritas attribute --shortest` takes: words of the assistant after two results, not JSON of a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.connectors import import_transcripts
from ledger_core.kernel.statements import Scope
from ledger_core.stores import Ledger
from pipelines.errors import UsageError
from pipelines.lake import write_table
from pipelines.settings import Settings
from pipelines.stages.ledger import entries_rows, generations_rows, ledger_events_rows
from pipelines.stages.selection import check_records, shortest_records
from pipelines.workspace import Workspace
from tests.pipelines.tiny_run import NOW

SCOPE = Scope.make(tenant_namespace="default", project_namespace="imported")


def _call(number: int, words: str | None = None) -> list[dict[str, Any]]:
    function = {"name": "lookup", "arguments": f'{{"n": {number}}}'}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": words, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": f"result {number}"},
    ]


def _trial(task: int, *messages: dict[str, Any]) -> dict[str, Any]:
    return {"task_id": task, "trial": 0, "traj": [{"role": "user", "content": "Look them up."}, *messages]}


SAYS = {"role": "assistant", "content": "Both are there."}
TRIALS = {
    # A third call follows two results, and nobody says a word: its JSON is no text.
    1: _trial(1, *_call(1), *_call(2), *_call(3)),
    2: _trial(2, *_call(1), SAYS),
    3: _trial(3, *_call(1), *_call(2), SAYS),
    # Words beside a call are words, also where the record is longer than others.
    4: _trial(4, *_call(1), *_call(2), *_call(3, "Two are there, now the third.")),
    5: _trial(5, SAYS, *_call(1), *_call(2)),
    6: _trial(6, *_call(1), *_call(2), {"role": "assistant", "content": "  \n"}),
}


def _workspace(tmp_path: Path, *tasks: int) -> Workspace:
    file = tmp_path / "trials.json"
    file.write_text(json.dumps([TRIALS[task] for task in tasks]))
    settings = Settings(tmp_path / "home", tmp_path / "reports", "none", "default", "imported")
    with Ledger.open(
        settings.home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME
    ) as ledger:
        assert import_transcripts(ledger, "tau-bench", file).records == len(tasks)
    at = Workspace(settings, now=NOW)
    for name, rows in (
        ("ledger_events", ledger_events_rows),
        ("entries", entries_rows),
        ("generations", generations_rows),
    ):
        write_table(at.lake(SCOPE), name, rows(at, SCOPE))
    return at


def test_a_record_needs_words_after_two_results(tmp_path: Path):
    at = _workspace(tmp_path, *TRIALS)
    assert shortest_records(at, SCOPE, 9) == ("3/0", "4/0")
    assert shortest_records(at, SCOPE, 1) == ("3/0",)


def test_where_no_record_fits_all_are_not_measured_instead(tmp_path: Path):
    at = _workspace(tmp_path, 1, 2)
    with pytest.raises(UsageError, match="no record of default/imported has 2 tool results with assistant text"):
        shortest_records(at, SCOPE, 3)


def test_an_unknown_record_is_answered_with_those_that_are_there(tmp_path: Path):
    at = _workspace(tmp_path, *TRIALS)
    check_records(at, SCOPE, ("3/0", "6/0"))
    with pytest.raises(
        UsageError, match="no record '3' in default/imported; there are 1/0, 2/0, 3/0, 4/0, 5/0 and 1 more"
    ):
        check_records(at, SCOPE, ("3/0", "3"))
