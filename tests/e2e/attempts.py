"""Attempts at the main job in forked processes: watched at every durable step, and able to die at any of them."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from attribution.models import LanguageModel
from ledger_core.kernel.statements import Scope
from ledger_core.stores.ledger import list_scopes
from ledger_core.stores.verify import verify
from pipelines.lake import TABLES
from pipelines.lake.parquet import stored_root
from tests.pipelines.tiny_run import open_tiny

Watch = Callable[[str], None]
"""Called at every durable step with its name; may kill the process."""

INSIDE = "inside an append"
"""Events were written and their transaction is still open."""


@dataclass(frozen=True)
class Attempt:
    """How an attempt ended and which durable steps it took."""

    home: Path
    status: int
    """Exit status; negative where a signal ended the process."""
    steps: tuple[str, ...]

    @property
    def stages(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """For each table or report, the mark before it and the steps that led to it, its own writing included."""
        found: list[tuple[str, tuple[str, ...]]] = []
        mark, led = "", []
        for step in self.steps:
            led.append(step)
            if step.startswith("write ") or step == "report":
                found.append((mark, tuple(led)))
                mark, led = step, []
        return tuple(found)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Report every append, event inside one, table, score block, answer, tracking record and report to ``watch``."""
    from attribution.blocks import BlockCache
    from evals.agents.answer_cache import AnswerCache
    from ledger_core.stores.blobs import FileBlobStore
    from ledger_core.stores.sqlite import SqliteEventStore, _Transaction
    from pipelines.assets import tables
    from pipelines.stages import reports
    from pipelines.tracking.mlflow_store import MlflowStore

    def before(owner: object, name: str, step: Callable[..., str]) -> mock._patch:
        real = getattr(owner, name)

        def call(*args: object, **kwargs: object) -> object:
            watch(step(*args))
            return real(*args, **kwargs)

        return mock.patch.object(owner, name, call)

    def write(self: _Transaction, real: Callable[..., None] = _Transaction.write) -> None:
        real(self)
        if self.added:
            watch(INSIDE)

    with ExitStack() as patches:
        for patch in (
            before(SqliteEventStore, "append", lambda *_: "append"),
            before(FileBlobStore, "put_all", lambda *_: "blobs"),
            before(BlockCache, "put", lambda *_: "scores"),
            before(AnswerCache, "put", lambda *_: "answer"),
            before(MlflowStore, "record", lambda *_: "tracking"),
            before(tables, "write_table", lambda folder, name, _: f"write {folder.parent.name}/{name}"),
            before(reports, "write_files", lambda *_: "report"),
            mock.patch.object(_Transaction, "write", write),
        ):
            patches.enter_context(patch)
        yield


def main_job(home: Path, language: LanguageModel, **options: object) -> None:
    """The main job, tiny."""
    from pipelines.main_job import run_main_job

    run_main_job(open_tiny(home, language, **options))


def attempt(
    home: Path,
    language: LanguageModel,
    die_at: Callable[[str], bool] | None = None,
    job: Callable[..., None] = main_job,
    **options: object,
) -> Attempt:
    """``job`` below ``home`` in a forked process, which dies as by ``kill -9`` at the first step that ``die_at`` names."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os._exit(_child(lambda: job(home, language, **options), die_at, writer))
    os.close(writer)
    with os.fdopen(reader) as reported:
        steps = tuple(reported.read().splitlines())
    _, status = os.waitpid(child, 0)
    return Attempt(home, os.waitstatus_to_exitcode(status), steps)


def _child(job: Callable[[], None], die_at: Callable[[str], bool] | None, writer: int) -> int:
    def watch(step: str) -> None:
        os.write(writer, f"{step}\n".encode())
        if die_at is not None and die_at(step):
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        with watched(watch):
            job()
    except BaseException:  # noqa: BLE001 - the parent is told by the status, the reader by the traceback
        traceback.print_exc()
        sys.stderr.flush()
        return 1
    return 0


def after(mark: str, offset: int) -> Callable[[str], bool]:
    """Names the step that comes ``offset`` steps (from 1) after the one called ``mark``."""
    counted: list[str] = []

    def names(step: str) -> bool:
        if counted or step == mark:
            counted.append(step)
        return len(counted) == offset + 1

    return names


def result(home: Path) -> dict[str, object]:
    """Everything that equal runs must agree on: heads, row roots, the bytes of the report."""
    scopes = list_scopes(home)
    return {
        "heads": {_name(scope): _head(home, scope) for scope in scopes},
        "roots": {f"{_name(scope)}/{name}": root for scope in scopes for name, root in _roots(home, scope)},
        "reports": {path.parent.name: path.read_bytes() for path in sorted((home / "reports").glob("*/report.json"))},
    }


def _name(scope: Scope) -> str:
    return f"{scope.tenant_namespace}/{scope.project_namespace}"


def _head(home: Path, scope: Scope) -> tuple[str, str]:
    with open_scope(home, scope) as ledger:
        assert verify(ledger).first_divergence is None
        return ledger.head(), ledger.head("control")


def open_scope(home: Path, scope: Scope):
    from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
    from ledger_core.stores.ledger import Ledger
    from tests.pipelines.tiny_run import NOW

    return Ledger.open(home, scope, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)


def _roots(home: Path, scope: Scope) -> Iterator[tuple[str, str]]:
    folder = home / "lake" / scope.tenant_namespace / scope.project_namespace
    for name in TABLES:
        if (folder / f"{name}.parquet").exists():
            yield name, stored_root(folder, name)
