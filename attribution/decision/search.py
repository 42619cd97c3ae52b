"""The search for edges: candidates, their lattice, and what the edges found leave unexplained.

Beyond the written rule, each with the case that made it necessary:

- the *residual check*: with the edges present and everything else swapped the claim must stand, else the rest is
  searched for a cut; so too at every brink, where some edges are gone and the others decide. Without it
  ``a and (c1 or … or c8)`` yields ``a`` and calls the copies null, and a cause that aliased triples cancel in one
  fold-over is lost for good;
- candidates beyond the enumerated six are judged by leave-one-out, so ten additive causes are ten edges, not six;
- units that merely name the entity leave the lattice: their loss would set the size of the claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from attribution.decision.bisect import FEW_UNITS, minimal_cut
from attribution.decision.config import RuleConfig
from attribution.decision.effects import Explored
from attribution.decision.evidence import Evidence, confirm, cut_cases, lattice_cases, single_cases
from attribution.decision.lattice import Bars, Lattice
from attribution.decision.probe import Probe

_MOST_BRINKS = 8
"""Brinks tried per round: twenty of six additive causes would teach nothing that eight do not."""


@dataclass
class Findings:
    """What the search knows about a claim so far."""

    lattice: Lattice
    candidates: tuple[int, ...]
    total: float
    """``ℓ(N) − ℓ(every unit swapped)``, nats."""

    evidence: dict[int, Evidence]
    excess: float = 0.0
    """:func:`excess` of the whole context, nats."""

    wide_cuts: list[frozenset[int]] = field(default_factory=list)
    """Cuts too large for the lattice."""

    residual: float = 0.0
    """``ℓ(N) − ℓ(edges present, everything else swapped)``, nats."""

    explained: bool = True
    """Whether the residual lies under its floor in every context tried."""

    @property
    def edges(self) -> frozenset[int]:
        """Units found to be edges."""
        return frozenset(unit for unit, evidence in self.evidence.items() if evidence.edge)

    @property
    def enumerated_whole(self) -> bool:
        """Whether every candidate that is not a mere namer, and every edge, is in the lattice."""
        open_ = {unit for unit in self.candidates if not self.evidence[unit].names_only} | self.edges
        return open_ <= set(self.lattice.pool)

    def add(self, added: dict[int, Evidence]) -> bool:
        """Take new evidence, but never drop an edge (a wider lattice has a higher bar); whether it brought an edge."""
        before = self.edges
        for unit, evidence in added.items():
            known = self.evidence.get(unit)
            if known is None or evidence.edge or not known.edge:
                self.evidence[unit] = evidence
        return self.edges != before


def search(probe: Probe, explored: Explored, tau: float, tau_total: float, config: RuleConfig) -> Findings:
    """Find the edges of a claim.

    Args:
        probe: the claim, over at least one unit.
        explored: its main effects, and the order in which its units are worth asking about.
        tau: floor of a single effect, nats.
        tau_total: floor of the total effect, nats.
        config: the rule's numbers.
    """
    findings = judge_candidates(probe, explored.candidates(tau), tau, config)
    findings.excess = excess(probe, explored, (), range(probe.units))
    given_up: set[frozenset[int]] = set()
    while True:
        open_ = [context for context in _contexts(probe, findings) if context not in given_up]
        for context in open_:
            rest = [unit for unit in explored.order if unit not in findings.edges | context]
            unexplained = _residual(probe, context, rest)
            if not context:
                findings.residual = unexplained
            share = findings.lattice.bars.slack if context else findings.total / 4
            if unexplained < share or excess(probe, explored, context, rest) < tau_total:
                continue
            # Under a single unit's floor there is something left to explain, but no edge in it.
            if unexplained >= tau and _explain(probe, findings, (context, rest), tau, config):
                break
            given_up.add(context)
            findings.explained = False
        else:
            return findings


def judge_candidates(probe: Probe, listed: tuple[int, ...], tau: float, config: RuleConfig) -> Findings:
    """Enumerate the strongest candidates jointly, the others one by one."""
    total = probe.full - probe.replaced((), range(probe.units))
    lattice = Lattice.measure(probe, listed[: config.enumerate_up_to], tau, total)
    evidence = confirm(probe, lattice_cases(lattice, tau, listed), lattice.bars)
    named = {unit for unit in lattice.pool if evidence[unit].names_only}
    if named:
        pool = [unit for unit in lattice.pool if unit not in named]
        lattice = Lattice.measure(probe, pool, tau, total)
        evidence |= confirm(probe, lattice_cases(lattice, tau, listed), lattice.bars)
    beyond = single_cases(probe, listed[config.enumerate_up_to :], tau)
    evidence |= confirm(probe, beyond, lattice.bars)
    return Findings(lattice, listed, total, evidence)


def _contexts(probe: Probe, findings: Findings) -> list[frozenset[int]]:
    """Absences behind which the edges found must explain the claim by themselves.

    None; the largest sets of edges without which the claim stands (of many copies, those found so far); and the W of each
    edge of a wide cut.
    """
    edges, lattice = findings.edges, findings.lattice
    contexts = [frozenset[int](), *lattice.brinks(edges)[:_MOST_BRINKS]]
    contexts += [
        frozenset(evidence.hidden_by)
        for unit, evidence in findings.evidence.items()
        if evidence.hidden_by is not None and unit not in lattice.pool
    ]
    if not edges <= set(lattice.pool) and probe.full - float(probe.without([edges])[0]) <= lattice.bars.slack:
        contexts.append(edges)
    return list(dict.fromkeys(contexts))


def _residual(probe: Probe, absent: Collection[int], rest: Sequence[int]) -> float:
    return float(probe.without([absent])[0]) - probe.replaced(absent, rest)


def excess(probe: Probe, explored: Explored, absent: Collection[int], rest: Sequence[int]) -> float:
    """What swapping all of ``rest`` costs while ``absent`` is gone; of a screened context, beyond what random halves of it cost.

    Hundreds of idle swaps add up, most of it in the first half of them already, while ``r`` copies fall with one half in
    ``2^r``: what the second half costs is a third of the noise and nearly all of the claim.
    """
    gone = probe.replaced(absent, rest)
    if not explored.halves:
        return float(probe.without([absent])[0]) - gone
    inside = frozenset(rest)
    halves = [half & inside for half in explored.halves]
    kept = probe.ask([((half - probe.swappable).union(absent), half & probe.swappable) for half in halves])
    return float(kept.mean()) - gone


def _explain(
    probe: Probe, findings: Findings, open_: tuple[frozenset[int], Sequence[int]], tau: float, config: RuleConfig
) -> bool:
    """Search the rest for one more cut while others are absent, ``open_`` = (absent, rest); whether it brought an edge."""
    absent, rest = open_
    unexplained = _residual(probe, absent, rest)
    for order in _orders(rest, config):
        cut = minimal_cut(probe, absent, order, unexplained / 2, config.largest_cut)
        if cut is not None and _accept(probe, findings, (absent, cut, unexplained), tau, config):
            return True
    return False


def _orders(rest: Sequence[int], config: RuleConfig) -> Iterator[Sequence[int]]:
    """The likeliest first; then, of more than a few units, two shuffles: what drifts over the line there drifts elsewhere."""
    yield rest
    draw = np.random.RandomState(config.seed)
    for _ in range(2 if len(rest) > FEW_UNITS else 0):
        yield [rest[place] for place in draw.permutation(len(rest))]


def _accept(
    probe: Probe,
    findings: Findings,
    found: tuple[frozenset[int], tuple[int, ...], float],
    tau: float,
    config: RuleConfig,
) -> bool:
    """Judge the members of a cut, ``found`` = (absent, members, unexplained nats); whether it brought an edge."""
    absent, cut, unexplained = found
    whole = probe.full - float(probe.without([absent | set(cut)])[0])
    bars = Bars.of(tau, max(whole, unexplained))
    if not findings.add(confirm(probe, cut_cases(probe, absent, cut, bars), bars)):
        return False
    edges = findings.edges
    pool = list(dict.fromkeys([*findings.lattice.pool, *cut]))
    if len(pool) > config.enumerate_up_to:
        pool = sorted(edges)
    if len(pool) <= config.enumerate_up_to:
        findings.lattice = Lattice.measure(probe, pool, tau, findings.total)
        cases = lattice_cases(findings.lattice, tau, findings.candidates)
        findings.add(confirm(probe, cases, findings.lattice.bars))
    elif len(absent | set(cut)) > 1:
        findings.wide_cuts.append(absent | set(cut))
    return True
