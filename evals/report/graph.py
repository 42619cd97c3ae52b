"""A cascade as a picture: entries from left to right by depth, belief before and after in each box."""

from __future__ import annotations

from markupsafe import Markup

from evals.report.charts import INK, MUTED
from evals.report.evidence import Cascade, CascadeEdge, CascadeNode
from evals.report.svg import mark, picture, titled, words

UNIT = 1_000_000_000
_BOX = 190.0
_TALL = 58.0
_GAP_X = 70.0
_GAP_Y = 16.0
_LABEL = 23
"""Characters of a label that fit a box."""

Places = dict[str, tuple[float, float]]
"""Entry -> upper left corner of its box."""


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
    marks = [_edge(place, edge) for edge in cascade.edges]
    marks += [_box(node, *place[node.entry_id]) for column in columns for node in column]
    spoken = "; ".join(
        f"{node.label}: belief {node.belief_before / UNIT:.2f} before, {node.belief_after / UNIT:.2f} after"
        + (", retracted" if node.retracted else ", invalidated" if node.invalidated else "")
        for node in cascade.nodes
    )
    spoken += "".join(_spoken(cascade, edge) for edge in cascade.edges if len(edge.parents) > 1)
    return picture(
        marks, width=max(width, 220.0), height=height, identity=identity, title=cascade.title, text=spoken or "no entry"
    )


def _spoken(cascade: Cascade, edge: CascadeEdge) -> str:
    """Joint support in words: a picture shows it by where curves meet."""
    labels = {node.entry_id: node.label for node in cascade.nodes}
    parents = " and ".join(labels.get(parent, parent) for parent in edge.parents)
    return f"; {labels.get(edge.child, edge.child)} rests on {parents} only together"


def _columns(cascade: Cascade) -> list[list[CascadeNode]]:
    """Nodes by the length of the longest path to them; the log is acyclic, so a pass per node settles it."""
    depth = {node.entry_id: 0 for node in cascade.nodes}
    for _ in cascade.nodes:
        for edge in cascade.edges:
            for parent in edge.parents:
                if parent in depth and edge.child in depth:
                    depth[edge.child] = max(depth[edge.child], min(depth[parent] + 1, len(depth) - 1))
    columns: list[list[CascadeNode]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in cascade.nodes:
        columns[depth[node.entry_id]].append(node)
    return [column for column in columns if column]


def _edge(place: Places, edge: CascadeEdge) -> str:
    """A curve from parent to child; joint support runs through a dot, from which one weighted curve goes on."""
    known = [place[parent] for parent in edge.parents if parent in place]
    if not known or edge.child not in place:
        return ""
    x, y = place[edge.child]
    share = edge.ppm / 1_000_000
    drawn: dict[str, str | float] = {
        "fill": "none",
        "stroke": "#515c6d",
        "stroke_width": 0.8 + 2.2 * share,
        "stroke_dasharray": "none" if edge.basis == "measured" else "5 4",
    }
    starts = [(left + _BOX, top + _TALL / 2) for left, top in known]
    end = (x, y + _TALL / 2)
    marks = []
    if len(edge.parents) > 1:
        # Beside the child, where the curves of no other edge begin or end.
        dot = (x - _GAP_X / 3, (sum(top for _, top in starts) / len(starts) + end[1]) / 2)
        marks += [_curve(start, dot, drawn) for start in starts]
        marks.append(mark("circle", cx=dot[0], cy=dot[1], r=4.5, fill="#515c6d"))
        starts = [dot]
    marks += [_curve(start, end, drawn) for start in starts]
    ((from_x, from_y),) = starts
    marks.append(
        words(
            f"{100 * share:.0f} %",
            x=(from_x + end[0]) / 2,
            y=(from_y + end[1]) / 2 - 5,
            text_anchor="middle",
            fill=MUTED,
            font_size=11,
            stroke="#ffffff",
            stroke_width=4.0,
            paint_order="stroke",
        )
    )
    together = f", {len(edge.parents)} entries only together" if len(edge.parents) > 1 else ""
    return titled("".join(marks), f"{edge.basis} edge, weight {100 * share:.0f} %{together}")


def _curve(start: tuple[float, float], end: tuple[float, float], drawn: dict[str, str | float]) -> str:
    bend = (end[0] - start[0]) / 2
    path = (
        f"M{start[0]:.1f},{start[1]:.1f} C{start[0] + bend:.1f},{start[1]:.1f} "
        f"{end[0] - bend:.1f},{end[1]:.1f} {end[0]:.1f},{end[1]:.1f}"
    )
    return mark("path", d=path, **drawn)


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
