"""A mutant put into functions that are loaded already: nothing is imported again, so that a mutant costs its tests only."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from types import CodeType, FunctionType

from tests.mutation.importing import code_of, source_of
from tests.mutation.mutants import Mutant
from tests.tree import ROOT

_Place = tuple[str, int]
"""Qualified name and first line: what a code object is known by in one text."""


class Functions:
    """Every loaded function of some modules, by where it was written."""

    def __init__(self, modules: Iterable[str]) -> None:
        files = {str(ROOT / module): module for module in modules}
        self._found: dict[tuple[str, _Place], list[FunctionType]] = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in files:
                where = (files[one.__code__.co_filename], _place(one.__code__))
                self._found.setdefault(where, []).append(one)

    def patch(self, mutant: Mutant) -> bool:
        """Put ``mutant`` into the functions that it changes; False where only a new import would do."""
        plain = compile(source_of(mutant), str(ROOT / mutant.module), "exec", dont_inherit=True)
        before, after = _codes(plain), _codes(code_of(mutant))
        patched = False
        for place, codes in after.items():
            functions = self._found.get((mutant.module, place), [])
            if codes == before.get(place) or not functions:
                continue
            if len(codes) > 1 or functions[0].__code__.co_freevars != codes[0].co_freevars:
                return False
            for function in functions:
                function.__code__ = codes[0]
            patched = True
        return patched


def _place(code: CodeType) -> _Place:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> dict[_Place, list[CodeType]]:
    """Every code object of a program; two of one line and name, as of lambdas, cannot be told apart."""
    found: dict[_Place, list[CodeType]] = {}
    left = [code]
    while left:
        one = left.pop()
        found.setdefault(_place(one), []).append(one)
        left.extend(inner for inner in one.co_consts if isinstance(inner, CodeType))
    return found
