"""Tests that import a mutant: for what runs on import, and for what survived in functions that were loaded before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.mutation import examples
from tests.mutation.children import allow
from tests.mutation.importing import install
from tests.mutation.mutants import Mutant
from tests.mutation.warm import OPTIONS, Verdict

_FULL = 20.0
"""How many times longer than with few examples, traced, a test may take with all that it asks for."""


@dataclass(frozen=True)
class Stage:
    """Tests that are collected together."""

    files: tuple[str, ...]
    tests: frozenset[str] | None
    """Node ids of those that count; None for all."""


def judge(mutant: Mutant, stages: Sequence[Stage], seconds: Mapping[str, float]) -> Verdict:
    """Import ``mutant`` into this process, which must not have imported its package, and run the tests, stage by stage.

    ``seconds`` are what the tests take without it, by node id.
    """
    before = time.process_time()
    install(mutant)
    for stage in stages:
        allow(30.0)
        plugin = _Chosen(stage.tests, seconds)
        status = pytest.main([*OPTIONS, "-x", *stage.files], plugins=[plugin])
        if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            return Verdict("killed", plugin.failed, round(time.process_time() - before, 3))
    return Verdict("survived", "", round(time.process_time() - before, 3))


def stages(own: Sequence[str], suite: Sequence[str], meets: Sequence[str], seconds: Mapping[str, float]) -> list[Stage]:
    """Those of ``meets``; where it is empty all tests, those of the module's ``own`` files first."""
    if meets:
        files = tuple(dict.fromkeys(name.partition("::")[0] for name in meets))
        return [Stage(files, frozenset(meets))]
    first = [Stage(tuple(own), None)] if own else []
    others = frozenset(name for name in seconds if name.partition("::")[0] not in set(own))
    return [*first, Stage(tuple(suite), others)]


class _Chosen:
    """Pytest plugin: some tests, the quickest first, none of them without end."""

    def __init__(self, tests: frozenset[str] | None, seconds: Mapping[str, float]) -> None:
        self.failed = ""
        self._tests = tests
        self._seconds = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if self._tests is None or item.nodeid in self._tests),
            key=lambda item: self._seconds.get(item.nodeid, 0.0),
        )
        examples.limit(items, None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        allow(_FULL * self._seconds.get(item.nodeid, 1.0))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid
