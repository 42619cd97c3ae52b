"""How a mutant meets tests: put into loaded functions or imported, line by line, and always to an end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mutation import children, examples
from tests.mutation.children import each
from tests.mutation.cold import Stage, stages
from tests.mutation.importing import StaleError, code_of, install
from tests.mutation.lines import IMPORT, Trace, executing
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.patching import Functions
from tests.mutation.running import Record
from tests.tree import ROOT

WORDS = """LIMIT = 2


def short(words):
    return [
        word
        for word in words
        if len(word) < LIMIT
    ]


class Counter:
    step = 1

    def add(self, number):
        match number:
            case 7:
                return number
            case _:
                return number + self.step


pair = (lambda x: x + 1), (lambda x: x + 2)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module of its own, in place of the project."""
    for name in ("importing", "patching", "lines"):
        monkeypatch.setattr(f"tests.mutation.{name}.ROOT", tmp_path)
    path = tmp_path / "words.py"
    path.write_text(WORDS)
    return tmp_path


@pytest.fixture
def words(folder):
    """The module, loaded as such."""
    path = folder / "words.py"
    names: dict = {"__name__": "words"}
    exec(compile(WORDS, str(path), "exec"), names)
    return names


def mutant_of(folder: Path, change: str) -> Mutant:
    (found,) = (m for m in mutants_of(folder / "words.py", "words.py") if str(m).endswith(change))
    return found


def test_a_mutant_knows_its_function_and_the_lines_of_its_statement(folder):
    found = [
        (m.function, m.first, m.last, f"{m.before} -> {m.after}") for m in mutants_of(folder / "words.py", "words.py")
    ]
    assert ("", 1, 1, "2 -> 3") in found
    assert ("short", 5, 9, "len(word) < LIMIT -> len(word) <= LIMIT") in found
    assert ("", 13, 13, "1 -> 2") in found
    assert ("add", 17, 17, "7 -> 8") in found
    assert ("add", 20, 20, "number + self.step -> number - self.step") in found
    assert ("", 23, 23, "x + 1 -> x - 1") in found


def test_a_loaded_function_becomes_its_mutant(words, folder):
    functions = Functions(["words.py"])
    short, counter = words["short"], words["Counter"]()
    assert (short(["a", "bc"]), counter.add(3)) == (["a"], 4)
    assert functions.patch(mutant_of(folder, "len(word) < LIMIT -> len(word) <= LIMIT"))
    assert functions.patch(mutant_of(folder, "number + self.step -> number - self.step"))
    assert (short(["a", "bc"]), counter.add(3)) == (["a", "bc"], 2)


@pytest.mark.parametrize("change", ["2 -> 3", "1 -> 2", "x + 1 -> x - 1"])
def test_what_no_loaded_function_holds_alone_is_left_to_the_import(change, words, folder):
    functions = Functions(["words.py"])
    chosen = [m for m in mutants_of(folder / "words.py", "words.py") if str(m).endswith(f": {change}")]
    assert [functions.patch(one) for one in chosen] == [False] * len(chosen) != []
    assert [function(10) for function in words["pair"]] == [11, 12]


def test_lines_are_those_of_the_test_that_executes_them(words):
    trace = Trace(["words.py"])
    trace.start(IMPORT)
    words["Counter"]().add(7)
    trace.start(4)
    words["Counter"]().add(8)
    trace.stop()
    words["short"](["a"])
    assert executing(trace.lines, "words.py", 16, 17) == {IMPORT, 4}
    assert executing(trace.lines, "words.py", 18, 18) == {IMPORT}
    assert executing(trace.lines, "words.py", 20, 20) == {4}
    assert executing(trace.lines, "words.py", 5, 9) == set()


def test_a_text_that_was_edited_since_is_not_tested(folder):
    stale = replace(mutant_of(folder, "len(word) < LIMIT -> len(word) <= LIMIT"), digest="0" * 64)
    with pytest.raises(StaleError, match=r"words\.py was edited"):
        code_of(stale)


def test_a_module_is_imported_as_its_mutant(folder, monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    install(mutant_of(folder, "constant: 7 -> 8"))
    try:
        import words as imported

        assert imported.Counter().add(7) == 8
        assert imported.Counter().add(8) == 8
    finally:
        sys.modules.pop("words", None)


def answer(job: str) -> str:
    match job:
        case "loop":
            children.allow(-0.29)  # of the grace
            while True:
                pass
        case "exit":
            os._exit(3)
        case "raise":
            raise ValueError("seven")
    return job.upper()


def test_every_job_is_answered_and_what_does_not_end_is_ended():
    jobs = ["a", "loop", "exit", "b", "c"]
    assert sorted(each(jobs, answer, workers=2), key=lambda pair: jobs.index(pair[0])) == [
        ("a", "A"),
        ("loop", None),
        ("exit", None),
        ("b", "B"),
        ("c", "C"),
    ]
    with pytest.raises(RuntimeError, match="ValueError: seven"):
        list(each(["raise"], answer, workers=1))


def test_an_imported_mutant_meets_its_own_tests_first_and_the_others_once():
    known = {"tests/test_a.py::x": 0.1, "tests/test_a.py::y": 0.1, "tests/test_b.py::z[1]": 0.1}
    assert stages(["tests/test_b.py"], ["tests"], (), known) == [
        Stage(("tests/test_b.py",), None),
        Stage(("tests",), frozenset({"tests/test_a.py::x", "tests/test_a.py::y"})),
    ]
    assert stages([], ["tests"], (), known) == [Stage(("tests",), frozenset(known))]
    assert stages(["tests/test_b.py"], ["tests"], ("tests/test_a.py::x",), known) == [
        Stage(("tests/test_a.py",), frozenset({"tests/test_a.py::x"}))
    ]


def test_examples_are_bounded_and_the_clock_fails_no_test(request):
    count = 0

    @settings(max_examples=50, deadline=1)
    @given(st.integers())
    def slow(_: int) -> None:
        nonlocal count
        count += 1
        time.sleep(0.002)

    item = pytest.Function.from_parent(request.node.parent, name="slow", callobj=slow)
    examples.limit([item], 5)
    slow()
    assert count == 5


@pytest.mark.slow
def test_a_run_from_end_to_end(tmp_path):
    """Token ids: one mutant on import, the others in functions; the tests of the module kill them all."""
    out = tmp_path / "results.jsonl"
    name = "ledger_core/kernel/tokens.py"
    test = "tests/ledger_core/kernel/test_tokens.py"
    command = [sys.executable, "-m", "tests.mutation", "--modules", name, "--tests", test, "--out", str(out)]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    results = Record(out).known.values()
    count = len(mutants_of(ROOT / name, name))
    assert f"{name}: {count} of {count} killed, 100.0%" in run.stdout
    assert len(results) == count
    assert {one.outcome for one in results} == {"killed"}
    assert all(one.test.startswith(test) for one in results)
