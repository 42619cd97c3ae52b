"""The values the fold returns: what every entry is believed to be, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.types import PPM, EventId, U

Tier = Literal["given", "conjecture", "derived", "sealed_unverified", "sealed_verified"]
"""Trust tier as computed; `given` stands outside the belief order."""

SEALED_TIERS: frozenset[Tier] = frozenset({"sealed_unverified", "sealed_verified"})


@dataclass(frozen=True, slots=True, order=True)
class Hyperedge:
    """A dependence of one entry: on one parent, or on several of which only the joint loss counts (an AND-group)."""

    parents: tuple[EventId, ...]
    """Sorted, each once, at least one."""
    ppm: int

    def __post_init__(self) -> None:
        """Refuse what has no meaning, before it silently counts as no dependence."""
        if not self.parents or list(self.parents) != sorted(set(self.parents)):
            raise BeliefError(f"parents of a hyperedge are sorted, each once, at least one; got {self.parents!r}")
        if not 0 <= self.ppm <= PPM:
            raise BeliefError(f"a hyperedge weighs 0 to {PPM} ppm; got {self.ppm}")


@dataclass(frozen=True, slots=True)
class EntryState:
    """One entry under one reading."""

    kind: str
    """Statement kind: `entry.observed`, `entry.given`, `entry.derived` or `entry.conjectured`."""
    tier: Tier
    base: int | None
    """Belief before attenuation, in parts of U; None for `given`."""
    attenuation: int
    """What the retractions leave of it, in parts of U."""
    belief: int | None
    """``⌊base · attenuation / U⌋``; None for `given`."""
    retracted: bool
    suspended: bool
    """Whether a replay audit of its seal took it out of service."""
    invalidated: bool
    """Retracted, suspended, or attenuated to the policy's threshold or below."""
    corroborated: bool
    """Whether it served as a counted member of a passing quorum, which is how it may be displayed as verified."""
    external: bool
    """Whether it was sealed from an `external_read` tool."""
    cluster: str | None
    """Origin cluster of its seal; None where nobody sealed it."""
    family: str | None
    """Predicate family, None where nobody sealed it."""
    order: int
    """Place in the canonical topological order (by references, ties by event id): not the log's order."""
    hyperedges: tuple[Hyperedge, ...]
    """What it depends on; dependences of weight 0 are left out."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """Why an entry is retracted."""

    members: tuple[EventId, ...]
    """Every eligible contradictor that belongs to some passing quorum, sorted; empty in a hypothetical retraction."""
    largest_independent: int
    """Size of the largest pairwise independent set among the eligible contradictors."""
    hypothetical: bool = False
    """Assumed by the reading, not found in the ledger."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step back along the dependence that costs an entry the most."""

    entry: EventId
    """The parent stepped to; in an AND-group the member that loses least, which bounds the group's loss."""
    ppm: int
    """Weight of the hyperedge that leads to it."""


@dataclass(frozen=True, slots=True)
class BeliefState:
    """State of a set of statements under one policy and reading; equal sets give equal states."""

    entries: Mapping[EventId, EntryState]
    """In canonical order."""
    retractions: Mapping[EventId, Retraction]
    """Retracted target -> why."""
    reputation: Mapping[tuple[str, str], tuple[int, int]]
    """(origin cluster, predicate family) -> (s, f): origins corrected, own entries retracted."""

    def path(self, entry: EventId) -> tuple[PathStep, ...]:
        """The strongest attenuating path from ``entry`` back to a retracted or suspended entry.

        Empty when the entry is itself such a root or nothing attenuates it. Ties go to the first hyperedge and the
        smallest event id, so equal states give equal paths.

        Raises:
            BeliefError: there is no such entry.
        """
        steps: list[PathStep] = []
        current = self._entry(entry)
        while not (current.retracted or current.suspended):
            found = self._costliest(current.hyperedges)
            if found is None:
                break
            steps.append(found)
            current = self.entries[found.entry]
        return tuple(steps)

    def _costliest(self, hyperedges: tuple[Hyperedge, ...]) -> PathStep | None:
        best: PathStep | None = None
        greatest = 0
        for edge in hyperedges:
            losses = [(U - self.entries[p].attenuation, p) if p in self.entries else (0, p) for p in edge.parents]
            loss, parent = min(losses)
            cost = edge.ppm * loss // PPM
            if cost > greatest:
                greatest, best = cost, PathStep(parent, edge.ppm)
        return best

    def _entry(self, entry: EventId) -> EntryState:
        try:
            return self.entries[entry]
        except KeyError:
            raise BeliefError(f"no entry {entry} among the {len(self.entries)} entries of this state") from None


@dataclass(frozen=True, slots=True)
class FoldOptions:
    """How a reading departs from the plain fold; used by evaluation arms and `what-if`, never by the ledger itself."""

    measured: bool = True
    """Whether `edges.measured` statements count."""
    hypothetical_retractions: frozenset[EventId] = frozenset()
    """Entries added to the retracted ones without asking for a quorum."""
    hyperedges: Mapping[EventId, tuple[Hyperedge, ...]] | None = None
    """Replaces all dependences of the entries it names."""
    ignore_verdicts: bool = False
    """Reads the ledger as if no verdict had been filed: nothing retracted, nothing corroborated."""
