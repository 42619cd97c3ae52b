"""A second reading of the trust calculus, written to be obviously right and never fast.

It shares no code with the fold: subsets instead of cliques, a fixpoint instead of an order, fractions instead of
integer arithmetic, labels instead of the public suffix list (its hosts are ``[www.]name.example`` or addresses).
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import floor

M = 10**6
U = 10**9
HARM = ["tampered", "mismatch", "stale", "unavailable", "not_comparable", "intact", "match"]


def believe(statements, policy):  # noqa: C901, PLR0915 - one page from top to bottom, like the design it follows
    """Entry -> (tier, base, attenuation, belief, retracted, suspended, invalidated, corroborated, weights); reputations."""
    unique = without_withdrawn({s.event_id: s for s in statements})
    of = {kind: {k: s.body for k, s in unique.items() if s.kind == kind} for kind in {s.kind for s in unique.values()}}

    def kind(name):
        return of.get(name, {})

    seals, observed = kind("seal.minted"), kind("entry.observed")
    claims = kind("entry.derived") | kind("entry.conjectured")
    entries = observed | claims | kind("entry.given")
    verdicts = list(kind("verdict.filed").values())
    worst = {seal: worst_audit(seal, kind("replay.audited")) for seal in seals}

    def seal_of(entry):
        return seals.get(observed[entry].seal) if entry in observed else None

    def cluster(entry):
        seal = seal_of(entry)
        if seal is None:
            return None
        if seal.reach == "local":
            return f"tool:{seal.tool}"
        if seal.origin_host is None:
            return f"tool:{seal.tool}" if seal.attestation == "imported" else "address"
        return ".".join(seal.origin_host.split(".")[-2:]) if seal.origin_host.endswith(".example") else "address"

    def suspended(entry):
        return entry in observed and worst.get(observed[entry].seal) in {"tampered", "mismatch"}

    said = {}
    for body in kind("independence.assessed").values():
        said.setdefault(frozenset((body.first, body.second)), set()).add(body.result)
    echoes = {echo for body in kind("independence.assessed").values() for echo in body.echoes}

    def eligible(target):
        found = set()
        for body in verdicts:
            seal = seal_of(body.candidate)
            if body.target != target or body.verdict != "contradict" or seal is None:
                continue
            external = seal.reach == "external_read" and seal.attestation == "boundary"
            silent = suspended(body.candidate) or body.candidate in echoes
            if external and not silent and cluster(body.candidate) != cluster(target):
                found.add(body.candidate)
        return found

    quorum = {}
    for target in entries:
        groups = [
            group
            for group in itertools.combinations(sorted(eligible(target)), policy.quorum)
            if all(said.get(frozenset(pair)) == {"independent"} for pair in itertools.combinations(group, 2))
        ]
        if groups:
            quorum[target] = {member for group in groups for member in group}
    reputation = {}
    for target, members in quorum.items():
        if target not in observed or cluster(target) is None:
            continue
        against = reputation.setdefault((cluster(target), observed[target].predicate_family), (set(), set()))
        against[1].add(target)
        for member in members:
            credit = reputation.setdefault((cluster(member), observed[member].predicate_family), (set(), set()))
            credit[0].add(cluster(target))
    counts = {key: (len(s), len(f)) for key, (s, f) in reputation.items()}

    depends, ungrounded = dependences(claims, kind("generation.recorded"), kind("edges.measured"), policy)
    left = dict.fromkeys(entries, U)
    while True:
        following = {}
        for entry in entries:
            losses = [
                floor(Fraction(ppm, M) * min(U - left[parent] for parent in parents))
                for parents, ppm in depends.get(entry, ())
            ]
            remaining = U - max(losses, default=0)
            out = entry in quorum or suspended(entry)
            following[entry] = floor(Fraction(policy.retracted_ppm, M) * remaining) if out else remaining
        if following == left:
            break
        left = following

    result = {}
    for entry in entries:
        tier = tier_of(entry, claims, observed, seals, kind, worst, ungrounded)
        base = base_of(
            tier,
            policy,
            counts.get((cluster(entry), observed[entry].predicate_family), (0, 0)) if entry in observed else (0, 0),
        )
        out = entry in quorum or suspended(entry)
        result[entry] = (
            tier,
            base,
            left[entry],
            None if base is None else floor(Fraction(base * left[entry], U)),
            entry in quorum,
            suspended(entry),
            out or left[entry] <= policy.invalidation_threshold,
            any(entry in members for members in quorum.values()),
            strongest(depends.get(entry, ())),
        )
    return result, counts


def without_withdrawn(unique):
    """Without reversed verdicts, then without judgements that one which is left replaces."""
    withdrawn = {s.body.verdict for s in unique.values() if s.kind == "verdict.reversed"}
    left = {key: s for key, s in unique.items() if key not in withdrawn}
    replaced = {
        s.representation.lineage.event_id
        for s in left.values()
        if s.kind in {"verdict.filed", "edges.measured", "replay.audited"}
    }
    return {key: s for key, s in left.items() if key not in replaced}


def worst_audit(seal, audits):
    chain = {key: body for key, body in audits.items() if body.seal == seal}
    heads = [body for key, body in chain.items() if all(other.predecessor != key for other in chain.values())]
    return min((body.outcome for body in heads), key=HARM.index, default=None)


def tier_of(entry, claims, observed, seals, kind, worst, ungrounded):
    if entry in observed:
        seal = seals.get(observed[entry].seal)
        if seal is None:
            return "conjecture"
        verified = (
            worst[observed[entry].seal] == "match" and seal.attestation == "boundary" and seal.effect == "read_only"
        )
        return "sealed_verified" if verified else "sealed_unverified"
    if entry not in claims:
        return "given"
    generation = kind("generation.recorded").get(claims[entry].generation)
    recorded = generation is not None and generation.attestation == "boundary"
    return "derived" if entry in kind("entry.derived") and recorded and entry not in ungrounded else "conjecture"


def base_of(tier, policy, counts):
    if tier == "given":
        return None
    base = Fraction(getattr(policy.base_ppm, tier), M)
    if not tier.startswith("sealed"):
        return floor(U * base)
    mean = Fraction(policy.prior_successes + counts[0], policy.prior_successes + policy.prior_failures + sum(counts))
    odds = base / (1 - base) * mean / (1 - mean)
    return floor(U * odds / (1 + odds))


def dependences(claims, generations, measurements, policy):
    """Claim -> its (parents, ppm), every rival measurement's kept side by side; and the ungrounded claims."""
    depends, ungrounded = {}, set()
    for claim, body in claims.items():
        generation = generations.get(body.generation)
        context = [region.entry for region in generation.context if region.entry] if generation else []
        stated = dict.fromkeys(context, policy.undeclared_context_ppm)
        for parent in body.parents:
            stated[parent.entry] = max(parent.ppm, stated.get(parent.entry, 0))
        mine = {k: m for k, m in measurements.items() if m.claim == claim}
        power = {k: power_of(m, body, generation, context) for k, m in mine.items()}

        def below(key, mine=mine):
            ancestor = mine[key].predecessor
            return {ancestor} | below(ancestor) if ancestor in mine else set()

        force = [
            k
            for k in mine
            if power[k] > 0 and not any(k in below(other) and power[other] >= power[k] for other in mine)
        ]
        edges = [((entry,), ppm) for entry, ppm in stated.items()] if not force else []
        for key in force:
            edges += weighed(stated, mine[key], policy, lowers=power[key] == 2)
            if mine[key].claim_result == "ungrounded":
                ungrounded.add(claim)
        depends[claim] = edges
    return depends, ungrounded


