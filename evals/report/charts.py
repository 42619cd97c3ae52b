"""The report's pictures: forest plots and outcome bars. Every one stands before a table with the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from evals.report.svg import group, mark, picture, titled, words

WIDTH = 940.0
_RIGHT = 200.0
_HEADROOM = 10.0
_GOAL_HEADROOM = 32.0
_LABEL_UNIT = 7.4
"""Average advance of a label's character at 13 units."""
_ROW = 24.0
_SERIES_GAP = 13.0
_AXIS = 34.0
_WIDE_ENOUGH = 20.0
"""A bar segment narrower than this carries no number; the table does."""

INK = "#14181f"
MUTED = "#515c6d"
RULE = "#e4e7ed"
ACCENT = "#1f4e79"
THRESHOLD = "#b3261e"

Scale = Literal["share", "difference"]
Position = Callable[[float], float]
"""Value -> horizontal coordinate."""

OUTCOME_COLOURS: dict[str, tuple[str, str, str]] = {
    "asserts_false": ("#b3261e", "#ffffff", "false"),
    "asserts_both": ("#f0a860", INK, "both"),
    "asserts_true": ("#1b7f5a", "#ffffff", "true"),
    "third_value": ("#6b5ca5", "#ffffff", "third value"),
    "abstains": ("#5f6b7d", "#ffffff", "abstains"),
    "unscored": ("#cdd2db", INK, "unscored"),
    "error": ("#2b2f38", "#ffffff", "error"),
}
"""Outcome -> fill, text on it, short name; in the order in which bars are stacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One interval in a forest plot; ``None`` ends mean that there is no estimate."""

    estimate: float | None
    low: float | None
    high: float | None
    text: str
    """Printed at the right edge."""
    series: int = 0
    """0 filled circle, 1 hollow square, 2 filled diamond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One labelled line of a forest plot."""

    label: str
    dots: tuple[Dot, ...]
    emphasis: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A threshold and the side on which a bound must lie."""

    value: float
    direction: Literal["upper-below", "lower-above"]
    subject: str
    """Who must clear it, such as `arm 2`."""


def forest(
    lines: Sequence[Line],
    *,
    scale: Scale,
    identity: str,
    title: str,
    series: Sequence[str] = (),
    goal: Goal | None = None,
    bar: float | None = None,
) -> Markup:
    """Estimates with their intervals on one axis, a threshold with its passing side shaded.

    ``bar`` is a line that an estimate, not a bound, must reach.
    """
    low, high = (0.0, 1.0) if scale == "share" else (-1.0, 1.0)
    left, right = _margin(line.label for line in lines), WIDTH - _RIGHT
    ceiling = _HEADROOM if goal is None else _GOAL_HEADROOM
    heights = [_ROW + _SERIES_GAP * (max(1, len(line.dots)) - 1) for line in lines]
    bottom = ceiling + sum(heights)

    def x(value: float) -> float:
        return left + (min(max(value, low), high) - low) / (high - low) * (right - left)

    marks = []
    if goal is not None:
        edges = (left, x(goal.value)) if goal.direction == "upper-below" else (x(goal.value), right)
        marks.append(
            mark("rect", x=edges[0], y=ceiling, width=edges[1] - edges[0], height=bottom - ceiling, fill="#eef6f1")
        )
    marks += _axis(scale, x, ceiling, bottom)
    if bar is not None:
        marks.append(mark("line", x1=x(bar), x2=x(bar), y1=ceiling, y2=bottom, stroke=THRESHOLD, stroke_width=1.5))
    if goal is not None:
        marks += _goal_marks(goal, x(goal.value), bottom, scale)
    top = ceiling
    for line, height in zip(lines, heights, strict=True):
        weight = "600" if line.emphasis else "400"
        middle = top + height / 2
        marks.append(
            words(line.label, x=left - 12, y=middle + 4, text_anchor="end", fill=INK, font_weight=weight, font_size=13)
        )
        for place, dot in enumerate(line.dots):
            y = middle + (place - (len(line.dots) - 1) / 2) * _SERIES_GAP
            marks.append(_dot(dot, x, y, right))
        top += height
    marks += _legend(series, left, bottom + _AXIS + 8) if len(series) > 1 else []
    extra = 22 if len(series) > 1 else 0
    spoken = "; ".join(f"{line.label}: {', '.join(dot.text for dot in line.dots)}" for line in lines)
    return picture(
        marks, width=WIDTH, height=bottom + _AXIS + extra, identity=identity, title=title, text=spoken or "no data"
    )


def _axis(scale: Scale, x: Position, top: float, bottom: float) -> list[str]:
    ticks = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0) if scale == "share" else (-1.0, -0.5, 0.0, 0.5, 1.0)
    marks = []
    for tick in ticks:
        strong = scale == "difference" and tick == 0.0
        colour = "#8b95a5" if strong else RULE
        marks.append(mark("line", x1=x(tick), x2=x(tick), y1=top, y2=bottom, stroke=colour, stroke_width=1.0))
        sign = "−" if tick < 0 else ("+" if tick > 0 and scale == "difference" else "")
        label = f"{sign}{abs(100 * tick):.0f}{' %' if scale == 'share' else ' pp'}"
        marks.append(words(label, x=x(tick), y=bottom + 18, text_anchor="middle", fill=MUTED, font_size=11.5))
    return marks


def _goal_marks(goal: Goal, x: float, bottom: float, scale: Scale) -> list[str]:
    unit = "%" if scale == "share" else "pp"
    arrow = "upper bound below" if goal.direction == "upper-below" else "lower bound above"
    shown = f"{100 * goal.value:.0f}".replace("-", "−")
    anchor = "start" if x < WIDTH / 2 else "end"
    return [
        mark(
            "line",
            x1=x,
            x2=x,
            y1=_GOAL_HEADROOM - 8,
            y2=bottom,
            stroke=THRESHOLD,
            stroke_width=1.5,
            stroke_dasharray="5 3",
        ),
        words(
            f"{goal.subject} passes with {arrow} {shown} {unit}".strip(),
            x=x,
            y=_GOAL_HEADROOM - 14,
            text_anchor=anchor,
            fill=THRESHOLD,
            font_size=11.5,
        ),
    ]


def _margin(labels: Iterable[str]) -> float:
    """Room for the longest label at the left."""
    return 24.0 + _LABEL_UNIT * max((len(label) for label in labels), default=0)


def _dot(dot: Dot, x: Position, y: float, right: float) -> str:
    note = words(dot.text, x=right + 14, y=y + 4, fill=INK if dot.estimate is not None else MUTED, font_size=12)
    if dot.estimate is None or dot.low is None or dot.high is None:
        return titled(note, dot.text)
    centre = x(dot.estimate)
    bar = [
        mark("line", x1=x(dot.low), x2=x(dot.high), y1=y, y2=y, stroke=ACCENT, stroke_width=2.0),
        mark("line", x1=x(dot.low), x2=x(dot.low), y1=y - 4, y2=y + 4, stroke=ACCENT, stroke_width=2.0),
        mark("line", x1=x(dot.high), x2=x(dot.high), y1=y - 4, y2=y + 4, stroke=ACCENT, stroke_width=2.0),
    ]
    return titled("".join(bar) + _symbol(dot.series, centre, y) + note, dot.text)


def _symbol(series: int, x: float, y: float) -> str:
    if series == 0:
        return mark("circle", cx=x, cy=y, r=5.0, fill=ACCENT)
    if series == 1:
        return mark(
            "rect", x=x - 4.5, y=y - 4.5, width=9.0, height=9.0, fill="#ffffff", stroke=ACCENT, stroke_width=2.0
        )
    corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
    return mark("polygon", points=corners, fill=ACCENT)


def _legend(series: Sequence[str], x: float, y: float) -> list[str]:
    marks = []
    for place, name in enumerate(series):
        marks += [_symbol(place, x + 6, y), words(name, x=x + 18, y=y + 4, fill=MUTED, font_size=12)]
        x += 40 + 7 * len(name)
    return marks


def outcome_bars(rows: Sequence[tuple[str, Sequence[tuple[str, int]]]], *, identity: str, title: str) -> Markup:
    """One stacked bar a row: how the answers divide, errors and unread ones included."""
    left, right = _margin(label for label, _ in rows), WIDTH - 60.0
    height = 26.0
    used = [name for name in OUTCOME_COLOURS if any(dict(counts).get(name, 0) for _, counts in rows)]
    marks, spoken = [], []
    for place, (label, counts) in enumerate(rows):
        y = 8.0 + place * height
        total = sum(count for _, count in counts)
        found = dict(counts)
        marks.append(words(label, x=left - 12, y=y + 15, text_anchor="end", fill=INK, font_size=13))
        marks.append(words(f"n = {total}", x=right + 12, y=y + 15, fill=MUTED, font_size=12))
        start = left
        for name in used:
            width = (right - left) * found.get(name, 0) / total if total else 0.0
            if width:
                marks.append(_segment(name, found[name], start, width, y))
            start += width
        spoken.append(f"{label}: " + ", ".join(f"{OUTCOME_COLOURS[n][2]} {found.get(n, 0)}" for n in used))
    bottom = 8.0 + len(rows) * height
    x = left
    for name in used:
        fill, _, short = OUTCOME_COLOURS[name]
        marks.append(mark("rect", x=x, y=bottom + 10, width=12.0, height=12.0, rx=2.0, fill=fill))
        marks.append(words(short, x=x + 18, y=bottom + 20.5, fill=MUTED, font_size=12))
        x += 38 + 7 * len(short)
    return picture(
        marks, width=WIDTH, height=bottom + 30, identity=identity, title=title, text="; ".join(spoken) or "no data"
    )


def _segment(name: str, count: int, start: float, width: float, y: float) -> str:
    fill, ink, short = OUTCOME_COLOURS[name]
    marks = [mark("rect", x=start, y=y, width=max(0.8, width - 1), height=20.0, fill=fill)]
    if width >= _WIDE_ENOUGH:
        marks.append(words(str(count), x=start + width / 2, y=y + 14.5, text_anchor="middle", fill=ink, font_size=12))
    return titled(group(marks), f"{short}: {count}")
