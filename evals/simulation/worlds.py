"""Worlds with a known truth: clusters of trials that are alike inside a cluster by a given intra-class correlation.

A cluster's cell probabilities are Dirichlet with mean π and concentration (1 − ρ)/ρ, so two trials of one cluster
correlate by ρ in every linear score (Beta–binomial for a proportion). ρ = 0 makes them independent, ρ = 1 equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from evals.errors import StatisticsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Design:
    """How many clusters of how many trials each, and how alike trials of one cluster are.

    Raises:
        StatisticsError: no cluster, no trial, or a correlation outside [0, 1].
    """

    clusters: int
    size: int
    icc: float

    def __post_init__(self) -> None:
        """Refuse what is no design."""
        if self.clusters < 1 or self.size < 1 or not 0.0 <= self.icc <= 1.0:
            raise StatisticsError(
                f"{self.clusters} clusters of {self.size} with correlation {self.icc} is no design; "
                "use at least one of one, correlated by 0…1"
            )


class World(Protocol):
    """Something that can be drawn and has a true value."""

    @property
    def name(self) -> str:
        """What the world is about, for a table."""

    @property
    def truth(self) -> float:
        """The true value of the estimand."""


@dataclass(frozen=True, slots=True)
class ShareWorld:
    """A proportion."""

    name: str
    truth: float

    def draw(self, design: Design, generator: np.random.Generator) -> NDArray[np.int64]:
        """Events by cluster: ``int[cluster]``, each 0…size."""
        return _cells((self.truth, 1.0 - self.truth), design, generator)[:, 0]


@dataclass(frozen=True, slots=True)
class PairWorld:
    """A paired difference: the shares of units in which only the left, only the right, or both arms show the event."""

    name: str
    left_only: float
    right_only: float
    both: float = 0.2

    @property
    def truth(self) -> float:
        """Left − right."""
        return self.left_only - self.right_only

    def draw(self, design: Design, generator: np.random.Generator) -> NDArray[np.int64]:
        """Counts by cluster: ``int[cluster, 4]`` of both, left only, right only, neither."""
        rest = 1.0 - self.both - self.left_only - self.right_only
        return _cells((self.both, self.left_only, self.right_only, rest), design, generator)


@dataclass(frozen=True, slots=True)
class BreakEvenWorld:
    """A loss and a gain over the same clusters, drawn independently of each other."""

    name: str
    loss: PairWorld
    gain: PairWorld

    @property
    def truth(self) -> float:
        """Share of the loss in the sum of both."""
        return self.loss.truth / (self.loss.truth + self.gain.truth)

    def draw(self, design: Design, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Counts of the loss and of the gain, each as of :class:`PairWorld`."""
        return self.loss.draw(design, generator), self.gain.draw(design, generator)


def _cells(chances: tuple[float, ...], design: Design, generator: np.random.Generator) -> NDArray[np.int64]:
    """``int[cluster, cell]``: trials of every cluster by cell."""
    import numpy as np

    means = np.array(chances)
    if design.icc == 0.0:
        drawn = np.tile(means, (design.clusters, 1))
    elif design.icc == 1.0:
        drawn = np.eye(len(means))[generator.choice(len(means), size=design.clusters, p=means)]
    else:
        alive = means > 0.0
        drawn = np.zeros((design.clusters, len(means)))
        concentration = means[alive] * (1.0 - design.icc) / design.icc
        drawn[:, alive] = generator.dirichlet(concentration, size=design.clusters)
    return generator.multinomial(design.size, drawn)
