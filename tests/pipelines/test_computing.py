"""The executor changes nothing that is written; budgets end a command between two blocks."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from attribution.blocks import BlockCache
from attribution.errors import BudgetError
from attribution.executors import Deadline
from attribution.models import LanguageModel
from ledger_core.connectors.importing import import_transcripts
from ledger_core.kernel.statements import Scope
from pipelines.computing import Computing, side_by_side
from pipelines.lake import write_table
from pipelines.settings import Settings
from pipelines.stages import ledger as replay
from pipelines.stages.attribution import measured_edges_rows
from pipelines.workspace import Workspace
from tests.pipelines.tiny_run import NOW, floors_for

SCOPE = Scope.make(tenant_namespace="default", project_namespace="imported")
TABLES = ("ledger_events", "entries", "edges", "generations")


def chats(count: int) -> str:
    """Short transcripts with two sources and one claim each."""
    lines = []
    for number in range(count):
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": "When does it open?"},
            {"role": "user", "content": f"The depot {number} opens at {number + 3}."},
            {"role": "user", "content": "The ferry takes vans."},
            {"role": "assistant", "content": f"It opens at {number + 3}."},
        ]
        lines.append(json.dumps({"id": f"chat-{number}", "messages": messages}))
    return "\n".join(lines) + "\n"


def workspace(home: Path, language: LanguageModel, executor: str = "serial", **bounds: Any) -> Workspace:
    settings = Settings(
        home, home / "reports", str(language.files.path), "default", "imported", threads=1, executor=executor, workers=2
    )
    at = Workspace(settings, now=NOW, bounded=Computing.of(settings, **bounds))
    at.floors = floors_for(language.files.weights_digest)
    at._models["model"] = language
    if not at.lake(SCOPE).exists():
        home.mkdir(exist_ok=True)
        (home / "chats.jsonl").write_text(chats(3))
        with at.ledger(SCOPE) as ledger:
            import_transcripts(ledger, "chat", home / "chats.jsonl")
        for name in TABLES:
            write_table(at.lake(SCOPE), name, getattr(replay, f"{name}_rows")(at, SCOPE))
    return at


@pytest.fixture(scope="module")
def expected(tiny_wide, tmp_path_factory) -> list[dict[str, Any]]:
    rows = measured_edges_rows(workspace(tmp_path_factory.mktemp("serial"), tiny_wide), SCOPE)
    assert len(rows) == 3
    assert all(row["total_effect_micro_nats"] is not None for row in rows)
    return rows


def test_processes_write_what_one_process_writes(tiny_wide, tmp_path, expected):
    at = workspace(tmp_path / "home", tiny_wide, "processes")
    assert measured_edges_rows(at, SCOPE) == expected
    assert len(list(at.blocks.folder.rglob("*.npy"))) >= 3
    # What processes stored is read by one process: nothing is computed again.
    serial = workspace(tmp_path / "home", tiny_wide)
    assert serial.blocks.folder == at.blocks.folder
    before = {path: path.stat().st_mtime_ns for path in at.blocks.folder.rglob("*.npy")}
    assert measured_edges_rows(serial, SCOPE) == expected
    assert {path: path.stat().st_mtime_ns for path in at.blocks.folder.rglob("*.npy")} == before


def test_a_command_out_of_time_goes_on_where_it_ended(tiny_wide, tmp_path, expected):
    at = workspace(tmp_path / "home", tiny_wide)
    clock = iter([0.0, 1.0, 2.0, *[100.0] * 99])
    at.bounded = Computing(executor="serial", workers=1, threads=1, deadline=Deadline(1, now=lambda: next(clock)))
    with pytest.raises(BudgetError, match="run the same command again"):
        measured_edges_rows(at, SCOPE)
    kept = len(list(at.blocks.folder.rglob("*.npy")))
    assert kept == 2
    assert measured_edges_rows(workspace(tmp_path / "home", tiny_wide), SCOPE) == expected
    assert len(list(at.blocks.folder.rglob("*.npy"))) > kept


def test_memory_that_holds_no_worker_is_refused_with_both_numbers(tiny_wide, tmp_path):
    at = workspace(tmp_path / "home", tiny_wide, max_memory=100)
    with pytest.raises(BudgetError, match=r"one worker needs \d+ MiB for sequences of \d+ tokens.* budget is 100 MiB"):
        measured_edges_rows(at, SCOPE)


def test_tables_of_other_threads_lie_apart(tiny_wide, tmp_path):
    settings = Settings(tmp_path, tmp_path, str(tiny_wide.files.path), "default", "imported", threads=2)
    assert Workspace(settings, now=NOW).blocks.folder == tmp_path / "cache" / "blocks" / "threads-2"
    one = Workspace(Settings(**{**_plain(settings), "executor": "processes"}), now=NOW)
    assert one.blocks.folder.name == "threads-1"
    assert isinstance(one.blocks, BlockCache)


def _plain(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}


def test_results_come_in_order_whoever_is_faster():
    gates = [threading.Event() for _ in range(3)]

    def work(number: int) -> int:
        if number < 2:
            gates[number + 1].wait(10)  # until the next one is through
        gates[number].set()
        return number * number

    assert list(side_by_side(work, [0, 1, 2], workers=2, abandon=pytest.fail)) == [0, 1, 4]


def test_one_worker_works_here_and_no_further_than_asked():
    done: list[int] = []

    def work(number: int) -> str:
        done.append(number)
        return threading.current_thread().name

    results = side_by_side(work, [0, 1, 2], workers=1, abandon=pytest.fail)
    assert next(results) == threading.current_thread().name
    assert done == [0]


@pytest.mark.parametrize(("end", "abandoned"), [(BudgetError("over"), 0), (KeyboardInterrupt(), 1)])
def test_an_end_begins_nothing_new_and_a_person_waits_for_nothing(end, abandoned):
    begun: list[int] = []
    calls: list[str] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 0:
            raise end
        threading.Event().wait(0.2)
        return number

    with pytest.raises(type(end)):
        list(side_by_side(work, list(range(50)), workers=2, abandon=lambda: calls.append("abandoned")))
    assert len(calls) == abandoned
    assert len(begun) < 10
