"""The evidence for a belief, for an auditor: every event that it follows from, and the arithmetic that leads to it.

`why` tells a person what a claim rests on; this says how the number came about. Each :class:`Step` is one line of integer
arithmetic whose operands are numbers of the policy, counts of listed events, or results of earlier steps; the last
one's value is the belief that the fold gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ledger_core.belief.index import LedgerIndex, index_statements
from ledger_core.belief.reputation import reputation_key
from ledger_core.belief.state import SEALED_TIERS, BeliefState, EntryState, Hyperedge
from ledger_core.harness.why import Cause, Link, Why, why
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.sealing import AuditOutcome
from ledger_core.kernel.statements.verdicts import CascadeFired
from ledger_core.kernel.types import PPM, EventId, U


@dataclass(frozen=True, slots=True)
class Step:
    """One line of arithmetic."""

    name: str
    expression: str
    """Integers, ``+ - * //``, ``min`` and brackets; ``//`` rounds down."""
    value: int
    reason: str


@dataclass(frozen=True, slots=True)
class AuditEvidence:
    """A live replay audit of a seal."""

    event_id: EventId
    outcome: AuditOutcome
    is_head: bool
    """Whether no other audit succeeds it; of the heads the worst counts."""


@dataclass(frozen=True, slots=True)
class SealEvidence:
    """Where an observation comes from, and what later looks at it found."""

    event_id: EventId
    cluster: str
    family: str
    audits: tuple[AuditEvidence, ...]
    effect: str
    """`verified`, `suspended` or `none`: what the audits did to it."""


@dataclass(frozen=True, slots=True)
class MemberEvidence:
    """One counted member of a quorum."""

    entry: EventId
    cluster: str
    seal: EventId
    verdicts: tuple[EventId, ...]
    """Live verdicts in which it contradicts the target."""


@dataclass(frozen=True, slots=True)
class QuorumEvidence:
    """Why an entry is retracted."""

    target: EventId
    wanted: int
    """K: pairwise independent members that retract."""
    independent: int
    """Size of the largest pairwise independent set there is."""
    members: tuple[MemberEvidence, ...]
    assessments: tuple[tuple[EventId, EventId, EventId, str], ...]
    """(event id, one member, another member, result), for every recorded pair of members."""
    fired: tuple[EventId, ...]
    """The log's own receipts of the cascade; they have no authority."""


