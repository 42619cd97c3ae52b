"""Every invariant that applies names the tests that would break with it, and every name is that of an invariant."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest

from tests.shared import shared_path
from tests.tree import ROOT, files_below

LEDGER = tuple(f"§2.{number}" for number in range(1, 9))
"""The invariants of the ledger's specification."""

EVIDENCE = (
    *(f"EVID-0{number}" for number in range(1, 10)),
    *(f"EVENT-0{number}" for number in range(1, 4)),
    *(f"REPLAY-0{number}" for number in range(1, 3)),
)
"""Those of the evidence contracts that speak of evidence, events and replay."""

NOT_YET = {
    "EVID-07": "nothing is retrieved by relevance, and all content has one visibility class, `private`; "
    "what separates tenants is that each scope is a log of its own",
}
"""Invariants that nothing can break yet, and why."""

MINIMUM = 2
"""Tests that every invariant names: one could be about a single case."""


def marked() -> Iterator[tuple[str, str]]:
    """(invariant, test) of every mark in the tree, whatever is selected and whether or not it would run here."""
    for path in files_below("tests"):
        if path.suffix == ".py" and path.name.startswith("test_"):
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            yield from _of_module(tree, str(path))


def _of_module(tree: ast.Module, path: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                yield from ((name, f"{path}::{node.name}") for name in _names(decorator))
        elif isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets
        ):
            marks = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            yield from ((name, path) for mark in marks for name in _names(mark))


def _names(mark: ast.expr) -> list[str]:
    if not (isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "invariant"):
        return []
    names = [argument.value for argument in mark.args if isinstance(argument, ast.Constant)]
    assert len(names) == len(mark.args) > 0, f"line {mark.lineno}: invariants are named by literal strings"
    return [f"§{name}" if name[:1].isdigit() else name for name in names]


@pytest.fixture(scope="module")
def tests() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, test in marked():
        found.setdefault(name, set()).add(test)
    return found


@pytest.mark.parametrize("name", [name for name in (*LEDGER, *EVIDENCE) if name not in NOT_YET])
def test_every_invariant_names_its_tests(name: str, tests: dict[str, set[str]]):
    assert len(tests.get(name, ())) >= MINIMUM, f"mark the tests of {name} with @pytest.mark.invariant({name!r})"


def test_what_cannot_be_broken_yet_has_no_test(tests: dict[str, set[str]]):
    assert {name for name in NOT_YET if name in tests} == set(), "it has tests now: take it out of NOT_YET"
    assert set(NOT_YET) < set(EVIDENCE)


def test_every_mark_names_an_invariant(tests: dict[str, set[str]]):
    assert {name: sorted(found) for name, found in tests.items() if name not in (*LEDGER, *EVIDENCE)} == {}


def test_the_invariants_are_those_of_the_specifications():
    ledger = shared_path("spec/veritas-ledger.md").read_text(encoding="utf-8")
    contracts = shared_path("spec/fleet-recall.md").read_text(encoding="utf-8")
    assert {name for name in LEDGER if f"| {name} " in ledger} == set(LEDGER)
    assert "| §2.9" not in ledger
    families = ("EVID-", "EVENT-", "REPLAY-")
    defined = {line.split(" ", 1)[0] for line in contracts.splitlines() if line.startswith(families) and " — " in line}
    assert defined == set(EVIDENCE)


def test_marks_are_read_in_every_form():
    source = """
import pytest
pytestmark = [pytest.mark.slow, pytest.mark.invariant("§2.5")]
@pytest.mark.invariant("2.1", "EVID-01")
class TestA:
    @pytest.mark.invariant("§2.2")
    async def test_b(self): ...
@pytest.mark.slow
def test_c(): ...
"""
    assert set(_of_module(ast.parse(source), "t.py")) == {
        ("§2.5", "t.py"),
        ("§2.1", "t.py::TestA"),
        ("EVID-01", "t.py::TestA"),
        ("§2.2", "t.py::test_b"),
    }
    with pytest.raises(AssertionError, match="literal strings"):
        list(_of_module(ast.parse("@pytest.mark.invariant(NAME)\ndef test_d(): ..."), "t.py"))


if __name__ == "__main__":
    for invariant, test in sorted(marked()):
        sys.stdout.write(f"{invariant}\t{test}\n")
