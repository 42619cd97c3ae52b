"""What a claim depends on: declared parents, presumed context and measurements, as one tuple of hyperedges.

Omission must not pay: a claim with a recorded generation is presumed to rest on all of that generation's context at
the policy's `undeclared_context_ppm`, whatever it declares. Only a measurement that really is about the generator may
lower a weight; every other one may only add or raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ledger_core.belief.index import Claim, IndexView, LedgerIndex, grouped
from ledger_core.belief.state import Hyperedge
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured, MeasuredEntry
from ledger_core.kernel.types import EventId

_INADMISSIBLE, _MAY_ADD, _MAY_LOWER = range(3)


@dataclass(frozen=True, slots=True)
class Dependence:
    """What one claim rests on."""

    hyperedges: tuple[Hyperedge, ...]
    """Sorted, each once, none of weight 0."""
    ungrounded: bool
    """Whether a measurement in force found that the context does not support the claim at all."""


def is_grounded_in_record(claim: Claim, index: IndexView) -> bool:
    """Whether a generation recorded at our own boundary says the claim; without one it is a conjecture."""
    generation = _generation_of(claim, index)
    return generation is not None and generation.body.attestation == "boundary"


def refusal(measurement: EdgesMeasured, claim: Claim | None, generation: GenerationRecorded | None) -> str | None:
    """Why ``measurement`` counts for nothing, or None if it is admitted.

    The parents must lie in the recorded context: that makes the graph acyclic by hash, with no search.
    """
    body = measurement.body
    if claim is None or generation is None:
        return "it measures a claim or a generation that is not in the ledger"
    if claim.body.generation != body.generation:
        return f"the claim is of generation {claim.body.generation}, the measurement of {body.generation}"
    context = {region.entry for region in generation.body.context}
    foreign = [measured.entry for measured in body.entries if measured.entry not in context]
    if foreign:
        return f"entry {foreign[0]} is not in the recorded context of generation {body.generation}"
    return None


def may_lower(measurement: EdgesMeasured, generation: GenerationRecorded) -> bool:
    """Whether a measurement may lower weights: it scored what the agent saw, with the weights that wrote the claim."""
    return (
        generation.body.attestation == "boundary"
        and generation.body.is_exact
        and generation.body.weights_digest == measurement.body.scorer_weights_digest
        and "proxy-scored" not in measurement.body.flags
    )


def dependences(index: LedgerIndex, policy: Policy, *, measured: bool) -> dict[EventId, Dependence]:
    """The dependence of every claim; ``measured=False`` leaves `edges.measured` statements aside."""
    by_claim: Mapping[EventId, list[EventId]] = (
        grouped((EventId(m.body.claim), key) for key, m in index.measurements.items()) if measured else {}
    )
    contexts: dict[EventId, dict[EventId, int]] = {}
    found: dict[EventId, Dependence] = {}
    for key, entry in index.entries.items():
        if isinstance(entry, Claim):
            presumed = _presumed(entry, index, policy, contexts)
            found[key] = _dependence(entry, presumed, by_claim.get(key, ()), index, policy)
    return found


def dependence_of(claim: Claim, measurements: Iterable[EventId], index: IndexView, policy: Policy) -> Dependence:
    """The dependence of one claim, ``measurements`` being the live ones about it."""
    return _dependence(claim, _presumed(claim, index, policy, {}), measurements, index, policy)


def unmeasured(
    parents: Iterable[tuple[EventId, int]], context: Iterable[EventId], policy: Policy
) -> tuple[Hyperedge, ...]:
    """What a claim that nobody measured rests on: its declared ``parents`` and the ``context`` of its generation."""
    stated = _stated(dict.fromkeys(context, policy.undeclared_context_ppm), parents)
    return _hyperedges(((entry,), ppm) for entry, ppm in stated.items())


def measurements_in_force(claim: EventId, index: LedgerIndex) -> tuple[tuple[EdgesMeasured, bool], ...]:
    """The measurements that decide what ``claim`` rests on, each with whether it may lower a weight, by event id."""
    entry = index.entries[claim]
    if not isinstance(entry, Claim):
        return ()
    keys = [key for key, measurement in index.measurements.items() if measurement.body.claim == claim]
    return tuple(_in_force(entry, keys, index))


def _presumed(
    claim: Claim, index: IndexView, policy: Policy, contexts: dict[EventId, dict[EventId, int]]
) -> Mapping[EventId, int]:
    """Presumed weights of the claim's context, computed once per generation and shared."""
    generation = _generation_of(claim, index)
    if generation is None or policy.undeclared_context_ppm == 0:
        return {}
    known = contexts.get(generation.event_id)
    if known is None:
        entries = (region.entry for region in generation.body.context if region.entry is not None)
        known = {EventId(entry): policy.undeclared_context_ppm for entry in entries}
        contexts[generation.event_id] = known
    return known


