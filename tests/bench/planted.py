"""The planted games of the benchmark: right edges, false edges, exactness, coverage and passes, ours and the peers'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.bench import planted_exact, planted_peers, planted_rule
from tests.bench.measuring import Figure, Goal
from tests.bench.planted_claims import NULLS, SUPPORTED, TARGETED
from tests.bench.planted_tables import write
from tests.bench.sections import Bench, Document

LEAST_RECALL = 0.90
MOST_FALSE = 0.10
MOST_ERROR_NATS = 1e-9
LEAST_COVERAGE = 0.88


def run(bench: Bench) -> Iterator[Figure]:
    """Every part in turn; a table of all strata is written beside the suite's own."""
    n, nulls, family = bench.one_of(small=(2, 2, 19), default=(40, 60, 100), full=(200, 300, 200))
    contexts = bench.one_of(
        small=[(1, "mild"), (8, "doubled")],
        default=[*((units, "mild") for units in (1, 3, 5, 8, 14, 64, 500)), (5, "doubled"), (14, "doubled")],
        full=[
            *((units, "mild") for units in (1, 3, 5, 8, 14, 20, 64, 128, 500)),
            *((units, "doubled") for units in (5, 14, 64)),
        ],
    )
    compared = bench.one_of(small=(8,), default=(5, 14), full=(5, 14, 64))
    exact_over, games = bench.one_of(
        small=((8,), 2), default=((1, 5, 14, 64, 500), 20), full=((1, 3, 5, 8, 14, 20, 64, 128, 500), 50)
    )
    rules, peers, exact = [], [], []
    for units, background in contexts:
        part = f"planted/rule-{units}-{background}"
        document = bench.kept.get(
            part, lambda u=units, b=background: planted_rule.measure(u, b, n=n, nulls=nulls, family=family)
        )
        rules.append(document)
        yield from _rule(document)
    for units in compared:
        document = bench.kept.get(
            f"planted/peers-{units}",
            lambda u=units: planted_peers.measure(u, "mild", n=n, nulls=nulls, family=family),
        )
        peers.append(document)
        yield from _peers(document)
    for units in exact_over:
        document = bench.kept.get(f"planted/exact-{units}", lambda u=units: planted_exact.measure(u, games))
        exact.append(document)
        yield _exact(document)
    write(bench.out / "planted.md", rules, peers, exact)


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


def _exact(document: Document) -> Figure:
    errors = document["largest_error_nats"]
    return Figure(
        f"games of order two, d = {document['units']}, {document['passes']} passes: largest error",
        ", ".join(f"{name} {error:.2g}" for name, error in errors.items()),
        (Goal("error", errors["cuts-v1"], MOST_ERROR_NATS, at_most=True, unit="nats"),),
    )
