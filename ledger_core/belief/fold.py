"""The fold from statements to belief: five strata, none reading a later one, integers only.

Audits, then retractions, then reputation, then attenuation, then belief. State is a function of the *set* of
statements: order and repetition do not matter, and without a statement it is exactly what it would have been.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ledger_core.belief.attenuation import attenuations, canonical_order
from ledger_core.belief.audits import AuditResult, audit_results
from ledger_core.belief.edges import Dependence, dependences, is_grounded_in_record
from ledger_core.belief.index import Entry, LedgerIndex, SealedOrigin, index_statements
from ledger_core.belief.policies import check_policy
from ledger_core.belief.quorum import retractions, testimony_of
from ledger_core.belief.reputation import ReputationKey, in_good_standing, reputation_key, reputations, sealed_base
from ledger_core.belief.state import BeliefState, EntryState, FoldOptions, Hyperedge, Retraction, Tier
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryDerived
from ledger_core.kernel.types import PPM, EventId, U

PLAIN = FoldOptions()


def fold(statements: Iterable[Statement], policy: Policy, options: FoldOptions = PLAIN) -> BeliefState:
    """Believe what ``statements`` say, under ``policy``.

    Raises:
        PolicyError: numbers under which a belief is undefined, or another suffix list than the installed one.
        BeliefError: ``options`` name an entry that is not there, or dependences that form a cycle.
    """
    check_policy(policy)
    index = index_statements(statements, policy)
    _check(options, index)
    audits = audit_results(index, policy)
    retracted = _retracted(index, audits, policy, options)
    reputation = reputations(index, retracted)
    standing = in_good_standing(index, audits, reputation) if policy.standing_required else None
    found = dependences(index, policy, measured=options.measured)
    replaced = options.hyperedges or {}
    hyperedges = {key: dependence.hyperedges for key, dependence in found.items()} | dict(replaced)
    order = canonical_order(index, replaced)
    suspended = {key for key, origin in index.origins.items() if origin.seal in audits.suspended}
    attenuation = attenuations(order, hyperedges, retracted.keys() | suspended, policy.retracted_ppm)
    judge = Judge(policy, audits, retracted, reputation, standing)
    entries = {
        key: judge.entry_state(key, facts_of(key, index, found), place, attenuation[key], hyperedges.get(key, ()))
        for place, key in enumerate(order)
    }
    return BeliefState(entries=entries, retractions=retracted, reputation=reputation)


class EntryFacts(NamedTuple):
    """What stratum 5 reads of an entry itself."""

    kind: str
    origin: SealedOrigin | None
    """Of an observation whose seal is there."""
    derived: bool
    """Whether a claim asked to be `derived`, and its record and every measurement in force support that."""


def facts_of(key: EventId, index: LedgerIndex, dependences: Mapping[EventId, Dependence]) -> EntryFacts:
    """The facts of an entry of ``index``."""
    entry: Entry = index.entries[key]
    derived = (
        isinstance(entry, EntryDerived) and is_grounded_in_record(entry, index) and not dependences[key].ungrounded
    )
    return EntryFacts(entry.kind, index.origins.get(key), derived)


@dataclass(frozen=True, slots=True)
class Judge:
    """Stratum 5 for one entry: its tier, its belief and whether it is invalidated."""

    policy: Policy
    audits: AuditResult
    retracted: Mapping[EventId, Retraction]
    reputation: Mapping[ReputationKey, tuple[int, int]]
    standing: frozenset[ReputationKey] | None
    """Origins of good standing, None where the policy does not ask for it."""
    counted: frozenset[EventId] = field(init=False)
    """Members of some passing quorum."""

    def __post_init__(self) -> None:
        counted = frozenset(member for retraction in self.retracted.values() for member in retraction.members)
        object.__setattr__(self, "counted", counted)

    def entry_state(
        self, key: EventId, facts: EntryFacts, place: int, left: int, hyperedges: tuple[Hyperedge, ...]
    ) -> EntryState:
        """The state of ``key``, which stands at ``place`` in the canonical order and has ``left`` parts of U left."""
        origin = facts.origin
        tier = self.tier(facts)
        base = self.base(origin, tier)
        retracted, suspended = key in self.retracted, self.is_suspended(origin)
        return EntryState(
            kind=facts.kind,
            tier=tier,
            base=base,
            attenuation=left,
            belief=None if base is None else base * left // U,
            retracted=retracted,
            suspended=suspended,
            invalidated=retracted or suspended or left <= self.policy.invalidation_threshold,
            corroborated=key in self.counted and self.may_display(origin),
            external=origin is not None and origin.external,
            cluster=None if origin is None else origin.cluster,
            family=None if origin is None else origin.family,
            order=place,
            hyperedges=hyperedges,
        )

    def is_suspended(self, origin: SealedOrigin | None) -> bool:
        """Whether a replay audit of the seal took what was observed from it out of service."""
        return origin is not None and origin.seal in self.audits.suspended

    def tier(self, facts: EntryFacts) -> Tier:
        """From seal, audit, recorded generation and measurement; never from content or from what was asked alone."""
        if facts.kind == "entry.given":
            return "given"
        if facts.kind == "entry.observed":
            if facts.origin is None:
                return "conjecture"
            return "sealed_verified" if facts.origin.seal in self.audits.verified else "sealed_unverified"
        return "derived" if facts.derived else "conjecture"

    def base(self, origin: SealedOrigin | None, tier: Tier) -> int | None:
        """Belief before attenuation, in parts of U; None for `given`."""
        if tier == "given":
            return None
        base_ppm: int = getattr(self.policy.base_ppm, tier)
        if origin is None:
            return U * base_ppm // PPM
        at = reputation_key(origin)
        successes, failures = self.reputation.get(at, (0, 0))
        credited = successes if self.standing is None or at in self.standing else 0
        return sealed_base(base_ppm, credited, failures, self.policy)

    def may_display(self, origin: SealedOrigin | None) -> bool:
        """Whether corroboration may show: everywhere, or only of origins of good standing."""
        return self.standing is None or (origin is not None and reputation_key(origin) in self.standing)


def _retracted(
    index: LedgerIndex, audits: AuditResult, policy: Policy, options: FoldOptions
) -> dict[EventId, Retraction]:
    found = {} if options.ignore_verdicts else retractions(index, testimony_of(index), audits, policy)
    assumed = {
        entry: Retraction(members=(), largest_independent=0, hypothetical=True)
        for entry in options.hypothetical_retractions
        if entry not in found
    }
    return dict(sorted((found | assumed).items()))


def _check(options: FoldOptions, index: LedgerIndex) -> None:
    named: set[EventId] = set(options.hypothetical_retractions)
    replaced: Mapping[EventId, tuple[Hyperedge, ...]] = options.hyperedges or {}
    named.update(replaced)
    named.update(parent for edges in replaced.values() for edge in edges for parent in edge.parents)
    missing = sorted(entry for entry in named if entry not in index.entries)
    if missing:
        raise BeliefError(f"the reading names entry {missing[0]}, which is not among the {len(index.entries)} entries")
