"""The two pictures of a study; each stands before a table with the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from evals.quorum_attack.document import CurveRow, FigureRow, Part, QuorumAttackData
from evals.report.charts import ACCENT, INK, MUTED, RULE, THRESHOLD
from evals.report.svg import mark, picture, titled, words

Axis = Literal["cosine", "jaccard"]

WIDTH = 940.0
_HEIGHT = 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 24.0, 18.0, 46.0
_LEGEND = 20.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_HONEST = "#1b7f5a"
_DASHES = ("none", "7 4", "2 3")
_SHIPPED = 2
"""The first points of a document are the policies that are shipped; crosses at every point would hide each other."""

_STYLES = (
    (THRESHOLD, "none"),
    (THRESHOLD, "7 4"),
    (_HONEST, "none"),
    (_HONEST, "7 4"),
    (ACCENT, "none"),
    (ACCENT, "7 4"),
    (MUTED, "none"),
    (MUTED, "7 4"),
)
"""Colour and dash of the lines in order; a colour is never the only difference between two lines of one kind."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a sweep."""

    label: str
    rows: tuple[CurveRow, ...]


def series_of(data: QuorumAttackData, axis: Axis) -> tuple[Series, ...]:
    """The lines of one sweep: attacks that pass first, then honest pairs merged."""
    found = []
    for measure, saying in (("passing", "attacks that pass"), ("merged", "honest pairs merged")):
        kept = [row for row in data.curve if row.axis == axis and row.measure == measure]
        for key in dict.fromkeys((row.set_name, row.part) for row in kept):
            rows = tuple(row for row in kept if (row.set_name, row.part) == key)
            found.append(Series(f"{saying}: {key[0]} ({key[1]})", rows))
    return tuple(found)


def sweep(data: QuorumAttackData, axis: Axis, *, identity: str, title: str) -> Markup:
    """Shares over one threshold, the named points as vertical lines.

    Bands are drawn for attacks and for the honest set that thresholds are fitted on; every interval is in the table.
    """
    lines = series_of(data, axis)
    frame = _Frame(*_SPANS[axis])
    marks = [*_grid(frame, axis), *_named(data, frame, axis)]
    first = _fitted_on(data)
    for place, line in enumerate(lines):
        banded = line.rows[0].measure == "passing" or line.rows[0].set_name == first
        marks += _drawn(line, frame, axis, *_STYLES[place % len(_STYLES)], banded=banded)
    marks += _legend([(line.label, *_STYLES[place % len(_STYLES)]) for place, line in enumerate(lines)])
    spoken = "; ".join(f"{line.label}: {_spoken(line, axis)}" for line in lines)
    height = _HEIGHT + 14 + _LEGEND * len(lines)
    return picture(marks, width=WIDTH, height=height, identity=identity, title=title, text=spoken or "no data")


