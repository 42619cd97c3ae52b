"""The project's own files, as they lie on disk: no caches, no environments, nothing generated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ledger_core", "attribution", "evals", "pipelines")
_OWN = (*PACKAGES, "tests", "docs", "data/samples", ".ci", "reports/reference")


def project_files() -> Iterator[Path]:
    """Every file, relative to the root."""
    yield from (path.relative_to(ROOT) for path in sorted(ROOT.iterdir()) if path.is_file())
    for name in _OWN:
        yield from files_below(name)


def files_below(name: str) -> Iterator[Path]:
    """Every file below a folder, relative to the root."""
    for path in sorted((ROOT / name).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT)
