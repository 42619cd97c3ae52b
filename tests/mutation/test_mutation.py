"""The mutation driver: what it changes, what it leaves alone, and that a mutant is really what is tested."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation import __main__ as program
from tests.mutation.mutants import mutants_of, mutated
from tests.mutation.running import SUITES, Record, Result, judge
from tests.mutation.warm import Verdict
from tests.tree import ROOT, files_below

SOURCE = '''"""Documentation."""
from typing import Literal

Kind = Literal["a", "b"]
LIMIT: int = 3


def held(x: int, names: list[str], strict: bool = True) -> int:
    """Documentation."""
    if x < LIMIT and strict:
        raise ValueError(f"{x} is small; 7 is not")
    total = 0
    for name in names:
        if not name:
            continue
        total += len(name)
    return min(total, x * 2)
'''

CHANGES = [
    (5, "constant: 3 -> 4"),
    (8, "constant: True -> False"),
    (10, "condition: if x < LIMIT and strict: -> if not (x < LIMIT and strict):"),
    (10, "boolean: x < LIMIT and strict -> x < LIMIT or strict"),
    (10, "drop-operand: x < LIMIT and strict -> strict"),
    (10, "drop-operand: x < LIMIT and strict -> x < LIMIT"),
    (10, "compare: x < LIMIT -> x <= LIMIT"),
    (11, "delete: raise ValueError(f'{x} is small; 7 is not') -> pass"),
    (12, "constant: 0 -> 1"),
    (14, "not: not name -> name"),
    (15, "loop: continue -> break"),
    (16, "arithmetic: total += len(name) -> total -= len(name)"),
    (17, "return: return min(total, x * 2) -> return None"),
    (17, "function: min(total, x * 2) -> max(total, x * 2)"),
    (17, "arithmetic: x * 2 -> x // 2"),
    (17, "constant: 2 -> 3"),
]


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "held.py"
    path.write_text(SOURCE)
    return path


def test_it_changes_what_a_program_does_and_nothing_that_it_says(module):
    assert [(m.line, f"{m.operator}: {m.before} -> {m.after}") for m in mutants_of(module, "held.py")] == CHANGES


def test_every_mutant_is_another_program_in_one_place(module):
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    seen = set()
    for mutant in mutants_of(module, "held.py"):
        text = ast.unparse(mutated(SOURCE.encode(), mutant.number)).splitlines()
        changed = [number for number, line in enumerate(plain) if text[number] != line]
        assert len(changed) == 1, mutant
        assert len(text) == len(plain)
        seen.add("\n".join(text))
        compile(mutated(SOURCE.encode(), mutant.number), "held", "exec")
    assert len(seen) == len(CHANGES)
    with pytest.raises(IndexError, match="no mutant 16"):
        mutated(SOURCE.encode(), 16)


def test_every_module_has_mutants_that_compile_and_tests_of_its_own_package():
    count = 0
    for package in SUITES:
        for path in files_below(package.rstrip("/")):
            if path.suffix == ".py":
                found = mutants_of(ROOT / path, path.as_posix())
                for mutant in found[:: max(1, len(found) // 3)]:
                    compile(mutated((ROOT / path).read_bytes(), mutant.number), mutant.module, "exec")
                assert all((ROOT / place).exists() for place in SUITES[package])
                count += len(found)
    assert count > 2_000


def test_a_sample_is_the_same_for_the_same_seed_and_smaller_than_asked_for_nowhere():
    name = "ledger_core/kernel/merkle.py"
    whole = mutants_of(ROOT / name, name)
    some = program.sampled([name], 10, seed=3)
    assert some == program.sampled([name], 10, seed=3) != program.sampled([name], 10, seed=4)
    assert set(some) < set(program.sampled([name], 20, seed=3)), "a larger sample goes on from a smaller one"
    assert len(some) == 10
    assert set(some) < set(whole)
    assert program.sampled([name], len(whole), seed=3) == program.sampled([name], 0, seed=3) == whole


def result(key: str, outcome: str = "killed", after: str = "b") -> Result:
    return Result(key, "m.py", 1, "compare", "a", after, "is a", outcome, "", 0.5)


def test_results_are_remembered_and_not_asked_for_again(tmp_path, monkeypatch, module):
    mutants = mutants_of(module, "ledger_core/kernel/held.py")[:2]
    record = Record(tmp_path / "new" / "results.jsonl")
    record.add(result(mutants[0].key, "survived"))
    monkeypatch.setattr("tests.mutation.running._judged", lambda _, rest, __: [(m, Verdict("killed")) for m in rest])
    first, second = judge(mutants, Record(tmp_path / "new" / "results.jsonl"), workers=1)
    assert (first.key, first.outcome) == (mutants[0].key, "survived")
    assert (second.key, second.outcome) == (mutants[1].key, "killed")
    again = Record(tmp_path / "new" / "results.jsonl")
    assert again.known == {one.key: one for one in (first, second)}
    again.forget_survivors()
    assert list(again.known) == [second.key]
    again.add(result(first.key))
    assert {one.outcome for one in Record(tmp_path / "new" / "results.jsonl").known.values()} == {"killed"}


def test_the_summary_counts_what_a_test_could_have_killed():
    results = [
        *(result(str(n)) for n in range(8)),
        result("8", "timeout"),
        result("9", "survived"),
        result("10", "survived", "c"),
        result("11", "uncovered"),
    ]
    lines = program.summary(results, {("m.py", "is a", "a", "c"): "both are zero"})
    assert lines == [
        "m.py: 9 of 11 killed, 81.8% [48.2%, 97.7%]; 1 equivalent",
        "all: 9 of 11 killed, 81.8% [48.2%, 97.7%]; 1 equivalent",
        "SURVIVED m.py:1 compare: a -> b",
        "UNCOVERED m.py:1 compare: a -> b",
        "equivalent m.py:1 compare: a -> c: both are zero",
    ]


def test_every_equivalent_mutant_exists_and_has_a_reason():
    """An explanation of a text that is gone explains nothing."""
    gone = []
    for (module, source, before, after), why in program.known_equivalent().items():
        assert len(why) > 20
        found = mutants_of(ROOT / module, module)
        if not any((m.source, m.before, m.after) == (source, before, after) for m in found):
            gone.append(f"{module}: {source}: {before} -> {after}")
    assert gone == []
