"""Tests collected once and then run again and again, each time in a child that has one mutant in its functions."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import pytest

from tests.mutation import examples
from tests.mutation.children import allow, be_silent, each
from tests.mutation.lines import IMPORT, Lines, Trace, executing
from tests.mutation.mutants import Mutant
from tests.mutation.patching import Functions

EXAMPLES = 25
"""Of each Hypothesis test; a mutant that survives them meets all that the test asks for."""

OPTIONS = (
    *("-q", "-s", "--tb=no", "--no-header", "--assert=plain", "--hypothesis-seed=1", "-p", "no:cacheprovider"),
    *("-m", "not slow and not browser"),
    *("-k", "not postgresql"),  # a process of its own, which no mutant reaches
)


@dataclass(frozen=True)
class Verdict:
    """What tests made of one mutant."""

    outcome: str
    """`killed`, `timeout`, `survived`, `uncovered` (no test executes the line) or `import` (it needs a new import)."""
    test: str = ""
    """Node id of the test that failed, if one did."""
    seconds: float = 0.0
    """CPU seconds."""
    meets: tuple[str, ...] = ()
    """Tests that the mutant should meet with a new import; empty for all, since importing already executes the line."""


def serve(suite: Sequence[str], mutants: Sequence[Mutant], workers: int, sender: Connection) -> None:
    """Run the tests of ``suite`` against ``mutants`` and send what comes of it.

    Sends the CPU seconds of each test by node id, in order of collection; then ``(mutant, verdict)`` for every mutant;
    or the reason why there can be none, as a string.
    """
    be_silent()
    plugin = _Warm(mutants, workers, sender)
    status = pytest.main([*OPTIONS, *suite], plugins=[plugin])
    if status != 0:
        sender.send(f"pytest ends with status {int(status)} on {' '.join(suite)}{plugin.failed}; mend the tests first")
    sender.close()


class _Warm:
    """Pytest plugin that runs mutants in place of the tests."""

    def __init__(self, mutants: Sequence[Mutant], workers: int, sender: Connection) -> None:
        self.failed = ""
        self._mutants = mutants
        self._workers = workers
        self._sender = sender
        self._trace = Trace({mutant.module for mutant in mutants})
        self._trace.start(IMPORT)  # already now: some `conftest.py` are imported before the session begins
        self._items: list[pytest.Item] = []
        self._seconds: list[float] = []
        self._lines: Lines = {}
        self._killers: Counter[tuple[str, str, int]] = Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._trace.stop()
        self._items = session.items
        examples.limit(self._items, EXAMPLES)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return False  # not all could be collected
        functions = Functions({mutant.module for mutant in self._mutants})
        gc.collect()
        gc.freeze()  # what children only read stays shared with them
        ((_, learned),) = each([session], self._learn, 1)
        self._seconds, self._lines, failed = learned
        if failed:
            self.failed = f": {', '.join(failed)}"
            session.testsfailed = len(failed)
            return True
        self._sender.send({item.nodeid: taken for item, taken in zip(self._items, self._seconds, strict=True)})
        for mutant, verdict in self._verdicts(session, functions):
            self._sender.send((mutant, verdict))
        return True

    def _learn(self, session: pytest.Session) -> tuple[list[float], Lines, list[str]]:
        """CPU seconds of every test, lines, and the tests that fail without a mutant."""
        seconds, failed = [], []
        for number, item in enumerate(self._items):
            before = time.process_time()
            then = self._items[number + 1 :][:1]
            self._trace.start(number)
            passed = _passes(session, item, then)
            self._trace.stop()
            if not passed and not _passes(session, item, then):  # one that measures time may fail because it is traced
                failed.append(item.nodeid)
            seconds.append(time.process_time() - before)
        return seconds, self._trace.lines, failed

    def _verdicts(self, session: pytest.Session, functions: Functions) -> Iterator[tuple[Mutant, Verdict]]:
        jobs = []
        for mutant in self._mutants:
            meets = executing(self._lines, mutant.module, mutant.first, mutant.last)
            if not mutant.function:
                yield mutant, Verdict("import")
            elif not meets:
                yield mutant, Verdict("uncovered")
            elif meets == {IMPORT}:
                yield mutant, Verdict("import")
            else:
                jobs.append((mutant, meets))

        def judged(job: tuple[Mutant, set[int]]) -> Any:
            mutant, meets = job
            before = time.process_time()
            if not functions.patch(mutant):
                return "import", None, 0.0
            killer = self._first_that_fails(session, self._in_order(mutant, meets))
            return ("survived" if killer is None else "killed"), killer, time.process_time() - before

        for (mutant, meets), answer in each(jobs, judged, self._workers):
            outcome, killer, seconds = answer or ("timeout", None, 0.0)
            wanted = outcome in {"survived", "import"} and IMPORT not in meets
            names = tuple(self._items[number].nodeid for number in sorted(meets)) if wanted else ()
            if killer is not None:
                self._killers[mutant.module, mutant.function, killer] += 1
            name = "" if killer is None else self._items[killer].nodeid
            yield mutant, Verdict(outcome, name, round(seconds, 3), names)

    def _in_order(self, mutant: Mutant, meets: set[int]) -> list[int]:
        """Those that killed most in the same function, then the quickest."""
        killed = self._killers
        return sorted(
            meets - {IMPORT}, key=lambda test: (-killed[mutant.module, mutant.function, test], self._seconds[test])
        )

    def _first_that_fails(self, session: pytest.Session, order: Sequence[int]) -> int | None:
        for place, number in enumerate(order):
            allow(self._seconds[number])
            if not _passes(session, self._items[number], [self._items[next_] for next_ in order[place + 1 :][:1]]):
                return number
        return None


def _passes(session: pytest.Session, item: pytest.Item, then: Sequence[pytest.Item]) -> bool:
    """Whether ``item`` passes; what it shares with ``then``, which comes after it, stays set up."""
    session.testsfailed = 0
    item.ihook.pytest_runtest_protocol(item=item, nextitem=then[0] if then else None)
    return session.testsfailed == 0
