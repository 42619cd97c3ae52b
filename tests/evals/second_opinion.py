"""The verdicts of a run from its ledger alone, by another hand: the events, the contents they cite, and nothing of `evals`.

Small on purpose. It reads SQLite and files, takes the registration for the rules and the trials' rows for the outcomes, and
finds its intervals by inverting tails and scores with general root finders. What it shares with the product is the
definition of a digest.

``python -m tests.evals.second_opinion LEDGER REPORT.json`` does it for a run: its ledger's folder, and the report to be held to it.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from scipy.optimize import brentq
from scipy.special import betaincinv
from scipy.stats import norm, t

from ledger_core.kernel import canonical, digests

Row = dict[str, Any]
Units = dict[str, list[tuple[float, float]]]
"""Wording -> (left, right) of its units; the right side of a proportion is 0."""

ANSWERS = {
    "persistence": {"asserts_false", "asserts_both"},
    "accuracy": {"asserts_true"},
    "survival": {"asserts_true"},
    "third-value": {"third_value"},
    "abstention": {"abstains"},
}
COUNTS = {
    "collateral": ("true_claims_invalidated", "true_claims"),
    "missed-propagation": ("dependents_left_standing", "dependents"),
    "edge-recall": ("planted_edges_found", "planted_edges"),
    "false-edge": ("claims_with_false_edge", "claims_measured"),
    "false-pass": ("attacks_passed", "attacks"),
    "false-merge": ("honest_pairs_merged", "honest_pairs"),
}
OUTSIDE = object()
"""The metric does not apply to the trial."""


def read_ledger(folder: Path) -> tuple[Row, str, list[Row]]:
    """The registration, the digest under which it was registered, and the rows of all trials."""
    with sqlite3.connect(f"file:{folder / 'ledger.sqlite3'}?mode=ro", uri=True) as log:
        events = log.execute("SELECT kind, statement FROM events ORDER BY family, committed_offset").fetchall()
    found = [(kind, json.loads(text)["body"]) for kind, text in events]

    def content(ref: Row) -> Any:
        return json.loads((folder / "blobs" / ref["digest"][:2] / ref["digest"]).read_bytes())

    (registered,) = [body["criteria"] for kind, body in found if kind == "criteria.registered"]
    return content(registered), registered["digest"], [content(b["row"]) for k, b in found if k == "trial.recorded"]


def verdicts(folder: Path, *, model: str, generator: str) -> dict[str, tuple[str, list[str]]]:
    """Criterion -> its verdict and those of its parts."""
    registration, digest, rows = read_ledger(folder)
    plan = registration["plan"]
    everywhere = (
        digests.body_hex(canonical.encode(registration)) != digest
        or (plan["model_digest"], plan["generator_version"]) != (model, generator)
        or not complete(plan, rows)
        or not competent(registration["competence"], rows)
    )
    return {
        criterion["id"]: judged(criterion, rows, registration["max_unscored_ppm"], void=everywhere)
        for criterion in registration["admitted"]
    }


def complete(plan: Row, rows: list[Row]) -> bool:
    """Exactly the registered trials, once each."""
    keys = sorted([r["scenario_id"], r["variant"], r["premise_order"], r["repeat"], r["arm"]] for r in rows)
    told = digests.framed_hex(digests.Prefix.ROWS, (canonical.encode(key) for key in keys))
    return (len(keys), told) == (plan["trials"], plan["trials_digest"])


def competent(rule: Row, rows: list[Row]) -> bool:
    asked = [r["outcome"] for r in rows if (r["family"], r["arm"]) == (rule["family"], rule["arm"])]
    return bool(asked) and asked.count("asserts_true") * 1_000_000 >= rule["threshold_ppm"] * len(asked)


def judged(criterion: Row, rows: list[Row], most_unread: int, *, void: bool) -> tuple[str, list[str]]:
    level = 1 - 2 * criterion["alpha_ppm"] / 1_000_000
    parts = [judged_part(part, rows, level) for part in criterion["parts"]]
    asked = {
        (r["scenario_id"], r["variant"], r["premise_order"], r["repeat"], r["arm"]): r["outcome"]
        for part in criterion["parts"]
        for sample in samples(part)
        if sample["metric"] in ANSWERS
        for r in rows
        if inside(sample, r) and r["arm"] in (sample["left"], sample["right"])
    }
    unread = list(asked.values()).count("unscored") * 1_000_000 > most_unread * len(asked)
    worst = next(v for v in ("INVALID", "KILL", "INCONCLUSIVE", "PASS") if v in parts)
    return "INVALID" if void or unread else worst, parts


def samples(part: Row) -> list[Row]:
    return [part["loss"], part["gain"]] if "loss" in part else [part]


def inside(sample: Row, row: Row) -> bool:
    return (
        row["family"] == sample["family"]
        and sample["variant"] in ("any", row["variant"])
        and sample["order"] in ("any", row["premise_order"])
    )


def judged_part(part: Row, rows: list[Row], level: float) -> str:
    if not all(any(None not in pair for pair in pairs(sample, rows).values()) for sample in samples(part)):
        return "INVALID"
    upper, threshold = part["direction"] == "upper-below", part["threshold_ppm"] / 1_000_000
    # What counts most against a PASS stands on the left of a loss and of anything with an upper bound.
    against = [1.0, 0.0] if "loss" in part else [1.0 if upper else 0.0]
    worst = ends(part, rows, level, against)
    best = ends(part, rows, level, [1 - value for value in against])
    if worst and (worst[1] < threshold if upper else worst[0] > threshold):
        return "PASS"
    if best and (best[0] > threshold if upper else best[1] < threshold):
        return "KILL"
    return "INCONCLUSIVE"


def pairs(sample: Row, rows: list[Row]) -> dict[tuple[Any, ...], list[Any]]:
    """(wording, scenario, variant, order, repeat) -> the values of its one or two arms, None where one is missing."""
    arms = [sample["left"], *([sample["right"]] if sample["right"] else [])]
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(lambda: [None] * len(arms))
    for r in rows:
        if inside(sample, r) and r["arm"] in arms:
            cell = (r["wording"], r["scenario_id"], r["variant"], r["premise_order"], r["repeat"])
            found[cell][arms.index(r["arm"])] = value(sample["metric"], r)
    return {cell: values for cell, values in found.items() if OUTSIDE not in values}


def value(metric: str, row: Row) -> Any:
    if metric in ANSWERS:
        if row["outcome"] in ("unscored", "error"):
            return None
        return float(row["outcome"] in ANSWERS[metric])
    if metric == "balanced-accuracy":
        halves = [value(name, row) for name in ("collateral", "missed-propagation")]
        rates = [half for half in halves if half is not OUTSIDE]
        return None if None in rates else 1 - sum(rates) / len(rates) if rates else OUTSIDE
    part, whole = (row.get(name) for name in COUNTS[metric])
    return None if whole is None else part / whole if whole else OUTSIDE


def ends(part: Row, rows: list[Row], level: float, missing: list[float]) -> tuple[float, float] | None:
    read = []
    for sample, left in zip(samples(part), missing, strict=True):
        units: Units = defaultdict(list)
        for (wording, *_), values in pairs(sample, rows).items():
            first, *second = (fill if v is None else v for v, fill in zip(values, (left, 1 - left), strict=False))
            units[wording].append((first, second[0] if second else 0.0))
        read.append(units)
    if "loss" in part:
        return break_even(read[0], read[1], level)
    return proportion(read[0], level) if part["right"] is None else difference(read[0], level)[:2]


def means(units: Units) -> list[float]:
    return [sum(a - b for a, b in units[w]) / len(units[w]) for w in sorted(units)]


def effective(units: Units, variance: float, level: float) -> float:
    """Independent units as good as the clusters' means, or the clusters themselves where these say nothing."""
    values, tail = means(units), (1 - level) / 2
    count, mean = len(values), sum(values) / len(values)
    spread = sum((v - mean) ** 2 for v in values) / (count - 1) / count
    most = sum(map(len, units.values()))
    return min(most, variance / spread * (norm.isf(tail) / t.isf(tail, count - 1)) ** 2)


