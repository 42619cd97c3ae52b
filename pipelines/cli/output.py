"""What commands print: text that no transcript can turn into terminal commands, JSON that any reader takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

SHORT = 12
"""Hex digits of an id in text: enough to be unique, more than any command asks for."""

_UNWRAPPED = 4096
_SNIPPET = 88


def console(width: int = _UNWRAPPED) -> Console:
    """Standard output; lines are as long as they are, the terminal wraps them where there is one."""
    from rich.console import Console

    return Console(width=width, highlight=False, markup=False, emoji=False)


def print_tree(tree: Tree, *, depth: int, most: int | None) -> None:
    """Print ``tree``, which is at most ``depth`` branches deep; beyond ``most`` lines say how many are left out."""
    from rich.segment import Segment, Segments

    # A branch is drawn four cells further right than the one before: text needs its room beyond the deepest.
    out = console(width=_UNWRAPPED + 4 * (depth + 2))
    lines = out.render_lines(tree, pad=False)
    shown = lines if most is None else lines[:most]
    out.print(Segments([segment for line in shown for segment in (*line, Segment.line())]), end="")
    if len(lines) > len(shown):
        left = len(lines) - len(shown)
        out.print(f"… and {left:,} more line{'' if left == 1 else 's'}; --all prints them")


def print_json(value: Any) -> None:
    """Print one JSON value, ASCII so that it survives every locale."""
    typer.echo(json.dumps(value, allow_nan=False, indent=1))


def printable(text: str) -> str:
    """``text`` on one line, its control characters shown as a dot: a transcript may hold escape sequences."""
    return "".join(char if char.isprintable() else "·" for char in " ".join(text.split()))


def snippet(text: str, limit: int = _SNIPPET) -> str:
    """The beginning of ``text`` in quotes, on one line."""
    line = printable(text)
    return f"“{line}”" if len(line) <= limit else f"“{line[: limit - 1].rstrip()}…”"


def parts_of_u(value: int | None) -> str:
    """A belief or attenuation with three digits, floored so that it never looks better than it is; `-` where undefined."""
    if value is None:
        return "-"
    thousandths = value // 1_000_000
    return f"{thousandths // 1000}.{thousandths % 1000:03d}"


def weight(ppm: int) -> str:
    """A weight in ppm with three digits."""
    return parts_of_u(ppm * 1000)
