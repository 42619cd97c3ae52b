"""Progress of long work: bars on stderr where a person watches, silence elsewhere.

Stages report through :func:`track` and never know who watches. The command line installs a display; Dagster and tests do not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

_display: list[Any] = []


@contextmanager
def display(*, enabled: bool | None = None) -> Iterator[None]:
    """Show progress bars while the block runs; off without a terminal unless ``enabled`` says otherwise."""
    if not (sys.stderr.isatty() if enabled is None else enabled):
        yield
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
