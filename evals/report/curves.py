"""Small multiples of curves over folds: one panel an arm, its share with a band, and how often the cause was still in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.report.charts import ACCENT, INK, MUTED, RULE, WIDTH
from evals.report.svg import mark, picture, words

_COLUMNS = 4
_GAP = 26.0
_LEFT = 44.0
"""Room for the labels of the vertical axis."""
_TALL = 108.0
_HEAD = 30.0
_FOOT = 34.0
_SHADE = "#c3d3e4"
_INSET = 18.0
"""Between a panel's edge and its first and last point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a curve; shares in [0, 1], ``None`` where there is no estimate."""

    folds: int
    share: float | None
    low: float | None
    high: float | None
    beside: float | None
    """Share of the second, dashed line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One panel; points in order of folds."""

    label: str
    points: tuple[Point, ...]


def panels(curves: Sequence[Curve], *, identity: str, title: str, series: tuple[str, str]) -> Markup:
    """Every curve in a panel of its own, on the same axes.

    Args:
        curves: panels in reading order.
        identity: prefix of the picture's ids.
        title: its name.
        series: names of the solid line with its band and of the dashed line.
    """
    ticks = sorted({point.folds for curve in curves for point in curve.points})
    wide = (WIDTH - _LEFT - (_COLUMNS - 1) * _GAP) / _COLUMNS
    high = _HEAD + _TALL + _FOOT
    marks: list[str] = []
    for place, curve in enumerate(curves):
        row, column = divmod(place, _COLUMNS)
        frame = _Frame(_LEFT + column * (wide + _GAP), row * high + _HEAD, wide, tuple(ticks))
        marks += _panel(frame, curve, labelled=column == 0)
    bottom = (len(curves) + _COLUMNS - 1) // _COLUMNS * high
    marks += _legend(series, bottom + 6)
    spoken = "; ".join(
        f"{curve.label}: {', '.join(_spoken(point, series) for point in curve.points)}" for curve in curves
    )
    return picture(marks, width=WIDTH, height=bottom + 24, identity=identity, title=title, text=spoken or "no data")


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a panel lies and what its axes mean."""

    left: float
    top: float
    wide: float
    ticks: tuple[int, ...]

    def x(self, folds: int) -> float:
        first, last = self.ticks[0], self.ticks[-1]
        share = (folds - first) / (last - first) if last > first else 0.5
        return self.left + _INSET + share * (self.wide - 2 * _INSET)

    def y(self, share: float) -> float:
        return self.top + (1.0 - min(max(share, 0.0), 1.0)) * _TALL


def _panel(frame: _Frame, curve: Curve, *, labelled: bool) -> list[str]:
    banded = [
        (frame.x(p.folds), frame.y(p.low), frame.y(p.high))
        for p in curve.points
        if p.low is not None and p.high is not None
    ]
    beside = [(frame.x(p.folds), frame.y(p.beside)) for p in curve.points if p.beside is not None]
    solid = [(frame.x(p.folds), frame.y(p.share)) for p in curve.points if p.share is not None]
    return [
        words(curve.label, x=frame.left, y=frame.top - 10, fill=INK, font_size=13, font_weight="600"),
        *_grid(frame, labelled=labelled),
        *_band(banded),
        *_line(beside, stroke=MUTED, stroke_width=1.5, stroke_dasharray="5 4"),
        *(_hollow(x, y) for x, y in beside),
        *_line(solid, stroke=ACCENT, stroke_width=2.0),
        *(mark("circle", cx=x, cy=y, r=4.5, fill=ACCENT) for x, y in solid),
    ]


def _grid(frame: _Frame, *, labelled: bool) -> list[str]:
    heights = {share: frame.y(share) for share in (0.0, 0.5, 1.0)}
    right, foot = frame.left + frame.wide, frame.top + _TALL + 18
    marks = [mark("line", x1=frame.left, x2=right, y1=y, y2=y, stroke=RULE, stroke_width=1.0) for y in heights.values()]
    if labelled:
        marks += [
            words(f"{100 * share:.0f} %", x=frame.left - 8, y=y + 4, text_anchor="end", fill=MUTED, font_size=11.5)
            for share, y in heights.items()
        ]
        marks.append(words("folds", x=frame.left - 8, y=foot, text_anchor="end", fill=MUTED, font_size=11.5))
    marks += [
        words(str(folds), x=frame.x(folds), y=foot, text_anchor="middle", fill=MUTED, font_size=11.5)
        for folds in frame.ticks
    ]
    return marks


def _band(ends: Sequence[tuple[float, float, float]]) -> list[str]:
    """Ends of the intervals at their points, joined to a band where there are several."""
    marks = []
    if len(ends) > 1:
        corners = [(x, high) for x, _, high in ends] + [(x, low) for x, low, _ in reversed(ends)]
        marks.append(mark("polygon", points=_path(corners), fill=_SHADE))
    return marks + [mark("line", x1=x, x2=x, y1=low, y2=high, stroke=ACCENT, stroke_width=2.0) for x, low, high in ends]


def _line(corners: Sequence[tuple[float, float]], **drawn: str | float) -> list[str]:
    return [mark("polyline", points=_path(corners), fill="none", **drawn)] if len(corners) > 1 else []


def _path(corners: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _hollow(x: float, y: float) -> str:
    return mark("rect", x=x - 5.5, y=y - 5.5, width=11.0, height=11.0, fill="none", stroke=MUTED, stroke_width=1.5)


def _legend(series: tuple[str, str], y: float) -> list[str]:
    second = _LEFT + 60 + 7 * len(series[0])
    return [
        mark("circle", cx=_LEFT + 6, cy=y, r=4.5, fill=ACCENT),
        words(series[0], x=_LEFT + 18, y=y + 4, fill=MUTED, font_size=12),
        _hollow(second + 6, y),
        words(series[1], x=second + 18, y=y + 4, fill=MUTED, font_size=12),
    ]


def _spoken(point: Point, series: tuple[str, str]) -> str:
    folds = f"after {point.folds} fold{'' if point.folds == 1 else 's'}"
    if point.share is None or point.low is None or point.high is None:
        return f"{folds} undefined"
    shown = f"{folds} {series[0]} {100 * point.share:.0f} % [{100 * point.low:.0f}, {100 * point.high:.0f}]"
    return shown if point.beside is None else f"{shown}, {series[1]} {100 * point.beside:.0f} %"
