"""Tests against mutants: which, in what order, and what is remembered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from tests.mutation import cold, warm
from tests.mutation.children import FORK, each
from tests.mutation.mutants import Mutant
from tests.mutation.warm import Verdict
from tests.tree import ROOT

Outcome = Literal["killed", "timeout", "survived", "uncovered"]
"""`uncovered` is survived, by a line that no test executes."""

SUITES: dict[str, tuple[str, ...]] = {
    "ledger_core/kernel/": ("tests/ledger_core/kernel", "tests/golden", "tests/contract/test_event_store.py"),
    "ledger_core/belief/": (
        "tests/ledger_core/belief",
        "tests/properties/test_belief_laws.py",
        "tests/properties/test_projection.py",
        "tests/properties/test_log_fold.py",
        "tests/ledger_core/stores/test_outlined.py",
        "tests/ledger_core/harness/test_verdicts.py",
    ),
}
"""Package -> tests that are run against its mutants."""


@dataclass(frozen=True)
class Result:
    """What the tests made of one mutant."""

    key: str
    module: str
    line: int
    operator: str
    before: str
    after: str
    source: str
    outcome: Outcome
    test: str
    """Node id of the test that failed, if one did."""
    seconds: float
    """CPU seconds, 0 where that took none or the end was not waited for."""

    @property
    def is_killed(self) -> bool:
        return self.outcome in {"killed", "timeout"}


class Record:
    """Results in a file of one JSON object a line, so that a run that was stopped goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.known: dict[str, Result] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                result = Result(**json.loads(line))
                self.known[result.key] = result

    def forget_survivors(self) -> None:
        """Not to know of what survived; the file keeps it until another result for the same mutant follows."""
        self.known = {key: result for key, result in self.known.items() if result.is_killed}

    def add(self, result: Result) -> None:
        """Remember ``result``, on disk at once."""
        self.known[result.key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")


def suite_of(module: str) -> tuple[str, ...]:
    """The tests for ``module``: those of its package."""
    (suite,) = (tests for package, tests in SUITES.items() if module.startswith(package))
    return suite


def own_tests(module: str) -> list[str]:
    """The test file that has the module's name, if there is one."""
    path = Path(module)
    own = Path("tests") / path.parent / f"test_{path.name}"
    return [own.as_posix()] if (ROOT / own).exists() else []


def judge(
    mutants: Sequence[Mutant], record: Record, workers: int, tests: tuple[str, ...] | None = None
) -> Iterator[Result]:
    """The result of every mutant, as they come; those that are known are not run again.

    ``tests`` are run instead of those of the mutant's package, if given.

    Raises:
        RuntimeError: the tests fail without any mutant, or a module was edited meanwhile.
    """
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.devnull
    yield from (record.known[mutant.key] for mutant in mutants if mutant.key in record.known)
    rest = [mutant for mutant in mutants if mutant.key not in record.known]
    suites: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in rest:
        suites.setdefault(tests or suite_of(mutant.module), []).append(mutant)
    for suite, concerned in suites.items():
        for mutant, verdict in _judged(suite, concerned, workers):
            result = _result(mutant, verdict)
            record.add(result)
            yield result


def _judged(suite: Sequence[str], mutants: Sequence[Mutant], workers: int) -> Iterator[tuple[Mutant, Verdict]]:
    """Loaded functions first; what that leaves open is imported, one process a mutant."""
    if not mutants:
        return
    seconds: dict[str, float] = {}
    left: list[tuple[Mutant, Verdict]] = []
    for message in _messages(suite, mutants, workers):
        match message:
            case dict():
                seconds = message
            case (mutant, Verdict(outcome="survived" | "import") as verdict):
                left.append((mutant, verdict))
            case (mutant, Verdict() as verdict):
                yield mutant, verdict
            case _:
                raise RuntimeError(message)

    def imported(job: tuple[Mutant, Verdict]) -> Verdict:
        mutant, verdict = job
        own = [name for name in own_tests(mutant.module) if any(test.startswith(f"{name}::") for test in seconds)]
        return cold.judge(mutant, cold.stages(own, suite, verdict.meets, seconds), seconds)

    for (mutant, _), verdict in each(left, imported, workers):
        yield mutant, verdict or Verdict("timeout")


def _messages(suite: Sequence[str], mutants: Sequence[Mutant], workers: int) -> Iterator[Any]:
    """What :func:`tests.mutation.warm.serve` sends; this process itself imports nothing that mutants are of."""
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=warm.serve, args=(suite, mutants, workers, sender))
    process.start()
    sender.close()
    try:
        while True:
            yield receiver.recv()
    except EOFError:
        process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"the process that runs {' '.join(suite)} ended with status {process.exitcode}")


def _result(mutant: Mutant, verdict: Verdict) -> Result:
    found = asdict(mutant)
    kept = {name: found[name] for name in ("module", "line", "operator", "before", "after", "source")}
    outcome: Any = verdict.outcome
    return Result(key=mutant.key, outcome=outcome, test=verdict.test, seconds=verdict.seconds, **kept)
