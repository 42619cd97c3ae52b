"""The planted games as tables in Markdown: strata down, context sizes across, counts with their 95 % bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.planted_claims import NULLS, STRATA, SUPPORTED
from tests.bench.sections import Document


def write(path: Path, rules: Sequence[Document], peers: Sequence[Document], exact: Sequence[Document]) -> None:
    """Write every table to ``path``."""
    parts = [
        ("All planted edges found, claims; lower 95 % bound", _by_context(rules, SUPPORTED, _recall)),
        ("At least one false edge, claims; upper 95 % bound", _by_context(rules, STRATA, _false)),
        ("Coverage of 90 % intervals, mean width in nats", _by_context(_fold_overs(rules), STRATA, _coverage)),
        ("Passes a claim", _by_context(rules, STRATA, lambda one: f"{one['runs']:.0f}")),
        ("Floors from null claims of both families, nats", _floors(rules)),
        *(
            (
                f"The peers over {document['units']} units, mild background: all edges, then a false edge, claims",
                _methods(document),
            )
            for document in peers
        ),
        ("Games of order two: largest error of a main effect, nats", _errors(exact) if exact else ""),
    ]
    path.write_text("\n".join(f"**{title}**\n\n{table}" for title, table in parts if table), encoding="utf-8")


def _rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    whole = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in whole)


def _by_context(rules: Sequence[Document], names: Sequence[str], cell: Callable[[Document], str]) -> str:
    header = ["", *(f"{one['units']}{'' if one['background'] == 'mild' else ' doubled'}" for one in rules)]
    rows = [[name, *(cell(one["strata"][name]) if name in one["strata"] else "" for one in rules)] for name in names]
    shown = [row for row in rows if any(row[1:])]
    return _rows(header, shown) if shown else ""


def _recall(one: Document) -> str:
    return f"{one['complete']}/{one['n']}; {one['complete_95'][0]:.2f}"


def _false(one: Document) -> str:
    return f"{one['false']}/{one['n']}; {one['false_95'][1]:.2f}"


def _fold_overs(rules: Sequence[Document]) -> list[Document]:
    """Contexts in which effects have intervals that are not points."""
    return [one for one in rules if any(stratum["intervals"] for stratum in one["strata"].values())]


def _coverage(one: Document) -> str:
    return f"{one['covered'] / one['intervals']:.3f}; {one['width']:.2f}" if one["intervals"] else ""


def _floors(rules: Sequence[Document]) -> str:
    rows = [
        [str(one["units"]), one["background"], *(f"{one['floor'][key]:.2f}" for key in ("tau", "tau_total"))]
        for one in rules
    ]
    return _rows(["units", "background", "one unit", "total effect"], rows)


def _methods(document: Document) -> str:
    strata = document["strata"]
    methods = list(strata["null"])
    rows = []
    for name in strata:
        shown = [strata[name][method] for method in methods]
        cells = [f"{one['false']}/{one['n']}" for one in shown]
        if name not in NULLS:
            cells = [f"{one['complete']}, {cell}" for one, cell in zip(shown, cells, strict=True)]
        rows.append([name, *cells])
    passed = [
        f"gate passed {sum(strata[name]['seed-v4']['passed'] for name in among)}"
        f"/{sum(strata[name]['seed-v4']['n'] for name in among)} {what}"
        for what, among in (("null", NULLS), ("with causes", [name for name in strata if name not in NULLS]))
    ]
    rows.append(["passes", *(f"{min(r):.0f}–{max(r):.0f}" for r in _runs(document, methods))])
    floors = document["floors"]
    rows.append(["own floor", *("; ".join(passed) if m == "seed-v4" else f"{floors[m]:.2f} nats" for m in methods)])
    return _rows(["", *methods], rows)


def _runs(document: Document, methods: Sequence[str]) -> list[list[float]]:
    return [[one[method]["runs"] for one in document["strata"].values()] for method in methods]


def _errors(exact: Sequence[Document]) -> str:
    methods = list(exact[0]["largest_error_nats"])
    rows = [
        [f"{one['units']}", f"{one['passes']}", *(f"{one['largest_error_nats'][method]:.1g}" for method in methods)]
        for one in exact
    ]
    return _rows(["units", "passes", *methods], rows)
