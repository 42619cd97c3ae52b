"""Progress of long work: bars on stderr where a person watches, a line per finished stage in a log.

Stages report through :func:`track` and never know who watches. The command line installs a display; Dagster and tests do not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

_display: list[Any] = []
_SHORT = 1.0
"""Seconds under which a stage that is done is no news: a refusal stays one line, and so does a small import."""

_LONG = 10.0
"""Seconds after which a stage says how far it is before it is done."""


@contextmanager
def display(*, enabled: bool | None = None) -> Iterator[None]:
    """Show progress bars while the block runs; lines without a terminal, unless ``enabled`` asks for bars or for nothing."""
    if enabled is False:
        yield
        return
    if enabled is None and not sys.stderr.isatty():
        _display.append(_Lines())
        try:
            yield
        finally:
            _display.pop()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description:<34}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as progress:
        _display.append(progress)
        try:
            yield
        finally:
            _display.pop()


@dataclass
class _Stage:
    description: str
    total: int | None
    began: float = field(default_factory=time.monotonic)
    done: int = 0
    said: int = 0


class _Lines:
    """The part of a progress display that stages use, in lines: at every quarter of a stage that takes long, and at its end."""

    def __init__(self) -> None:
        self._stages: list[_Stage] = []

    def add_task(self, description: str, total: int | None = None) -> int:
        self._stages.append(_Stage(description, total))
        return len(self._stages) - 1

    def advance(self, task: int) -> None:
        self.update(task, completed=self._stages[task].done + 1, total=self._stages[task].total)

    def update(self, task: int, *, completed: int, total: int | None) -> None:
        stage = self._stages[task]
        stage.done, stage.total = completed, total
        seconds = time.monotonic() - stage.began
        quarter = 4 * completed // total if total else 0
        if (
            total
            and seconds > (_SHORT if completed == total else _LONG)
            and (completed == total or quarter > stage.said)
        ):
            stage.said = quarter
            sys.stderr.write(f"{stage.description}: {completed} of {total}, {seconds:.0f} s\n")
            sys.stderr.flush()


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield ``items`` while a bar named ``description`` advances, if a display is installed."""
    if not _display:
        yield from items
        return
    progress = _display[-1]
    length = total if total is not None else (len(items) if isinstance(items, Sized) else None)
    task = progress.add_task(description, total=length)
    for item in items:
        yield item
        progress.advance(task)


@contextmanager
def meter(description: str) -> Iterator[Callable[[int, int | None], None]]:
    """A callable that takes how much is done and how much there is, for work that learns its total on the way."""
    if not _display:
        yield lambda _done, _total: None
        return
    progress = _display[-1]
    task = progress.add_task(description, total=None)
    yield lambda done, total: progress.update(task, completed=done, total=total)