def trade_off(data: QuorumAttackData, *, identity: str, title: str) -> Markup:
    """Attacks that pass against honest pairs merged as the cosine threshold moves, one line for every honest set.

    Where there is a set to check on, both shares are of what was not fitted on. Intervals stand at the shipped points.
    """
    part: Part = "check" if any(row.part == "check" for row in data.sets) else "fit"
    attack = next((row.name for row in data.sets if (row.kind, row.part) == ("attack", part)), "")
    passed = {row.cosine_ppm: row.share.estimate for row in _rows(data, "passing", attack, part)}
    marks = _grid(frame := _Frame(0.0, 1.0), "merged")
    marks.append(words("share of attacks that pass", x=_LEFT, y=_TOP - 6, fill=INK, font_size=12))
    labels, spoken = [], []
    for place, honest in enumerate(row.name for row in data.sets if row.kind == "honest"):
        colour, dash = _STYLES[(2 + 2 * place) % len(_STYLES)][0], _DASHES[place % len(_DASHES)]
        merged = {row.cosine_ppm: row.share.estimate for row in _rows(data, "merged", honest, part)}
        places = [(merged.get(at), passed[at]) for at in sorted(passed)]
        corners = [(frame.x(x), frame.y(y)) for x, y in places if x is not None and y is not None]
        marks.append(_line(corners, colour, dash))
        for point in data.points[:_SHIPPED]:
            across = data.figure(point.name, honest, "merged", part)
            upward = data.figure(point.name, attack, "passing", part)
            if across is not None and upward is not None:
                marks.append(_cross(frame, across, upward, colour, point.name if place == 0 else ""))
                spoken.append(f"{point.name} on {honest}: {_shares(across, upward)}")
        labels.append((f"{attack} against {honest} ({part})", colour, dash))
    marks += _legend(labels)
    height = _HEIGHT + 14 + _LEGEND * len(labels)
    text = "; ".join(spoken) or "no data"
    return picture(marks, width=WIDTH, height=height, identity=identity, title=title, text=text)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the plot lies and what its horizontal axis spans."""

    low: float
    high: float

    def x(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, share: float) -> float:
        return _TOP + (1.0 - share) * (_HEIGHT - _TOP - _BOTTOM)


_SPANS: dict[str, tuple[float, float]] = {"cosine": (0.3, 1.0), "jaccard": (0.0, 1.0)}
_AXES = {
    "cosine": "cosine above which two texts are one source",
    "jaccard": "shingle Jaccard above which two texts are one source",
    "merged": "share of honest pairs merged",
}


def _grid(frame: _Frame, axis: str) -> list[str]:
    marks = []
    for tick in _TICKS:
        y = frame.y(tick)
        marks.append(mark("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y, stroke=RULE, stroke_width=1.0))
        marks.append(words(f"{100 * tick:.0f} %", x=_LEFT - 8, y=y + 4, text_anchor="end", fill=MUTED, font_size=11.5))
    for step in range(round(frame.low * 10), round(frame.high * 10) + 1):
        value = step / 10
        label = f"{100 * value:.0f} %" if axis == "merged" else f"{value:.1f}"
        x, y = frame.x(value), _HEIGHT - _BOTTOM + 18
        marks.append(words(label, x=x, y=y, text_anchor="middle", fill=MUTED, font_size=11.5))
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    marks.append(words(_AXES[axis], x=middle, y=_HEIGHT - 8, text_anchor="middle", fill=INK, font_size=12))
    return marks


def _named(data: QuorumAttackData, frame: _Frame, axis: Axis) -> Iterable[str]:
    """Vertical lines at the thresholds that have names; equal ones share a line."""
    at: dict[int, list[str]] = {}
    for point in data.points:
        at.setdefault(point.cosine_ppm if axis == "cosine" else point.jaccard_ppm, []).append(point.name)
    for turn, (ppm, names) in enumerate(sorted(at.items())):
        x = frame.x(ppm / 1_000_000)
        yield mark("line", x1=x, x2=x, y1=_TOP, y2=frame.y(0.0), stroke=MUTED, stroke_width=1.0, stroke_dasharray="2 3")
        anchor = "end" if x > WIDTH / 2 else "start"
        shift = -4.0 if anchor == "end" else 4.0
        yield words(
            ", ".join(names), x=x + shift, y=_TOP + 10 + 13 * turn, text_anchor=anchor, fill=MUTED, font_size=11.5
        )


def _drawn(line: Series, frame: _Frame, axis: Axis, colour: str, dash: str, *, banded: bool) -> list[str]:
    known = [
        (frame.x(_threshold(row, axis)), row.share.estimate, row.share.low, row.share.high)
        for row in line.rows
        if row.share.estimate is not None and row.share.low is not None and row.share.high is not None
    ]
    if not known:
        return []
    upper = [(x, frame.y(high)) for x, _, _, high in known]
    lower = [(x, frame.y(low)) for x, _, low, _ in reversed(known)]
    band = mark("polygon", points=_path([*upper, *lower]), fill=colour, fill_opacity="0.12") if banded else ""
    drawn = _line([(x, frame.y(share)) for x, share, _, _ in known], colour, dash)
    return [titled(band + drawn, line.label)]


def _line(corners: Sequence[tuple[float, float]], colour: str, dash: str) -> str:
    return mark("polyline", points=_path(corners), fill="none", stroke=colour, stroke_width=2.0, stroke_dasharray=dash)


def _cross(frame: _Frame, across: FigureRow, upward: FigureRow, colour: str, name: str) -> str:
    x0, x, x1 = across.share.low, across.share.estimate, across.share.high
    y0, y, y1 = upward.share.low, upward.share.estimate, upward.share.high
    if None in (x0, x, x1, y0, y, y1):
        return ""
    assert x0 is not None and x is not None and x1 is not None  # noqa: PT018 - for the type checker
    assert y0 is not None and y is not None and y1 is not None  # noqa: PT018 - for the type checker
    marks = [
        mark("line", x1=frame.x(x0), x2=frame.x(x1), y1=frame.y(y), y2=frame.y(y), stroke=colour, stroke_width=1.5),
        mark("line", x1=frame.x(x), x2=frame.x(x), y1=frame.y(y0), y2=frame.y(y1), stroke=colour, stroke_width=1.5),
        mark("circle", cx=frame.x(x), cy=frame.y(y), r=4.5, fill=colour),
        words(name, x=frame.x(x) + 8, y=frame.y(y) - 8, fill=INK, font_size=12),
    ]
    return titled("".join(marks), f"{name}: {_shares(across, upward)}")


def _legend(entries: Sequence[tuple[str, str, str]]) -> list[str]:
    """Label, colour and dash of every line, one below the other."""
    marks = []
    for place, (label, colour, dash) in enumerate(entries):
        y = _HEIGHT + 8 + _LEGEND * place
        marks += [
            _line([(_LEFT, y), (_LEFT + 34, y)], colour, dash),
            words(label, x=_LEFT + 44, y=y + 4, fill=MUTED, font_size=12),
        ]
    return marks


def _rows(data: QuorumAttackData, measure: str, set_name: str, part: str) -> list[CurveRow]:
    return [
        row
        for row in data.curve
        if (row.axis, row.measure, row.set_name, row.part) == ("cosine", measure, set_name, part)
    ]


def _fitted_on(data: QuorumAttackData) -> str:
    """Name of the first honest set."""
    return next((row.name for row in data.sets if row.kind == "honest"), "")


def _threshold(row: CurveRow, axis: Axis) -> float:
    return (row.cosine_ppm if axis == "cosine" else row.jaccard_ppm) / 1_000_000


def _shares(across: FigureRow, upward: FigureRow) -> str:
    return (
        f"{_percent(across.share.estimate)} of honest pairs merged, {_percent(upward.share.estimate)} of attacks pass"
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _spoken(line: Series, axis: Axis) -> str:
    tenth = line.rows[:: max(1, len(line.rows) // 10)]
    return ", ".join(f"{_threshold(row, axis):.2f} {_percent(row.share.estimate)}" for row in tenth)


def _path(corners: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
