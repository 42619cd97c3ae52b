"""Planted games: claims whose causes are known, to test decision rules against.

The support of a claim is a Boolean formula over facts; holding it adds ``strength`` nats. A swapped unit loses its
fact, so ``SWAPPED`` acts as ``DELETED``, except for ``naming`` units, which act through the entity that they name and keep it
under a swap. A `Background` adds what no rule should take for a cause.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attribution.games.background import Background
from attribution.games.base import DELETED, PRESENT, States, Values

Facts = NDArray[np.bool_]
"""``bool[mask, unit]``: the unit states its fact."""

Support = Callable[[Facts], ArrayLike]
"""Share of ``strength`` that a set of facts lends the claim, ``float64[mask]``, mostly 0 or 1."""


@dataclass(frozen=True)
class Truth:
    """What a perfect rule would find."""

    edges: frozenset[int]
    """Units that can decide the claim."""

    cuts: frozenset[frozenset[int]]
    """Minimal sets whose joint absence loses the claim, single units among them."""

    labels: tuple[tuple[int, str], ...] = ()
    """Labels that must be given, as (unit, name)."""

    opposes: frozenset[int] = frozenset()
    """Units that speak against the claim."""


@dataclass(frozen=True, eq=False)
class PlantedGame:
    """A claim over ``units`` units with known truth; a :class:`~attribution.games.base.Game`."""

    name: str
    units: int
    support: Support
    strength: float
    """Nats that full support is worth."""

    truth: Truth
    base: float = -6.0
    """Score of an empty context, nats."""

    naming: tuple[tuple[int, float], ...] = ()
    """(unit, nats): an effect that survives a swap because the unit merely names the entity."""

    background: Background | None = None

    def values(self, states: States) -> Values:
        """Score in nats, ``float64[mask]``."""
        facts = states == PRESENT
        score = self.base + self.strength * np.asarray(self.support(facts), dtype=np.float64)
        for unit, effect in self.naming:
            score = score + effect * (states[:, unit] != DELETED)
        if self.background is not None:
            score = score + self.background.values(states)
        return np.asarray(score, dtype=np.float64)

    def over(self, background: Background | None) -> PlantedGame:
        """The same claim over another background."""
        return replace(self, background=background)


def minimal_cuts(support: Support, units: int, edges: frozenset[int]) -> frozenset[frozenset[int]]:
    """Smallest subsets of ``edges`` without which support falls under a half, by trying all of them."""
    found: list[frozenset[int]] = []
    for size in range(1, len(edges) + 1):
        for members in itertools.combinations(sorted(edges), size):
            facts = np.ones((1, units), dtype=np.bool_)
            facts[0, list(members)] = False
            if not any(cut <= set(members) for cut in found) and np.asarray(support(facts))[0] < 0.5:  # noqa: PLR2004 - half
                found.append(frozenset(members))
    return frozenset(found)


def _game(
    name: str, size: tuple[int, float], causes: tuple[int, ...], labels: tuple[tuple[int, str], ...], support: Support
) -> PlantedGame:
    """A game of ``size`` (units, strength) whose cuts are computed from its support."""
    (units, strength), edges = size, frozenset(causes)
    return PlantedGame(name, units, support, strength, Truth(edges, minimal_cuts(support, units, edges), labels))


def null(units: int) -> PlantedGame:
    """No unit matters."""
    return PlantedGame("null", units, lambda facts: np.zeros(len(facts)), 0.0, Truth(frozenset(), frozenset()))


def single(units: int, strength: float, cause: int = 0) -> PlantedGame:
    """One unit alone carries the claim."""
    labels = ((cause, "necessary"), (cause, "sufficient"))
    return _game("single", (units, strength), (cause,), labels, lambda facts: facts[:, cause])


def copies(units: int, strength: float, causes: tuple[int, ...]) -> PlantedGame:
    """Several units state the same fact: any one suffices. Two of them are the `redundant` case."""
    chosen, together = list(causes), frozenset(causes)
    name = "redundant" if len(causes) == 2 else f"copies-{len(causes)}"  # noqa: PLR2004 - a pair
    truth = Truth(together, frozenset([together]), tuple((unit, "redundant-with") for unit in causes))
    return PlantedGame(name, units, lambda facts: facts[:, chosen].any(axis=1), strength, truth)


def conjunctive(units: int, strength: float, causes: tuple[int, ...]) -> PlantedGame:
    """The claim needs every one of several units."""
    chosen = list(causes)
    labels = tuple((unit, label) for unit in causes for label in ("necessary", "conjunct-with"))
    return _game("conjunctive", (units, strength), causes, labels, lambda facts: facts[:, chosen].all(axis=1))


def majority(units: int, strength: float, causes: tuple[int, ...]) -> PlantedGame:
    """The claim needs more than half of an odd number of units."""
    chosen = list(causes)
    labels = tuple((unit, "redundant-with") for unit in causes)
    return _game(
        "majority", (units, strength), causes, labels, lambda facts: 2 * facts[:, chosen].sum(axis=1) > len(chosen)
    )


def two_chains(units: int, strength: float, causes: tuple[int, int, int, int]) -> PlantedGame:
    """``(a and b) or (c and d)``: two chains of two, either suffices."""
    a, b, c, d = causes
    labels = tuple((unit, "redundant-with") for unit in causes)

    def support(facts: Facts) -> ArrayLike:
        return (facts[:, a] & facts[:, b]) | (facts[:, c] & facts[:, d])

    return _game("two-chains", (units, strength), causes, labels, support)


def anchored_copies(units: int, strength: float, anchor: int, causes: tuple[int, ...]) -> PlantedGame:
    """``anchor and (c1 or c2 or …)``: one necessary unit beside copies of another fact."""
    chosen = list(causes)

    def support(facts: Facts) -> ArrayLike:
        return np.asarray(facts[:, anchor] & facts[:, chosen].any(axis=1))

    labels = ((anchor, "necessary"), *((unit, "redundant-with") for unit in causes))
    return _game("anchored-copies", (units, strength), (anchor, *causes), labels, support)


def paraphrase(units: int, strength: float, original: int, echo: int, share: float = 0.85) -> PlantedGame:
    """A duplicate in other words: alone it lends ``share`` of the support of the original."""

    def support(facts: Facts) -> ArrayLike:
        return np.asarray(np.maximum(facts[:, original], share * facts[:, echo]))

    labels = ((original, "redundant-with"), (echo, "redundant-with"))
    return _game("paraphrase", (units, strength), (original, echo), labels, support)


def suppressor(units: int, strength: float, cause: int, against: int) -> PlantedGame:
    """One unit carries the claim, another speaks against it with half the strength."""

    def support(facts: Facts) -> ArrayLike:
        return np.asarray(facts[:, cause] - 0.5 * facts[:, against])

    truth = Truth(frozenset([cause]), frozenset([frozenset([cause])]), ((cause, "necessary"),), frozenset([against]))
    return PlantedGame("suppressor", units, support, strength, truth)


def many(units: int, strength: float, causes: tuple[int, ...]) -> PlantedGame:
    """Independent causes that add up: each is worth ``strength / len(causes)`` nats."""
    chosen = list(causes)
    edges = frozenset(causes)
    truth = Truth(edges, frozenset(), tuple((unit, "necessary") for unit in causes))
    return PlantedGame("many", units, lambda facts: facts[:, chosen].mean(axis=1), strength, truth)


def saturating(units: int, strength: float, causes: tuple[int, ...]) -> PlantedGame:
    """Support grows with the evidence and levels off: ``1 − 4^−n`` of it for ``n`` of the units."""
    chosen = list(causes)

    def support(facts: Facts) -> ArrayLike:
        return np.asarray(1.0 - 0.25 ** facts[:, chosen].sum(axis=1))

    labels = tuple((unit, "redundant-with") for unit in causes)
    return _game("saturating", (units, strength), causes, labels, support)


def naming(units: int, strength: float, cause: int | None, namer: int, effect: float) -> PlantedGame:
    """A unit that merely names the entity moves the claim by ``effect``; with a ``cause`` another one carries it."""
    game = null(units) if cause is None else single(units, strength, cause)
    return replace(game, name="naming", naming=((namer, effect),))
