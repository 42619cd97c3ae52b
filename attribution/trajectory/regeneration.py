"""What an agent would have said with units of its context deleted: answers generated again, from exact tokens.

`answer` generates one response anew with everything said before it as it was: the direct effect of a deletion. `later` generates
every later response in turn, each over the ones generated before it: the total effect.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from attribution.errors import LayoutError
from attribution.layout import Ids
from attribution.trajectory.records import Trajectory, TrajectoryClaim

Generate = Callable[[Ids], Ids]
"""From a prompt's ids to a response's, such as a greedy continuation; the same prompt always gives the same response."""


@dataclass(frozen=True, slots=True)
class Response:
    """One response that a trajectory holds."""

    generation: str
    start: int
    """First token."""
    stop: int
    units: frozenset[int]
    """Units that its claims are to later claims."""
    claims: tuple[TrajectoryClaim, ...]


class Regeneration:
    """Generates the responses of a trajectory again."""

    def __init__(self, trajectory: Trajectory, generate: Generate) -> None:
        self._layout = trajectory.layout
        self._generate = generate
        self.responses = responses(trajectory)

    def answer(self, generation: str, deleted: Collection[int]) -> Ids:
        """The response of ``generation`` with ``deleted`` units gone and earlier responses as they were.

        Raises:
            LayoutError: no such generation.
        """
        for response in self.responses:
            if response.generation == generation:
                return self._generate(self._prompt(response, frozenset(deleted), {}))
        raise LayoutError(f"the trajectory holds no response of generation {generation}")

    def later(self, deleted: Collection[int]) -> dict[str, Ids]:
        """Every response after the first of the ``deleted`` units, each generated over those generated before it.

        A response that is itself deleted is not generated. Nothing deleted generates every response.
        """
        gone = frozenset(deleted)
        starts = [region.start for region in self._layout.regions if region.unit in gone]
        first = min(starts, default=0)
        said: dict[str, Ids] = {}
        for response in self.responses:
            if response.start >= first and not response.units & gone:
                said[response.generation] = self._generate(self._prompt(response, gone, said))
        return said

    def _prompt(self, asked: Response, deleted: frozenset[int], said: Mapping[str, Ids]) -> Ids:
        ids: list[int] = []
        earlier = [response for response in self.responses if response.generation in said]
        for region in self._layout.regions:
            if region.start >= asked.start:
                break
            holder = next((r for r in earlier if r.start <= region.start < r.stop), None)
            if holder is not None and region.stop > region.start:
                if region.start == holder.start:
                    ids.extend(said[holder.generation])
            elif region.unit not in deleted:
                ids.extend(self._layout.ids[region.start : min(region.stop, asked.start)])
        return tuple(ids)


def responses(trajectory: Trajectory) -> tuple[Response, ...]:
    """The responses whose claims are targets, in token order; a response spans the regions of its claims."""
    layout = trajectory.layout
    claims: dict[str, list[TrajectoryClaim]] = {}
    for claim in trajectory.claims:
        claims.setdefault(claim.generation, []).append(claim)
    found = []
    for generation, spoken in claims.items():
        targets = [layout.targets[claim.target] for claim in spoken]
        homes = [
            region for region in layout.regions if any(region.start <= target.start < region.stop for target in targets)
        ]
        found.append(
            Response(
                generation,
                min(home.start for home in homes),
                max(home.stop for home in homes),
                frozenset(target.unit for target in targets if target.unit is not None),
                tuple(spoken),
            )
        )
    return tuple(sorted(found, key=lambda response: response.start))
