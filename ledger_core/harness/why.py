"""Why an entry is believed what it is: everything it rests on, back to the seals, each step with the event that says so.

The hyperedges are the fold's own. What is added here is where each weight comes from: the claim that declares it, the
generation whose context is presumed, or the measurement that found it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ledger_core.belief.edges import measurements_in_force
from ledger_core.belief.fold import fold
from ledger_core.belief.index import Claim, LedgerIndex, index_statements
from ledger_core.belief.state import BeliefState, EntryState, Hyperedge, Retraction
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryGiven
from ledger_core.kernel.statements.measurement import EdgesMeasured, MeasuredEntry
from ledger_core.kernel.statements.sealing import EntryObserved, SealMintedBody
from ledger_core.kernel.types import EventId

Basis = Literal["declared", "presumed", "measured"]


@dataclass(frozen=True, slots=True)
class Ground:
    """One statement that gives a hyperedge a weight."""

    basis: Basis
    event_id: EventId
    """The claim that declares it, the generation whose context is presumed, or the measurement."""
    ppm: int
    """What this statement alone would make of it; the weight in force is the hyperedge's."""
    labels: tuple[str, ...] = ()
    """Of a measured edge: `necessary`, `sufficient`, …"""


@dataclass(frozen=True, slots=True)
class Cause:
    """A hyperedge of the fold, with what it is grounded in."""

    parents: tuple[EventId, ...]
    """Several of them count only together."""
    ppm: int
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class MeasurementInForce:
    """A measurement that decides what a claim rests on."""

    event_id: EventId
    gate: str
    result: str
    """`grounded`, `ungrounded`, `diffuse` or `undetermined`."""
    flags: tuple[str, ...]
    may_lower: bool
    """Whether it may lower a declared or presumed weight; otherwise it only adds and raises."""
    verdicts: Mapping[str, int]
    """How many context entries were judged `edge`, `null`, `undetermined`, `opposes`."""
    total_effect: int | None
    """Micro-nats, None where it is undefined."""


@dataclass(frozen=True, slots=True)
class Link:
    """One entry on the way back from the claim."""

    entry: EventId
    state: EntryState
    content: ContentRef
    role: str | None
    """Of a given entry: `system` or `user`."""
    generation: EventId | None
    """Of a claim: the model call that says it."""
    model: str | None
    attestation: str | None
    """Of the generation or of the seal: `boundary` or `imported`."""
    seal: EventId | None
    sealed: SealMintedBody | None
    retraction: Retraction | None
    measurements: tuple[MeasurementInForce, ...]
    causes: tuple[Cause, ...]
    released: tuple[EventId, ...]
    """Parents it declares that carry no weight any more, because a measurement found them equivalent to nothing."""


@dataclass(frozen=True, slots=True)
class Why:
    """A claim and everything it transitively rests on."""

    claim: EventId
    links: Mapping[EventId, Link]
    """In order of distance from the claim, which comes first."""
    state: BeliefState
    """What the whole ledger is believed to say."""


def why(statements: Sequence[Statement], policy: Policy, claim: EventId) -> Why:
    """Go from ``claim`` to what it rests on, and on, back to entries that rest on nothing.

    Raises:
        BeliefError: there is no such entry.
    """
    state = fold(statements, policy)
    if claim not in state.entries:
        raise BeliefError(f"no entry {claim} among the {len(state.entries)} entries of this ledger")
    reader = _Reader(index_statements(statements, policy), policy, state)
    links: dict[EventId, Link] = {}
    waiting = deque([claim])
    while waiting:
        key = waiting.popleft()
        if key in links:
            continue
        links[key] = reader.link(key)
        waiting.extend(parent for cause in links[key].causes for parent in cause.parents)
    return Why(claim, links, state)


@dataclass(frozen=True, slots=True)
class _Reader:
    index: LedgerIndex
    policy: Policy
    state: BeliefState

    def link(self, key: EventId) -> Link:
        entry = self.index.entries[key]
        seal = EventId(entry.body.seal) if isinstance(entry, EntryObserved) else None
        sealed = self.index.seals.get(seal) if seal is not None else None
        named = entry.body.generation if isinstance(entry, Claim) else None
        generation = self.index.generations.get(EventId(named)) if named is not None else None
        source = sealed or generation
        in_force = measurements_in_force(key, self.index)
        state = self.state.entries[key]
        weighing = {parent for edge in state.hyperedges for parent in edge.parents}
        declared = entry.body.parents if isinstance(entry, Claim) else ()
        return Link(
            entry=key,
            state=state,
            content=entry.body.content,
            role=entry.body.role if isinstance(entry, EntryGiven) else None,
            generation=None if named is None else EventId(named),
            model=None if generation is None else generation.body.model,
            attestation=None if source is None else source.body.attestation,
            seal=seal,
            sealed=None if sealed is None else sealed.body,
            retraction=self.state.retractions.get(key),
            measurements=tuple(_in_force(measurement, lowers=lowers) for measurement, lowers in in_force),
            causes=tuple(
                Cause(edge.parents, edge.ppm, tuple(self._grounds(key, edge, [found for found, _ in in_force])))
                for edge in sorted(state.hyperedges, key=lambda edge: (-edge.ppm, edge.parents))
            ),
            released=tuple(EventId(each.entry) for each in declared if each.entry not in weighing),
        )

    def _grounds(self, key: EventId, edge: Hyperedge, measurements: Sequence[EdgesMeasured]) -> Iterator[Ground]:
        claim = self.index.entries[key]
        if isinstance(claim, Claim) and len(edge.parents) == 1:
            (parent,) = edge.parents
            yield from (Ground("declared", key, each.ppm) for each in claim.body.parents if each.entry == parent)
            if self._is_presumed(claim, parent):
                yield Ground("presumed", EventId(str(claim.body.generation)), self.policy.undeclared_context_ppm)
        for measurement in measurements:
            yield from self._measured(edge.parents, measurement)

    def _is_presumed(self, claim: Claim, parent: EventId) -> bool:
        named = claim.body.generation
        generation = None if named is None else self.index.generations.get(EventId(named))
        if generation is None or self.policy.undeclared_context_ppm == 0:
            return False
        return any(region.entry == parent for region in generation.body.context)

    def _measured(self, parents: tuple[EventId, ...], measurement: EdgesMeasured) -> Iterator[Ground]:
        body = measurement.body
        cap = self.policy.uncontrasted_cap_ppm if "uncontrasted" in body.flags else None
        labels: dict[str, MeasuredEntry] = {each.entry: each for each in body.entries}
        found = labels.get(parents[0]) if len(parents) == 1 else None
        weights = [cut.ppm for cut in body.cuts if cut.members == parents]
        if found is not None and found.ppm is not None:
            weights.append(found.ppm)
        if weights:
            ppm = max(weights) if cap is None else min(max(weights), cap)
            yield Ground("measured", measurement.event_id, ppm, () if found is None else found.labels)


def _in_force(measurement: EdgesMeasured, *, lowers: bool) -> MeasurementInForce:
    body = measurement.body
    return MeasurementInForce(
        event_id=measurement.event_id,
        gate=body.gate,
        result=body.claim_result,
        flags=body.flags,
        may_lower=lowers,
        verdicts=dict(sorted(Counter(each.verdict for each in body.entries).items())),
        total_effect=body.total_effect,
    )