def _dependence(
    claim: Claim, presumed: Mapping[EventId, int], keys: Iterable[EventId], index: IndexView, policy: Policy
) -> Dependence:
    """Declared and presumed weights, then what each measurement in force makes of them; rivals combine by the larger.

    Attenuation takes the maximum over hyperedges, so the union of what each rival leaves is exactly that.
    """
    stated = _stated(presumed, ((EventId(parent.entry), parent.ppm) for parent in claim.body.parents))
    in_force = _in_force(claim, keys, index)
    if not in_force:
        return Dependence(_hyperedges((((entry,), ppm) for entry, ppm in stated.items())), ungrounded=False)
    weighed: list[tuple[tuple[EventId, ...], int]] = []
    for measurement, lowers in in_force:
        weighed.extend(_reweighed(stated, measurement, policy, lowers=lowers))
    ungrounded = any(measurement.body.claim_result == "ungrounded" for measurement, _ in in_force)
    return Dependence(_hyperedges(weighed), ungrounded)


def _stated(presumed: Mapping[EventId, int], declared: Iterable[tuple[EventId, int]]) -> dict[EventId, int]:
    """Presumed and declared weights; the larger counts."""
    stated = dict(presumed)
    for entry, ppm in declared:
        stated[entry] = max(stated.get(entry, 0), ppm)
    return stated


def _reweighed(
    stated: Mapping[EventId, int], measurement: EdgesMeasured, policy: Policy, *, lowers: bool
) -> Iterator[tuple[tuple[EventId, ...], int]]:
    cap = policy.uncontrasted_cap_ppm if "uncontrasted" in measurement.body.flags else None
    weights = dict(stated)
    for found in measurement.body.entries:
        entry = EventId(found.entry)
        before = weights.get(entry, 0)
        kept = min(before, _upper_weight(found, before, policy)) if lowers else before
        weights[entry] = max(kept, _capped(found.ppm or 0, cap))
    for entry, ppm in weights.items():
        yield (entry,), ppm
    for cut in measurement.body.cuts:
        yield tuple(EventId(member) for member in cut.members), _capped(cut.ppm, cap)


def _upper_weight(found: MeasuredEntry, stated: int, policy: Policy) -> int:
    """How much of a stated weight a lowering measurement leaves.

    A null leaves nothing if its whole interval lies under the policy's threshold: equivalence, not a failure to reject.
    An edge leaves at most its own weight, uncapped: the cap bounds what a measurement without foil may claim, and
    finding an edge is no reason to believe less in a stated one. `undetermined` and `opposes` lower nothing.
    """
    if found.verdict == "null" and found.interval is not None:
        return 0 if found.interval.high <= policy.null_threshold_micro_nats else stated
    return found.ppm if found.ppm is not None else stated


def _in_force(claim: Claim, keys: Iterable[EventId], index: IndexView) -> list[tuple[EdgesMeasured, bool]]:
    """Admitted measurements of ``claim`` that no successor of at least their own power replaces, with that power.

    A successor that may only add cannot take the place of one that may lower: it would withdraw what that one raised.
    """
    measurements = {key: index.measurements[key] for key in sorted(keys)}
    generation = _generation_of(claim, index)
    power = {key: _power(measurement, claim, generation) for key, measurement in measurements.items()}
    replaced_by = dict.fromkeys(measurements, _INADMISSIBLE)
    for key, measurement in measurements.items():
        ancestor, strength = measurement.body.predecessor, power[key]
        # Every predecessor is named by hash, so the walk ends; it stops early where a stronger one passed before.
        while ancestor is not None and (known := EventId(ancestor)) in measurements and replaced_by[known] < strength:
            replaced_by[known] = strength
            ancestor = measurements[known].body.predecessor
    return [
        (measurement, power[key] == _MAY_LOWER)
        for key, measurement in measurements.items()
        if power[key] > _INADMISSIBLE and replaced_by[key] < power[key]
    ]


def _power(measurement: EdgesMeasured, claim: Claim, generation: GenerationRecorded | None) -> int:
    if generation is None or refusal(measurement, claim, generation) is not None:
        return _INADMISSIBLE
    return _MAY_LOWER if may_lower(measurement, generation) else _MAY_ADD


def _generation_of(claim: Claim, index: IndexView) -> GenerationRecorded | None:
    generation = claim.body.generation
    return None if generation is None else index.generations.get(EventId(generation))


def _hyperedges(weighed: Iterable[tuple[tuple[EventId, ...], int]]) -> tuple[Hyperedge, ...]:
    """One hyperedge per set of parents, of its largest weight."""
    largest: dict[tuple[EventId, ...], int] = {}
    for parents, ppm in weighed:
        if ppm > largest.get(parents, 0):
            largest[parents] = ppm
    return tuple(Hyperedge(parents, ppm) for parents, ppm in sorted(largest.items()))


def _capped(ppm: int, cap: int | None) -> int:
    return ppm if cap is None else min(ppm, cap)
