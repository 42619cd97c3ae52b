"""Pytest plugin (`-p tests.mutation.plugin`): imports one module as the mutant that the environment names."""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutation.mutants import mutated
from tests.tree import ROOT

VARIABLE = "VERITAS_MUTANT"
"""``path number digest``: the module's file, the number of the mutant, the digest of the text that numbers count in."""

STALE = 77
"""Exit status where the module is not the text that the mutant is of."""


class _MutantLoader(importlib.machinery.SourceFileLoader):
    """Compiles the mutant instead of the file, past every cache of byte code."""

    number = 0
    digest = ""

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.get_filename(fullname)).read_bytes()
        if hashlib.sha256(source).hexdigest() != self.digest:
            os._exit(STALE)
        return compile(mutated(source, self.number), self.path, "exec", dont_inherit=True)


class _MutantFinder(importlib.abc.MetaPathFinder):
    def __init__(self, path: str, number: int, digest: str) -> None:
        self._name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self._path = ROOT / path
        self._number = number
        self._digest = digest

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _MutantLoader(fullname, str(self._path))
        loader.number, loader.digest = self._number, self._digest
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=str(self._path), is_package=places is not None)
        spec.has_location = True
        if places is not None:
            spec.submodule_search_locations = places
        return spec


def install(order: str) -> None:
    """Import the module of ``order`` as its mutant from now on; it must not have been imported yet."""
    path, number, digest = order.split()
    finder = _MutantFinder(path, int(number), digest)
    assert finder._name not in sys.modules, f"{finder._name} was imported before it could be changed"
    sys.meta_path.insert(0, finder)


if VARIABLE in os.environ:
    install(os.environ[VARIABLE])
