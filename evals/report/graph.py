"""A cascade as a picture: entries from left to right by depth, belief before and after in each box."""

from __future__ import annotations

from markupsafe import Markup

from evals.report.charts import INK, MUTED
from evals.report.evidence import Cascade, CascadeNode
from evals.report.svg import mark, picture, titled, words

UNIT = 1_000_000_000
_BOX = 190.0
_TALL = 58.0
_GAP_X = 70.0
_GAP_Y = 16.0
_LABEL = 23
"""Characters of a label that fit a box."""


def cascade_graph(cascade: Cascade, *, identity: str) -> Markup:
    """The dependence graph of one retraction; the table beside it has the same numbers."""
    columns = _columns(cascade)
    place = {
        node.entry_id: (10 + depth * (_BOX + _GAP_X), 10 + row * (_TALL + _GAP_Y))
        for depth, column in enumerate(columns)
        for row, node in enumerate(column)
    }
    width = 20 + len(columns) * _BOX + max(0, len(columns) - 1) * _GAP_X
    height = 20 + max((len(column) for column in columns), default=0) * (_TALL + _GAP_Y)
    marks = [_edge(place, edge.parent, edge.child, edge.ppm, edge.basis) for edge in cascade.edges]
    marks += [_box(node, *place[node.entry_id]) for column in columns for node in column]
    spoken = "; ".join(
        f"{node.label}: belief {node.belief_before / UNIT:.2f} before, {node.belief_after / UNIT:.2f} after"
        + (", retracted" if node.retracted else ", invalidated" if node.invalidated else "")
        for node in cascade.nodes
    )
    return picture(
        marks, width=max(width, 220.0), height=height, identity=identity, title=cascade.title, text=spoken or "no entry"
    )


def _columns(cascade: Cascade) -> list[list[CascadeNode]]:
    """Nodes by the length of the longest path to them; the log is acyclic, so a pass per node settles it."""
    depth = {node.entry_id: 0 for node in cascade.nodes}
    for _ in cascade.nodes:
        for edge in cascade.edges:
            if edge.parent in depth and edge.child in depth:
                depth[edge.child] = max(depth[edge.child], min(depth[edge.parent] + 1, len(depth) - 1))
    columns: list[list[CascadeNode]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in cascade.nodes:
        columns[depth[node.entry_id]].append(node)
    return [column for column in columns if column]


def _edge(place: dict[str, tuple[float, float]], parent: str, child: str, ppm: int, basis: str) -> str:
    if parent not in place or child not in place:
        return ""
    (x1, y1), (x2, y2) = place[parent], place[child]
    start, end = (x1 + _BOX, y1 + _TALL / 2), (x2, y2 + _TALL / 2)
    bend = (end[0] - start[0]) / 2
    path = (
        f"M{start[0]:.1f},{start[1]:.1f} C{start[0] + bend:.1f},{start[1]:.1f} "
        f"{end[0] - bend:.1f},{end[1]:.1f} {end[0]:.1f},{end[1]:.1f}"
    )
    share = ppm / 1_000_000
    line = mark(
        "path",
        d=path,
        fill="none",
        stroke="#515c6d",
        stroke_width=0.8 + 2.2 * share,
        stroke_dasharray="none" if basis == "measured" else "5 4",
    )
    note = words(
        f"{100 * share:.0f} %",
        x=(start[0] + end[0]) / 2,
        y=(start[1] + end[1]) / 2 - 5,
        text_anchor="middle",
        fill=MUTED,
        font_size=11,
        stroke="#ffffff",
        stroke_width=4.0,
        paint_order="stroke",
    )
    return titled(line + note, f"{basis} edge, weight {100 * share:.0f} %")


def _box(node: CascadeNode, x: float, y: float) -> str:
    fallen = node.retracted or node.invalidated
    stroke = "#b3261e" if node.retracted else "#8a4b00" if node.invalidated else "#1b7f5a"
    state = "retracted" if node.retracted else "invalidated" if node.invalidated else "stands"
    label = node.label if len(node.label) <= _LABEL else node.label[: _LABEL - 1] + "…"
    before, after = node.belief_before / UNIT, node.belief_after / UNIT
    track = _BOX - 24
    marks = [
        mark("rect", x=x, y=y, width=_BOX, height=_TALL, rx=6.0, fill="#ffffff", stroke=stroke, stroke_width=1.5),
        words(label, x=x + 12, y=y + 18, fill=INK, font_size=12, font_weight="600"),
        words(f"{before:.2f} → {after:.2f}", x=x + 12, y=y + 35, fill=INK, font_size=12),
        words(state, x=x + _BOX - 12, y=y + 35, text_anchor="end", fill=stroke, font_size=11.5),
        mark("rect", x=x + 12, y=y + 43, width=track, height=6.0, rx=3.0, fill="#e4e7ed"),
        mark("rect", x=x + 12, y=y + 43, width=track * before, height=6.0, rx=3.0, fill="#b9c3d1"),
        mark("rect", x=x + 12, y=y + 43, width=track * after, height=6.0, rx=3.0, fill=stroke if fallen else "#1b7f5a"),
    ]
    return titled("".join(marks), f"{node.label} ({node.tier}): {before:.3f} before, {after:.3f} after, {state}")
