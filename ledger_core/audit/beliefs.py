"""Strata 4 and 5: what retractions leave of every entry, and what it is believed to the bit. Integers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledger_core.audit.quorums import Cluster, Key, Ledger, Quorum, reputations
from ledger_core.audit.shapes import BILLION, CLAIMS, ENTRIES, MILLION
from ledger_core.audit.weights import Dependence, Edges, dependence


@dataclass(frozen=True)
class Belief:
    """One entry."""

    tier: str
    base: int | None
    """Before attenuation, in parts of 10⁹; None for what was given."""
    attenuation: int
    belief: int | None
    retracted: bool
    suspended: bool
    invalidated: bool
    corroborated: bool
    edges: Edges


@dataclass(frozen=True)
class State:
    """What a set of statements is believed to say under one policy."""

    entries: dict[str, Belief]
    retractions: dict[str, Quorum]
    reputation: dict[Key, tuple[int, int]]
    """(successes, failures) of every origin that a retraction touched."""


def believe(statements: Mapping[str, dict[str, Any]], policy: dict[str, Any], cluster: Cluster) -> State:
    """The state of ``statements`` (by event id); ``cluster`` names the origin of a seal's body."""
    ledger = Ledger(statements, policy, cluster)
    entries = ledger.of(*ENTRIES)
    retracted = ledger.retracted(entries)
    reputation = reputations(ledger, retracted)
    rests = _dependences(ledger)
    out = set(retracted) | {key for key, origin in ledger.origins.items() if origin.seal in ledger.suspended}
    left = _attenuations(entries, rests, out, policy["retracted_ppm"])
    standing = _standing(ledger, reputation) if policy["standing_required"] else None
    counted = {member for quorum in retracted.values() for member in quorum.members}
    found: dict[str, Belief] = {}
    for key in entries:
        tier, base = _tier_and_base(key, ledger, rests, reputation, standing)
        origin = ledger.origins.get(key)
        suspended = origin is not None and origin.seal in ledger.suspended
        shown = origin is not None and (standing is None or (origin.cluster, origin.family) in standing)
        found[key] = Belief(
            tier=tier,
            base=base,
            attenuation=left[key],
            belief=None if base is None else base * left[key] // BILLION,
            retracted=key in retracted,
            suspended=suspended,
            invalidated=key in out or left[key] <= policy["invalidation_threshold"],
            corroborated=key in counted and shown,
            edges=rests[key].edges if key in rests else {},
        )
    return State(found, retracted, reputation)


def _dependences(ledger: Ledger) -> dict[str, Dependence]:
    generations, measurements = ledger.of("generation.recorded"), ledger.live("edges.measured")
    about: dict[str, dict[str, Any]] = {}
    for key, body in measurements.items():
        about.setdefault(body["claim"], {})[key] = body
    return {
        key: dependence(body, generations.get(str(body["generation"])), about.get(key, {}), ledger.policy)
        for key, body in ledger.of(*CLAIMS).items()
    }


def _attenuations(
    entries: Mapping[str, Any], rests: Mapping[str, Dependence], out: set[str], retracted_ppm: int
) -> dict[str, int]:
    """Depth first, parents before what rests on them; a parent that is no entry has lost nothing."""
    left: dict[str, int] = {}
    for start in entries:
        waiting = [start]
        while waiting:
            key = waiting[-1]
            edges = rests[key].edges if key in rests else {}
            missing = {parent for parents in edges for parent in parents if parent in entries and parent not in left}
            if missing:
                waiting.extend(sorted(missing))
                continue
            waiting.pop()
            if key not in left:
                lost = [
                    ppm * min(BILLION - left.get(p, BILLION) for p in parents) // MILLION
                    for parents, ppm in edges.items()
                ]
                remaining = BILLION - max(lost, default=0)
                left[key] = retracted_ppm * remaining // MILLION if key in out else remaining
    return left


def _standing(ledger: Ledger, reputation: Mapping[Key, tuple[int, int]]) -> set[Key]:
    """Origins that were right more often than wrong, or of which something was verified at its source."""
    earned = {key for key, (s, f) in reputation.items() if s >= 1 and s > f}
    return earned | {(o.cluster, o.family) for o in ledger.origins.values() if o.seal in ledger.verified}


def _tier_and_base(
    key: str,
    ledger: Ledger,
    rests: Mapping[str, Dependence],
    reputation: Mapping[Key, tuple[int, int]],
    standing: set[Key] | None,
) -> tuple[str, int | None]:
    statement, policy = ledger.statements[key], ledger.policy
    if statement["kind"] == "entry.given":
        return "given", None
    origin = ledger.origins.get(key)
    if origin is None:
        tier = "derived" if _is_derived(statement, ledger, rests.get(key)) else "conjecture"
        return tier, BILLION * policy["base_ppm"][tier] // MILLION
    tier = "sealed_verified" if origin.seal in ledger.verified else "sealed_unverified"
    base, at = policy["base_ppm"][tier], (origin.cluster, origin.family)
    successes, failures = reputation.get(at, (0, 0))
    if standing is not None and at not in standing:
        successes = 0
    good = base * (policy["prior_successes"] + successes)
    bad = (MILLION - base) * (policy["prior_failures"] + failures)
    return tier, BILLION * good // (good + bad)


def _is_derived(statement: dict[str, Any], ledger: Ledger, rests: Dependence | None) -> bool:
    if statement["kind"] != "entry.derived" or rests is None or rests.ungrounded:
        return False
    generation = ledger.statements.get(str(statement["body"]["generation"]))
    recorded = generation is not None and generation["kind"] == "generation.recorded"
    return recorded and generation is not None and bool(generation["body"]["attestation"] == "boundary")
