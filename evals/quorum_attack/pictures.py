"""The two pictures of a study; each stands before a table with the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.quorum_attack.document import CurveRow, FigureRow, Part, QuorumAttackData
from evals.report.charts import ACCENT, INK, MUTED, RULE, THRESHOLD
from evals.report.svg import mark, picture, titled, words

WIDTH = 940.0
_HEIGHT = 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 24.0, 18.0, 46.0
_LEGEND = 20.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_HONEST = "#1b7f5a"

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


def series_of(data: QuorumAttackData, axis: str) -> tuple[Series, ...]:
    """The lines of one sweep: attacks that pass first, then honest pairs merged."""
    found = []
    for measure, saying in (("passing", "attacks that pass"), ("merged", "honest pairs merged")):
        kept = [row for row in data.curve if row.axis == axis and row.measure == measure]
        for key in dict.fromkeys((row.set_name, row.part) for row in kept):
            rows = tuple(row for row in kept if (row.set_name, row.part) == key)
            found.append(Series(f"{saying}: {key[0]} ({key[1]})", rows))
    return tuple(found)


def sweep(data: QuorumAttackData, axis: str, *, identity: str, title: str) -> Markup:
    """Shares over one threshold, with bands of their intervals and the named points as vertical lines."""
    lines = series_of(data, axis)
    values = [_threshold(row, axis) for line in lines for row in line.rows]
    low, high = min(values, default=0.0), max(values, default=1.0)
    frame = _Frame(low, high if high > low else low + 1.0)
    marks = [*_grid(frame, axis), *_named(data, frame, axis)]
    for place, line in enumerate(lines):
        marks += _drawn(line, frame, axis, *_STYLES[place % len(_STYLES)])
    marks += _legend([line.label for line in lines], _HEIGHT + 8)
    spoken = "; ".join(f"{line.label}: {_spoken(line, axis)}" for line in lines)
    height = _HEIGHT + 14 + _LEGEND * len(lines)
    return picture(marks, width=WIDTH, height=height, identity=identity, title=title, text=spoken or "no data")


def trade_off(data: QuorumAttackData, *, identity: str, title: str) -> Markup:
    """Attacks that pass against honest pairs merged as the cosine threshold moves, intervals at the named points.

    The honest axis is the first honest set: the one that thresholds are fitted on; each part against its own half.
    """
    honest = next((row.name for row in data.sets if row.kind == "honest"), "")
    frame = _Frame(0.0, 1.0)
    marks = _grid(frame, "merged")
    attacks = [row for row in data.sets if row.kind == "attack"]
    spoken = []
    for place, attack in enumerate(attacks):
        colour, dash = _STYLES[place * 2 % len(_STYLES)][0], _STYLES[place % 2][1]
        merged = {r.cosine_ppm: r.share.estimate for r in _rows(data, "merged", honest, attack.part)}
        passed = {r.cosine_ppm: r.share.estimate for r in _rows(data, "passing", attack.name, attack.part)}
        places = [(merged.get(at), passed[at]) for at in sorted(passed)]
        corners = [(frame.x(x), frame.y(y)) for x, y in places if x is not None and y is not None]
        marks.append(_line(corners, colour, dash))
        for point in data.points:
            across = data.figure(point.name, honest, "merged", _part(attack.part))
            upward = data.figure(point.name, attack.name, "passing", _part(attack.part))
            if across is not None and upward is not None:
                marks.append(_cross(frame, across, upward, colour, point.name))
                spoken.append(f"{point.name} on {attack.name}: {_shares(across, upward)}")
    marks += _legend(
        [f"{a.name} ({a.part}) against {honest} ({a.part} half)" for a in attacks], _HEIGHT + 8, paired=True
    )
    height = _HEIGHT + 14 + _LEGEND * len(attacks)
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
    steps = 10
    for step in range(steps + 1):
        value = frame.low + (frame.high - frame.low) * step / steps
        label = f"{100 * value:.0f} %" if axis == "merged" else f"{value:.2f}"
        x, y = frame.x(value), _HEIGHT - _BOTTOM + 18
        marks.append(words(label, x=x, y=y, text_anchor="middle", fill=MUTED, font_size=11.5))
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    marks.append(words(_AXES[axis], x=middle, y=_HEIGHT - 8, text_anchor="middle", fill=INK, font_size=12))
    return marks


def _named(data: QuorumAttackData, frame: _Frame, axis: str) -> Iterable[str]:
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


def _drawn(line: Series, frame: _Frame, axis: str, colour: str, dash: str) -> list[str]:
    known = [
        (frame.x(_threshold(row, axis)), row.share.estimate, row.share.low, row.share.high)
        for row in line.rows
        if row.share.estimate is not None and row.share.low is not None and row.share.high is not None
    ]
    if not known:
        return []
    upper = [(x, frame.y(high)) for x, _, _, high in known]
    lower = [(x, frame.y(low)) for x, _, low, _ in reversed(known)]
    band = mark("polygon", points=_path([*upper, *lower]), fill=colour, fill_opacity="0.10")
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


def _legend(labels: Sequence[str], top: float, *, paired: bool = False) -> list[str]:
    marks = []
    for place, label in enumerate(labels):
        colour = _STYLES[(place * 2 if paired else place) % len(_STYLES)][0]
        dash = _STYLES[place % 2 if paired else place % len(_STYLES)][1]
        y = top + _LEGEND * place
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


def _part(part: str) -> Part:
    return "fit" if part == "fit" else "check"


def _threshold(row: CurveRow, axis: str) -> float:
    return (row.cosine_ppm if axis == "cosine" else row.jaccard_ppm) / 1_000_000


def _shares(across: FigureRow, upward: FigureRow) -> str:
    return (
        f"{_percent(across.share.estimate)} of honest pairs merged, {_percent(upward.share.estimate)} of attacks pass"
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _spoken(line: Series, axis: str) -> str:
    tenth = line.rows[:: max(1, len(line.rows) // 10)]
    return ", ".join(f"{_threshold(row, axis):.2f} {_percent(row.share.estimate)}" for row in tenth)


def _path(corners: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
