"""Parts of a suite that take long: each is measured once, kept as JSON, and read when the suite runs again."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.bench.measuring import Finding

if TYPE_CHECKING:
    from attribution.models import LanguageModel

Size = Literal["small", "default", "full"]
Document = dict[str, Any]
"""Plain JSON: what a part measured, seeds included."""


@dataclass(frozen=True)
class Kept:
    """Documents of finished parts in one folder, a file each."""

    folder: Path

    def get(self, part: str, measure: Callable[[], Document]) -> Document:
        """The document of ``part``: read where it is whole on disk, else measured and written.

        What is returned has been through JSON either way, so a resumed run sees what a fresh one does.
        """
        path = self.folder / f"{part}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
            unfinished.replace(path)
        found: Document = json.loads(path.read_text(encoding="utf-8"))
        return found


class Bench:
    """What every section of a suite is given."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        full: Size = "full" if os.environ.get("FULL") == "1" else "default"
        self.size: Size = "small" if options.small else full
        """`FULL=1` in the environment measures the n of the targets."""
        self.threads: int = options.threads
        self.out: Path = options.out
        self.kept = Kept(options.out / options.suite / self.size)
        """Finished parts; remove the folder to measure anew."""

    @cached_property
    def language(self) -> LanguageModel:
        """The model of the suite, loaded when a section first asks for it."""
        from attribution.models import load_language_model, resolve_model

        return load_language_model(resolve_model(self._options.model, self._options.cache), threads=self.threads)

    def one_of(self, *, small: Any, default: Any, full: Any) -> Any:
        """The value for the size that is run."""
        return {"small": small, "default": default, "full": full}[self.size]


@dataclass(frozen=True)
class Section:
    """One section of a suite: a module, with a name to choose it by."""

    name: str
    run: Callable[[Bench], Iterator[Finding]]
    """Yields findings as they are reached; keeps its parts by ``bench.kept``."""