@dataclass(frozen=True, slots=True)
class RetractionEvidence:
    """A retraction that counts for or against an origin."""

    target: EventId
    cluster: str
    """Origin of the retracted entry."""
    fired: tuple[EventId, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """One entry on the way along which an entry loses most, and the hyperedge that leads on from it."""

    entry: EventId
    parents: tuple[EventId, ...]
    """Empty where nothing is lost through what it rests on."""
    cause: Cause | None
    """The hyperedge with the statements that give it its weight."""
    others: int
    """Hyperedges of the entry that cost it something, but no more than this one."""
    quorum: QuorumEvidence | None
    """Where the entry is itself retracted."""
    seal: SealEvidence | None


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that one belief follows from."""

    entry: EventId
    state: EntryState
    tier_reason: str
    hops: tuple[Hop, ...]
    """From the entry back to where nothing is lost any more; the entry's own hop comes first."""
    successes: tuple[RetractionEvidence, ...]
    """Retractions in which a member of the entry's origin counted; s is the number of origins among them."""
    failures: tuple[RetractionEvidence, ...]
    """Retracted sealed entries of the entry's origin; f is their number."""
    steps: tuple[Step, ...]
    """Empty for what was given, which has no belief."""


def account(statements: Sequence[Statement], policy: Policy, entry: EventId) -> Account:
    """The evidence for what ``statements`` make of ``entry`` under ``policy``.

    Raises:
        BeliefError: there is no such entry.
    """
    found = why(statements, policy, entry)
    return _Accountant(statements, policy, found).account(entry)


class _Accountant:
    def __init__(self, statements: Sequence[Statement], policy: Policy, found: Why) -> None:
        self._policy = policy
        self._found = found
        self._state: BeliefState = found.state
        self._index: LedgerIndex = index_statements(statements, policy)
        self._fired: dict[str, list[EventId]] = {}
        for statement in statements:
            if isinstance(statement, CascadeFired):
                self._fired.setdefault(statement.body.target, []).append(statement.event_id)

    def account(self, entry: EventId) -> Account:
        state = self._state.entries[entry]
        hops = tuple(self._hops(entry))
        successes, failures = self._reputation(entry)
        steps = () if state.base is None else tuple(self._steps(entry, hops, successes, failures))
        if steps and (steps[-1].value != state.belief):
            raise BeliefError(f"the account of {entry} ends with {steps[-1].value}, the fold gives {state.belief}")
        return Account(entry, state, self._tier_reason(entry), hops, successes, failures, steps)

    def _hops(self, entry: EventId) -> Iterator[Hop]:
        current: EventId | None = entry
        while current is not None:
            state, link = self._state.entries[current], self._found.links[current]
            costs = [(cost, edge) for edge in state.hyperedges if (cost := self._cost(edge)) > 0]
            best = max(costs, key=lambda pair: pair[0])[1] if costs else None
            cause = next((each for each in link.causes if best is not None and each.parents == best.parents), None)
            yield Hop(
                entry=current,
                parents=() if best is None else best.parents,
                cause=cause,
                others=max(len(costs) - 1, 0),
                quorum=self._quorum(current),
                seal=self._seal(current),
            )
            current = None if best is None else min(best.parents, key=lambda parent: (self._loss(parent), parent))

    def _loss(self, entry: EventId) -> int:
        state = self._state.entries.get(entry)
        return 0 if state is None else U - state.attenuation

    def _cost(self, edge: Hyperedge) -> int:
        return edge.ppm * min(self._loss(parent) for parent in edge.parents) // PPM

    def _seal(self, entry: EventId) -> SealEvidence | None:
        origin = self._index.origins.get(entry)
        if origin is None:
            return None
        audits = {key: audit for key, audit in self._index.audits.items() if audit.body.seal == origin.seal}
        followed = {audit.body.predecessor for audit in audits.values()}
        state = self._state.entries[entry]
        effect = "suspended" if state.suspended else "verified" if state.tier == "sealed_verified" else "none"
        listed = (AuditEvidence(key, audits[key].body.outcome, key not in followed) for key in sorted(audits))
        return SealEvidence(origin.seal, origin.cluster, origin.family, tuple(listed), effect)

    def _quorum(self, target: EventId) -> QuorumEvidence | None:
        retraction = self._state.retractions.get(target)
        if retraction is None:
            return None
        members = frozenset(retraction.members)
        said: dict[str, list[EventId]] = {}
        for key, verdict in self._index.verdicts.items():
            if verdict.body.target == target and verdict.body.verdict == "contradict":
                said.setdefault(verdict.body.candidate, []).append(key)
        pairs = sorted(
            (key, EventId(one.body.first), EventId(one.body.second), one.body.result)
            for key, one in self._index.assessments.items()
            if one.body.first in members and one.body.second in members
        )
        return QuorumEvidence(
            target=target,
            wanted=self._policy.quorum,
            independent=retraction.largest_independent,
            members=tuple(
                MemberEvidence(
                    member,
                    self._index.origins[member].cluster,
                    self._index.origins[member].seal,
                    tuple(sorted(said.get(member, ()))),
                )
                for member in retraction.members
            ),
            assessments=tuple(pairs),
            fired=tuple(self._fired.get(target, ())),
        )

    def _reputation(self, entry: EventId) -> tuple[tuple[RetractionEvidence, ...], tuple[RetractionEvidence, ...]]:
        """What counts for the entry's origin, and what against it."""
        origin = self._index.origins.get(entry)
        if origin is None:
            return (), ()
        mine = reputation_key(origin)
        successes: list[RetractionEvidence] = []
        failures: list[RetractionEvidence] = []
        for target, retraction in self._state.retractions.items():
            about = self._index.origins.get(target)
            if about is None:
                continue
            evidence = RetractionEvidence(target, about.cluster, tuple(self._fired.get(target, ())))
            if reputation_key(about) == mine:
                failures.append(evidence)
            if any(reputation_key(self._index.origins[member]) == mine for member in retraction.members):
                successes.append(evidence)
        return tuple(successes), tuple(failures)

    def _tier_reason(self, entry: EventId) -> str:
        link, state = self._found.links[entry], self._state.entries[entry]
        if state.kind == "entry.given":
            return "given: outside the belief order"
        if state.tier in SEALED_TIERS:
            met = (
                "a replay audit matched it at its source" if state.tier == "sealed_verified" else "no audit matched it"
            )
            return f"an observation of seal {link.seal}; {met}"
        return f"its seal {link.seal} is not in this ledger" if link.seal is not None else self._claim_reason(link)

    def _claim_reason(self, link: Link) -> str:
        if link.state.tier == "derived":
            return f"generation {link.generation}, recorded at our boundary, says it"
        ungrounded = [each.event_id for each in link.measurements if each.result == "ungrounded"]
        if ungrounded:
            return f"measurement {ungrounded[0]} found it ungrounded"
        if link.attestation == "boundary":
            return f"it is a `{link.state.kind}`, which asks for no more"
        return "no generation recorded at our boundary says it"

    def _steps(
        self,
        entry: EventId,
        hops: Sequence[Hop],
        successes: Sequence[RetractionEvidence],
        failures: Sequence[RetractionEvidence],
    ) -> Iterator[Step]:
        base = self._base(entry, successes, failures)
        yield base
        for hop in reversed(hops):
            yield from self._attenuation(hop)
        left = self._state.entries[entry].attenuation
        belief = base.value * left // U
        yield Step("belief", f"{base.value} * {left} // {U}", belief, "base and attenuation")

    def _base(
        self, entry: EventId, successes: Sequence[RetractionEvidence], failures: Sequence[RetractionEvidence]
    ) -> Step:
        state, policy = self._state.entries[entry], self._policy
        base: int = getattr(policy.base_ppm, state.tier)
        if state.tier not in SEALED_TIERS:
            return Step("base", f"{U} * {base} // {PPM}", U * base // PPM, f"tier {state.tier}")
        s, f = len({each.cluster for each in successes}), len(failures)
        reason = f"tier {state.tier}, s = {s} origins corrected, f = {f} own entries retracted"
        if policy.standing_required and not self._in_good_standing(entry, s, f):
            reason = f"{reason}; the origin has no good standing, so that s counts as 0"
            s = 0
        good = f"{base} * ({policy.prior_successes} + {s})"
        bad = f"({PPM} - {base}) * ({policy.prior_failures} + {f})"
        for_it, against_it = base * (policy.prior_successes + s), (PPM - base) * (policy.prior_failures + f)
        return Step("base", f"{U} * {good} // ({good} + {bad})", U * for_it // (for_it + against_it), reason)

    def _in_good_standing(self, entry: EventId, s: int, f: int) -> bool:
        if s >= 1 and s > f:
            return True
        mine = reputation_key(self._index.origins[entry])
        return any(
            reputation_key(origin) == mine and self._state.entries[key].tier == "sealed_verified"
            for key, origin in self._index.origins.items()
        )

    def _attenuation(self, hop: Hop) -> Iterator[Step]:
        state, name = self._state.entries[hop.entry], f"A({hop.entry})"
        remaining, expression, reason = U, f"{U}", "nothing it rests on has lost anything"
        if hop.cause is not None:
            losses = [f"{U} - {U - self._loss(parent)}" for parent in hop.parents]
            loss = f"({losses[0]})" if len(losses) == 1 else f"min({', '.join(losses)})"
            expression = f"{U} - {hop.cause.ppm} * {loss} // {PPM}"
            remaining = U - hop.cause.ppm * min(self._loss(parent) for parent in hop.parents) // PPM
            grounds = ", ".join(f"{each.basis} by {each.event_id}" for each in hop.cause.grounds)
            reason = f"through {' + '.join(hop.parents)} at {hop.cause.ppm} ppm ({grounds})"
        if not (state.retracted or state.suspended):
            yield Step(name, expression, remaining, reason)
            return
        yield Step(f"A'({hop.entry})", expression, remaining, reason)
        left = self._policy.retracted_ppm * remaining // PPM
        why_out = "retracted" if state.retracted else "suspended by an audit"
        yield Step(name, f"{self._policy.retracted_ppm} * {remaining} // {PPM}", left, f"it is {why_out}")