def proportion(units: Units, level: float) -> tuple[float, float]:
    values, tail = means(units), (1 - level) / 2
    count, share = len(values), sum(values) / len(values)

    def exact(n: float, p: float) -> tuple[float, float]:
        x = min(p * n, n)
        low = 0.0 if x == 0 else betaincinv(x, n - x + 1, tail)
        return low, 1.0 if x == n else betaincinv(x + 1, n - x, 1 - tail)

    single = all(len(u) == 1 and u[0][0] in (0.0, 1.0) for u in units.values())
    if single or count == 1 or max(values) - min(values) < 1e-12:
        return exact(count, share)
    low, high = exact(effective(units, share * (1 - share), level), share)
    return min(low, exact(count, 1.0)[0]), max(high, exact(count, 0.0)[1])


def score(table: tuple[float, ...], delta: float) -> float:
    """(left only − right only − nδ) over its deviation at the likeliest nuisance under δ, found by search."""
    both, left, right, neither = table
    n = both + left + right + neither

    def slope(q: float) -> float:  # d log-likelihood / dq of the trinomial with p(left only) = q + δ, p(right only) = q
        rest = 1 - 2 * q - delta
        return left * q * rest + right * (q + delta) * rest - 2 * (n - left - right) * q * (q + delta)

    low, high = max(0.0, -delta), (1 - delta) / 2
    if slope(low + 1e-15) <= 0:
        q = low
    elif slope(high - 1e-15) >= 0:
        q = high
    else:
        q = brentq(slope, low + 1e-15, high - 1e-15, xtol=1e-15)
    variance = n * (2 * q + delta - delta**2)
    gap = left - right - n * delta
    return math.copysign(math.inf, gap) if variance <= 1e-300 and gap else 0.0 if not gap else gap / math.sqrt(variance)