def strongest(edges):
    """Parents -> their largest weight above zero."""
    return {parents: max(w for p, w in edges if p == parents) for parents, ppm in edges if ppm > 0}


def power_of(measurement, claim, generation, context):
    """0 counts for nothing, 1 may only add or raise, 2 may lower."""
    if generation is None or measurement.generation != claim.generation:
        return 0
    if any(measured.entry not in context for measured in measurement.entries):
        return 0
    exact = generation.attestation == "boundary" and generation.prompt_tokens is not None
    same = generation.weights_digest == measurement.scorer_weights_digest
    return 2 if exact and same and "proxy-scored" not in measurement.flags else 1


def weighed(stated, measurement, policy, *, lowers):
    cap = policy.uncontrasted_cap_ppm if "uncontrasted" in measurement.flags else M
    edges = [(tuple(cut.members), min(cut.ppm, cap)) for cut in measurement.cuts]
    results = {measured.entry: measured for measured in measurement.entries}
    for entry in stated.keys() | results.keys():
        before, found = stated.get(entry, 0), results.get(entry)
        kept, new = before, 0
        if found is not None and found.verdict == "edge":
            kept, new = (min(before, found.ppm) if lowers else before), min(found.ppm, cap)
        narrow = found is not None and found.interval and found.interval.high <= policy.null_threshold_micro_nats
        if found is not None and found.verdict == "null" and lowers and narrow:
            kept = 0
        edges.append(((entry,), max(kept, new)))
    return edges
