"""The planted games of the benchmark: right edges, false edges, exactness, coverage and passes, ours and the peers'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tests.bench import planted_exact, planted_peers, planted_rule
from tests.bench.measuring import Figure, Goal
from tests.bench.planted_claims import NULLS, SUPPORTED, TARGETED
from tests.bench.planted_tables import write
from tests.bench.sections import Bench, Document

LEAST_RECALL = 0.90
MOST_FALSE = 0.10
MOST_ERROR_NATS = 1e-9
LEAST_COVERAGE = 0.88


PLANS = {
    "small": {"mild": (1,), "doubled": (8,), "peers": (8,), "exact": (8,)},
    "default": {"mild": (1, 3, 5, 8, 14, 64, 500), "doubled": (5, 14), "peers": (5, 14), "exact": (1, 5, 14, 64, 500)},
    "full": {
        "mild": (1, 3, 5, 8, 14, 20, 64, 128, 500),
        "doubled": (5, 14, 64),
        "peers": (5, 14, 64),
        "exact": (1, 3, 5, 8, 14, 20, 64, 128, 500),
    },
}
"""Context sizes in units: of the rule over each background, of the comparison, of games of order two."""

COUNTS = {"small": (2, 2, 19, 2), "default": (40, 60, 100, 20), "full": (200, 300, 1000, 50)}
"""Claims a stratum, null claims a stratum, null claims a family of a floor, games of order two."""

PEERS_FAMILY = 300
"""Null claims of the floors of a comparison, at most: six methods are calibrated."""


def run(bench: Bench) -> Iterator[Figure]:
    """Every part in turn, small contexts first and peers last; after each the table of all parts so far is written."""
    n, nulls, family, games = COUNTS[bench.size]
    measures: dict[str, Callable[[int], Document]] = {
        "mild": lambda units: planted_rule.measure(units, "mild", n, nulls, family),
        "doubled": lambda units: planted_rule.measure(units, "doubled", n, nulls, family),
        "peers": lambda units: planted_peers.measure(units, "mild", n, nulls, min(family, PEERS_FAMILY)),
        "exact": lambda units: planted_exact.measure(units, games),
    }
    says = {"mild": _rule, "doubled": _rule, "peers": _peers, "exact": _exact}
    found: dict[str, list[Document]] = {kind: [] for kind in measures}
    plan = [(units, kind) for kind, sizes in PLANS[bench.size].items() for units in sizes]
    for units, kind in sorted(plan, key=lambda part: (part[1] == "peers", part[0])):
        document = bench.kept.get(f"planted/{kind}-{units}", lambda u=units, k=kind: measures[k](u))
        found[kind].append(document)
        yield from says[kind](document)
        write(bench.out / "planted.md", found["mild"] + found["doubled"], found["peers"], found["exact"])


def _rule(document: Document) -> Iterator[Figure]:
    where = f"planted, d = {document['units']}, {document['background']}"
    strata = document["strata"]
    recalled = [name for name in TARGETED if name in strata]
    worst = min(recalled, key=lambda name: strata[name]["complete_95"][0])
    yield Figure(
        f"{where}: all edges found",
        _counts(strata, recalled, "complete"),
        (Goal(f"least lower bound ({worst})", strata[worst]["complete_95"][0], LEAST_RECALL, at_most=False, unit=""),),
    )
    for what, among in (("null claims", NULLS), ("claims with causes", SUPPORTED)):
        fitting = [name for name in among if name in strata]
        worst = max(fitting, key=lambda name: strata[name]["false_95"][1])
        bound = strata[worst]["false_95"][1]
        yield Figure(
            f"{where}: a false edge, {what}",
            _counts(strata, fitting, "false"),
            (Goal(f"largest upper bound ({worst})", bound, MOST_FALSE, at_most=True, unit=""),),
        )
    measured = [name for name in strata if strata[name]["intervals"]]
    if measured:
        share = {name: strata[name]["covered"] / strata[name]["intervals"] for name in measured}
        worst = min(measured, key=share.__getitem__)
        yield Figure(
            f"{where}: 90 % intervals, mean width in nats",
            ", ".join(f"{name} {strata[name]['width']:.2f}" for name in measured),
            (Goal(f"least coverage ({worst})", share[worst], LEAST_COVERAGE, at_most=False, unit=""),),
        )
    yield Figure(f"{where}: passes", ", ".join(f"{name} {strata[name]['runs']:.0f}" for name in ("null", *recalled)))


def _counts(strata: Document, names: Iterable[str], field: str) -> str:
    return ", ".join(f"{name} {strata[name][field]}/{strata[name]['n']}" for name in names)


def _peers(document: Document) -> Iterator[Figure]:
    strata = document["strata"]
    for method in strata["null"]:
        own = {name: strata[name][method] for name in strata}
        recalled = _counts(own, [name for name in own if name not in NULLS], "complete")
        gate = f"; gate passed {_counts(own, own, 'passed')}" if method == "seed-v4" else ""
        yield Figure(
            f"planted, d = {document['units']}: {method}",
            f"all edges {recalled}; false edge {_counts(own, own, 'false')}; "
            f"passes {own['null']['runs']:.0f} to {max(one['runs'] for one in own.values()):.0f}{gate}",
        )


def _exact(document: Document) -> Iterator[Figure]:
    errors = document["largest_error_nats"]
    yield Figure(
        f"games of order two, d = {document['units']}, {document['passes']} passes: largest error",
        ", ".join(f"{name} {error:.2g}" for name, error in errors.items()),
        (Goal("error", errors["cuts-v1"], MOST_ERROR_NATS, at_most=True, unit="nats"),),
    )
