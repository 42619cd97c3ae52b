"""A mutant as what an `import` finds: for what runs when its module is imported, and for all that follows from it."""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutation.mutants import Mutant, mutated
from tests.tree import ROOT


class StaleError(Exception):
    """The module is no longer the text that the mutant is of."""


def source_of(mutant: Mutant) -> bytes:
    """The text of the mutant's module.

    Raises:
        StaleError: it was edited since the mutant was made.
    """
    source = (ROOT / mutant.module).read_bytes()
    if hashlib.sha256(source).hexdigest() != mutant.digest:
        raise StaleError(f"{mutant.module} was edited while its mutants ran; start again")
    return source


def code_of(mutant: Mutant) -> CodeType:
    """The mutant, compiled."""
    tree = mutated(source_of(mutant), mutant.number)
    return compile(tree, str(ROOT / mutant.module), "exec", dont_inherit=True)


class _MutantLoader(importlib.machinery.SourceFileLoader):
    """Has the code of the mutant instead of the file's, past every cache of byte code."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        super().__init__(name, str(path))
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self._code


class _MutantFinder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._name = name
        self._path = path
        self._code = code

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _MutantLoader(fullname, self._path, self._code)
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=str(self._path), is_package=places is not None)
        spec.has_location = True
        if places is not None:
            spec.submodule_search_locations = places
        return spec


def install(mutant: Mutant) -> None:
    """Import the module of ``mutant`` as the mutant from now on; it must not have been imported yet."""
    name = mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert name not in sys.modules, f"{name} was imported before it could be changed"
    sys.meta_path.insert(0, _MutantFinder(name, ROOT / mutant.module, code_of(mutant)))
