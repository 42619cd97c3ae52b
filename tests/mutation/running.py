"""Tests against mutants: which, how long at most, and what is remembered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tests.mutation.mutants import Mutant
from tests.mutation.plugin import STALE, VARIABLE
from tests.tree import ROOT

Outcome = Literal["killed", "timeout", "survived"]

_KILLED, _COLLECTION_FAILED = 1, 2
_PATIENCE = 5.0
"""A mutant's tests may take this many times as long as without it, and :data:`_GRACE` more."""
_GRACE = 20.0

SUITES: dict[str, tuple[str, ...]] = {
    "ledger_core/kernel/": ("tests/ledger_core/kernel", "tests/golden", "tests/contract/test_event_store.py"),
    "ledger_core/belief/": (
        "tests/ledger_core/belief",
        "tests/properties/test_belief_laws.py",
        "tests/properties/test_projection.py",
        "tests/ledger_core/harness/test_verdicts.py",
    ),
}
"""Package -> tests that are run against its mutants, after those of the module itself."""


@dataclass(frozen=True)
class Result:
    """What the tests made of one mutant."""

    key: str
    module: str
    line: int
    operator: str
    before: str
    after: str
    outcome: Outcome
    seconds: float


class Record:
    """Results in a file of one JSON object a line, so that a run that was stopped goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.known: dict[str, Result] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                result = Result(**json.loads(line))
                self.known[result.key] = result

    def add(self, result: Result) -> None:
        """Remember ``result``, on disk at once."""
        self.known[result.key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")


def stages_of(module: str) -> tuple[tuple[str, ...], ...]:
    """Tests for ``module`` in the order in which they are tried: those of its own name, which kill most, then all."""
    (suite,) = (tests for package, tests in SUITES.items() if module.startswith(package))
    path = Path(module)
    own = Path("tests") / path.parent / f"test_{path.name}"
    return ((str(own),), suite) if (ROOT / own).exists() else (suite,)


def run_tests(tests: Sequence[str], mutant: Mutant | None, timeout: float | None) -> int | None:
    """Exit status of pytest, None where it took too long."""
    environment = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    if mutant is not None:
        environment[VARIABLE] = f"{mutant.module} {mutant.number} {mutant.digest}"
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", "not slow and not browser"]
    command = [sys.executable, "-m", "pytest", "-p", "tests.mutation.plugin", *options, "--hypothesis-seed=1", *tests]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def judge(mutants: Sequence[Mutant], record: Record, workers: int) -> Iterator[Result]:
    """The result of every mutant, as they come; those that are known are not run again.

    Raises:
        RuntimeError: the tests fail without any mutant, or a module was edited meanwhile.
    """
    yield from (record.known[mutant.key] for mutant in mutants if mutant.key in record.known)
    rest = [mutant for mutant in mutants if mutant.key not in record.known]
    limits = {tests: _limit(tests) for tests in sorted({stages_of(mutant.module)[-1] for mutant in rest})}
    with ThreadPoolExecutor(workers) as pool:
        for result in pool.map(lambda mutant: _judge_one(mutant, limits[stages_of(mutant.module)[-1]]), rest):
            record.add(result)
            yield result


def _limit(tests: Sequence[str]) -> float:
    began = time.monotonic()
    status = run_tests(tests, None, None)
    if status != 0:
        raise RuntimeError(f"{' '.join(tests)}: status {status} before anything is changed; mend the tests first")
    return _PATIENCE * (time.monotonic() - began) + _GRACE


def _judge_one(mutant: Mutant, limit: float) -> Result:
    began = time.monotonic()
    status: int | None = 0
    for tests in stages_of(mutant.module):
        if status == 0:
            status = run_tests(tests, mutant, limit)
    if status == STALE:
        raise RuntimeError(f"{mutant.module} was edited while its mutants ran; start again")
    outcome: Outcome
    if status is None:
        outcome = "timeout"
    elif status == 0:
        outcome = "survived"
    elif status in {_KILLED, _COLLECTION_FAILED} or status < 0:
        outcome = "killed"
    else:
        raise RuntimeError(f"pytest ends with status {status} on {mutant}")
    seconds = round(time.monotonic() - began, 2)
    found = asdict(mutant)
    kept = {name: found[name] for name in ("module", "line", "operator", "before", "after")}
    return Result(key=mutant.key, outcome=outcome, seconds=seconds, **kept)
