"""Which test executes which lines: what decides the tests that a mutant meets."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any

from tests.tree import ROOT

IMPORT = -1
"""The test that is not one: whatever runs while tests are collected."""

Lines = dict[str, dict[int, set[int]]]
"""Module -> line -> numbers of the tests that execute it, :data:`IMPORT` among them."""


class Trace:
    """Notes the lines of ``modules`` that are executed between :meth:`start` and :meth:`stop`, as those of one test."""

    def __init__(self, modules: Iterable[str]) -> None:
        self.lines: Lines = {module: {} for module in modules}
        self._by_file = {str(ROOT / module): found for module, found in self.lines.items()}
        self._test = IMPORT
        self._unseen: dict[int, set[int]] = {}

    def start(self, test: int) -> None:
        """Note what is executed from now on as executed by ``test``."""
        self._test = test
        self._unseen = {}
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def stop(self) -> None:
        """Note no more."""
        sys.settrace(None)
        threading.settrace(None)

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        found = self._by_file.get(code.co_filename)
        if found is None:
            return None
        unseen = self._unseen.get(id(code))
        if unseen is None:  # its first line is the `def`, which calls do not execute
            self._unseen[id(code)] = unseen = {line for *_, line in code.co_lines() if line} - {code.co_firstlineno}
        elif not unseen:
            return None  # all there is to see of it in this test was seen
        test = self._test

        def inside(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                found.setdefault(frame.f_lineno, set()).add(test)
                unseen.discard(frame.f_lineno)
            return inside

        return inside


def executing(lines: Lines, module: str, first: int, last: int) -> set[int]:
    """The tests that execute one of the lines ``first`` to ``last`` of ``module``."""
    known = lines[module]
    return set().union(*(known.get(line, ()) for line in range(first, last + 1)))
