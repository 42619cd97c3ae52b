"""Stratum 2: which entries are retracted. The quorum rule of the ledger stands here.

A target is retracted when K members of live contradict-verdicts on it are pairwise independent. A member counts only
if it was sealed at the boundary from an external tool, is not suspended, echoes nobody and comes from another origin
than the target. Belief, reputation and retraction are never looked at, so no order of events can matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ledger_core.belief.audits import AuditResult
from ledger_core.belief.independent_sets import adjacency, in_clique_of, largest
from ledger_core.belief.index import IndexView
from ledger_core.belief.state import Retraction
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.types import EventId


@dataclass(frozen=True, slots=True)
class Quorum:
    """What stands against one target."""

    eligible: tuple[EventId, ...]
    """Contradictors that may count at all, sorted."""
    largest_independent: int
    """Size of the largest pairwise independent set among them."""
    members: tuple[EventId, ...]
    """Those that belong to some pairwise independent set of K, sorted."""
    supporters: int
    """Largest pairwise independent set among the eligible supporters, and one more for the origin of a sealed target.

    A claim adds none for itself: what a model says is no origin.
    """
    passes: bool


@dataclass(frozen=True, slots=True)
class Testimony:
    """Everything quorums are counted from, looked up by target."""

    contradictors: Mapping[EventId, frozenset[EventId]]
    supporters: Mapping[EventId, frozenset[EventId]]
    independent: Mapping[EventId, frozenset[EventId]]
    """Entry -> entries it was assessed to be independent of, and never anything else."""
    echoes: frozenset[EventId]


def testimony_of(index: IndexView) -> Testimony:
    """Collect live verdicts by target and the recorded independences.

    Assessments count whatever recipe made them: a pair is recorded once, and a later policy's recipe does not re-judge
    it. Should two differ, the pair is not independent.
    """
    filed: dict[str, dict[EventId, set[EventId]]] = {"contradict": defaultdict(set), "support": defaultdict(set)}
    for verdict in index.verdicts.values():
        if verdict.body.verdict in filed:
            filed[verdict.body.verdict][EventId(verdict.body.target)].add(EventId(verdict.body.candidate))
    independent: set[tuple[EventId, EventId]] = set()
    otherwise: set[tuple[EventId, EventId]] = set()
    echoes: set[EventId] = set()
    for assessment in index.assessments.values():
        body = assessment.body
        pair = (EventId(body.first), EventId(body.second))
        (independent if body.result == "independent" else otherwise).add(pair)
        echoes.update(EventId(echo) for echo in body.echoes)
    partners: dict[EventId, set[EventId]] = defaultdict(set)
    for first, second in independent - otherwise:
        partners[first].add(second)
        partners[second].add(first)
    return Testimony(
        contradictors={target: frozenset(members) for target, members in filed["contradict"].items()},
        supporters={target: frozenset(members) for target, members in filed["support"].items()},
        independent={entry: frozenset(others) for entry, others in partners.items()},
        echoes=frozenset(echoes),
    )


def retractions(
    index: IndexView, testimony: Testimony, audits: AuditResult, policy: Policy
) -> dict[EventId, Retraction]:
    """Every retracted target with the members that retract it, sorted by target."""
    found: dict[EventId, Retraction] = {}
    for target in sorted(testimony.contradictors):
        if target in index.entries:
            quorum = quorum_on(target, index, testimony, audits, policy)
            if quorum.passes:
                found[target] = Retraction(quorum.members, quorum.largest_independent)
    return found


def quorum_on(target: EventId, index: IndexView, testimony: Testimony, audits: AuditResult, policy: Policy) -> Quorum:
    """Count what stands against ``target``."""
    against = _eligible(target, testimony.contradictors.get(target, ()), index, testimony, audits)
    graph = _graph(against, testimony)
    size = largest(graph)
    support = _eligible(target, testimony.supporters.get(target, ()), index, testimony, audits)
    supporters = largest(_graph(support, testimony)) + (target in index.origins)
    outnumbered = policy.require_majority and size <= supporters
    return Quorum(
        eligible=against,
        largest_independent=size,
        members=tuple(against[number] for number in in_clique_of(graph, policy.quorum)),
        supporters=supporters,
        passes=size >= policy.quorum and not outnumbered,
    )


def may_testify_on(target: EventId, candidate: EventId, index: IndexView) -> bool:
    """Whether ``candidate`` could ever count on ``target``: boundary-sealed from outside, of another origin."""
    origin = index.origins.get(candidate)
    if origin is None or not origin.may_testify or candidate == target:
        return False
    about = index.origins.get(target)
    return about is None or about.cluster != origin.cluster


def _eligible(
    target: EventId, candidates: Iterable[EventId], index: IndexView, testimony: Testimony, audits: AuditResult
) -> tuple[EventId, ...]:
    return tuple(
        sorted(
            candidate
            for candidate in candidates
            if may_testify_on(target, candidate, index)
            and candidate not in testimony.echoes
            and index.origins[candidate].seal not in audits.suspended
        )
    )


def _graph(members: tuple[EventId, ...], testimony: Testimony) -> list[int]:
    among = frozenset(members)
    pairs = ((m, other) for m in members for other in testimony.independent.get(m, frozenset()) & among)
    return adjacency(members, pairs)