def tango(table: tuple[float, ...], level: float) -> tuple[float, float]:
    z, d = norm.isf((1 - level) / 2), (table[1] - table[2]) / sum(table)

    def end(edge: float, sign: float) -> float:
        step = edge - math.copysign(1e-9, edge)
        if abs(score(table, step)) <= z:
            return edge
        return brentq(lambda x: score(table, x) - sign * z, d, step, xtol=1e-13) if abs(d - step) > 1e-12 else d

    return end(-1.0, 1.0), end(1.0, -1.0)


def moving(values: list[float]) -> int:
    whole = Counter(round(v) for v in values if abs(v - round(v)) < 1e-12)
    return len(values) - max(whole.values(), default=0)


def difference(units: Units, level: float) -> tuple[float, float, float]:
    """Low, high, estimate."""
    values = means(units)
    count, d = len(values), sum(values) / len(values)
    table = tuple(
        sum(sum(cell(a, b) for a, b in u) / len(u) for u in units.values())
        for cell in (
            lambda a, b: a * b,
            lambda a, b: a * (1 - b),
            lambda a, b: b * (1 - a),
            lambda a, b: (1 - a) * (1 - b),
        )
    )
    single = all(len(u) == 1 and set(u[0]) <= {0.0, 1.0} for u in units.values())
    if single or moving(values) < 6 or max(values) - min(values) < 1e-12:
        return (*tango(table, level), d)
    n = effective(units, (table[1] + table[2]) / count - d**2, level)
    low, high = tango(tuple(cell * n / count for cell in table), level)
    same = tango((0, 0, 0, count), level)
    return min(low, same[0]) if d <= 1e-12 else low, max(high, same[1]) if d >= -1e-12 else high, d


def break_even(loss: Units, gain: Units, level: float) -> tuple[float, float] | None:
    (l_low, l_high, lost), (g_low, g_high, gained) = difference(loss, level), difference(gain, level)
    if lost <= 0 and gained <= 0:
        return None
    opposed = max(0.0, -correlation(loss, gain))

    def cost(share: float, a: float, b: float, side: int) -> float:
        a, b = (1 - share) * a, share * b
        return (1 - share) * lost - share * gained + side * math.sqrt(a * a + b * b + 2 * opposed * a * b)

    def crossing(f: Any) -> float:
        return brentq(f, 0, 1, xtol=1e-14) if f(0.0) * f(1.0) < 0 else 0.0

    upper = crossing(lambda s: cost(s, l_high - lost, gained - g_low, 1)) if g_low > 0 else 1.0
    lower = 0.0
    if l_low > 0:
        at = lambda s: cost(s, lost - l_low, g_high - gained, -1)  # noqa: E731
        lower = crossing(at) if at(1.0) < 0 else 1.0
    share = max(0.0, lost) / (max(0.0, lost) + max(0.0, gained))
    return min(lower, share), max(upper, share)


def correlation(loss: Units, gain: Units) -> float:
    shared = sorted(loss.keys() & gain.keys())
    first, second = ([sum(a - b for a, b in side[w]) / len(side[w]) for w in shared] for side in (loss, gain))
    if min(moving(first), moving(second)) < 6:
        return 0.0
    f, s = sum(first) / len(first), sum(second) / len(second)
    spread = math.sqrt(sum((a - f) ** 2 for a in first) * sum((b - s) ** 2 for b in second))
    return sum((a - f) * (b - s) for a, b in zip(first, second, strict=True)) / spread if spread else 0.0


def differences(folder: Path, report: Path) -> list[str]:
    """Criteria of a report whose verdict, or that of a part, is another one here."""
    data = json.loads(report.read_bytes())
    identity = data["identity"]
    found = verdicts(folder, model=identity["model"]["digest"], generator=identity["generator_version"])
    told = {row["id"]: (row["verdict"], [part["verdict"] for part in row["parts"]]) for row in data["criteria"]}
    return [
        f"{name}: {told.get(name)} there, {found.get(name)} here"
        for name in told | found
        if told.get(name) != found.get(name)
    ]


if __name__ == "__main__":
    lines = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stdout.write("".join(f"{line}\n" for line in lines) or "every verdict is the same\n")
    sys.exit(bool(lines))
