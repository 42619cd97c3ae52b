"""Evidence that one unit is an edge: what its absence costs, behind which other absences, and what a swap costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from attribution.decision.lattice import Bars, Lattice, Loss
from attribution.decision.probe import Probe


@dataclass(frozen=True)
class Evidence:
    """What speaks for one unit."""

    unit: int
    strongest: float
    """``D_i``, nats."""

    alone: float
    """``ℓ(N) − ℓ(N∖i)``, nats: leave-one-out."""

    necessary: bool
    """Losing the unit alone costs its bar by deletion and half of it by swap."""

    hidden_by: tuple[int, ...] | None
    """W of `redundant-with`: absent it, losing the unit costs a quarter of the claim; None where no such W passed."""

    swap: float | None
    """What the swap cost in the context that decided, nats; None where no check was due."""

    final: float
    """The largest floor that the unit would pass: the lesser of loss and twice the swap, in its best context; nats."""

    @property
    def edge(self) -> bool:
        """Whether the unit is an edge."""
        return self.necessary or self.hidden_by is not None

    @property
    def names_only(self) -> bool:
        """Whether its loss, unlike that of a fact, survives replacing the text by other text about the entity."""
        return self.swap is not None and not self.edge


@dataclass(frozen=True)
class Case:
    """The absences behind which a unit's loss passed; to be confirmed by swaps."""

    unit: int
    strongest: float
    alone: float
    bar: float
    """What ``alone`` must reach, nats: the floor, or a quarter of the claim where main effects do not vouch for it."""

    hidden: Loss | None
    """The loss behind an absence, if decisive there."""

    @property
    def necessary(self) -> Loss | None:
        """The loss of the unit alone, if it reaches its bar."""
        return Loss((), self.alone) if self.alone >= self.bar else None


def lattice_cases(lattice: Lattice, tau: float, trusted: Collection[int]) -> list[Case]:
    """One case a unit of the lattice.

    Args:
        lattice: the joint absences.
        tau: floor of a necessary unit, nats.
        trusted: units whose main effects passed in every design; others must be decisive, not just above the floor.
    """
    cases = []
    for unit in lattice.pool:
        bar = tau if unit in trusted else lattice.bars.decisive
        cases.append(Case(unit, lattice.strongest(unit), lattice.lost([unit]), bar, lattice.hidden_by(unit)))
    return cases


def single_cases(probe: Probe, units: Sequence[int], tau: float) -> list[Case]:
    """Cases of units outside any lattice: leave-one-out alone."""
    scores = probe.without([(), *([unit] for unit in units)])
    return [
        Case(unit, float(loss), float(loss), tau, None)
        for unit, loss in zip(units, scores[0] - scores[1:], strict=True)
    ]


def cut_cases(probe: Probe, absent: Collection[int], cut: Collection[int], bars: Bars) -> list[Case]:
    """Cases of the members of a cut found while ``absent`` is gone: each behind the absence of all others."""
    members = sorted(cut)
    contexts = [tuple(sorted({*absent, *members} - {unit})) for unit in members]
    scores = probe.without([(), {*absent, *members}, *([unit] for unit in members), *contexts])
    full, gone = float(scores[0]), float(scores[1])
    cases = []
    for position, (unit, context) in enumerate(zip(members, contexts, strict=True)):
        alone = full - float(scores[2 + position])
        kept = float(scores[2 + len(members) + position])
        behind = kept - gone if full - kept <= bars.slack else alone
        hidden = Loss(context, behind) if context and behind >= bars.decisive else None
        cases.append(Case(unit, max(alone, behind), alone, bars.decisive, hidden))
    return cases


def confirm(probe: Probe, cases: Iterable[Case], bars: Bars) -> dict[int, Evidence]:
    """Swap every unit where its loss passed: matched text about the same entity must cost half of that bar too.

    A unit without replacement text cannot be confirmed and is no edge.
    """
    listed = list(cases)
    due = [
        (case.unit, loss)
        for case in listed
        for loss in (case.necessary, case.hidden)
        if loss is not None and case.unit in probe.swappable
    ]
    swapped = probe.ask([(loss.context, [unit]) for unit, loss in due])
    kept = probe.without([loss.context for _, loss in due])
    cost = {(unit, loss.context): float(c) for (unit, loss), c in zip(due, kept - swapped, strict=True)}
    return {case.unit: _weigh(case, cost, bars) for case in listed}


def _weigh(case: Case, cost: dict[tuple[int, tuple[int, ...]], float], bars: Bars) -> Evidence:
    checked = [
        (loss, cost[case.unit, loss.context], bars.decisive if loss.context else case.bar)
        for loss in (case.necessary, case.hidden)
        if loss is not None and (case.unit, loss.context) in cost
    ]
    passed = [(loss, swap) for loss, swap, bar in checked if swap >= bar / 2]
    necessary = any(not loss.context for loss, _ in passed)
    # Behind W a unit is redundant only if W's absence is what makes it decisive: additive causes are not.
    behind = [
        loss.context
        for loss, _ in passed
        if loss.context and (not necessary or loss.nats - case.alone >= bars.decisive)
    ]
    swaps = [swap for _, swap in passed] or [swap for _, swap, _ in checked]
    # Alone a unit could pass any floor up to its loss; behind an absence only once it is decisive there.
    floors = [min(loss.nats, 2 * swap) for loss, swap, bar in checked if not loss.context or swap >= bar / 2]
    return Evidence(
        unit=case.unit,
        strongest=case.strongest,
        alone=case.alone,
        necessary=necessary,
        hidden_by=behind[0] if behind else None,
        swap=swaps[0] if swaps else None,
        final=max(floors, default=0.0),
    )
