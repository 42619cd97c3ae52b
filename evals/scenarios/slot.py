"""A place in the plan of a family, and what the family is spread over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from evals.scenarios.base import GENERATOR_VERSION, JudgeStep, Question, Scenario, ScenarioEntry, Step
from evals.scenarios.cast import ASK, HOST_DIGITS, Cast, cast, introduce
from evals.scenarios.draw import Draw
from evals.scenarios.wordings import Topic, all_topics
from evals.trials import PremiseOrder

CORRECTIONS = ("correction-a", "correction-b")
FIRST = 40
"""Wordings that every family has."""
BOTH_ORDERS: tuple[PremiseOrder, ...] = ("premise-first", "corrections-first")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the plan: which wording, order and variant scenario ``index`` has."""

    family: str
    seed: int
    index: int
    place: int
    """Number of the wording."""
    order: PremiseOrder
    variant: str
    turn: int
    """How often every wording of the family had its turn before."""

    @property
    def topic(self) -> Topic:
        """The wording."""
        return all_topics()[self.place]

    @property
    def side(self) -> str:
        """Side ``a`` or ``b`` of the wording, by rounds over all wordings."""
        return "ab"[self.turn % 2]

    @property
    def draw(self) -> Draw:
        """A fresh stream of draws; it does not know the variant, so that variants of one scenario share their text."""
        return Draw(GENERATOR_VERSION, self.family, self.seed, self.index)

    def cast(self, draw: Draw, topic: Topic | None = None, *, entity: str | None = None) -> Cast:
        """A cast of ``topic`` (the slot's own unless given) whose hosts no other variant of the scenario has.

        Sources earn and lose standing by what becomes of their words, so no scenario may inherit any.
        """
        drawn = cast(draw, topic or self.topic, entity=entity)
        hosts = Draw(GENERATOR_VERSION, self.family, self.seed, self.index, self.variant, drawn.salt)
        return replace(drawn, salt=hosts.token(HOST_DIGITS))

    def in_order(
        self, built: tuple[ScenarioEntry, ...], against: tuple[ScenarioEntry, ...]
    ) -> tuple[ScenarioEntry, ...]:
        """What was built and what speaks against it, in the slot's order."""
        return (*built, *against) if self.order == "premise-first" else (*against, *built)

    def scenario(
        self,
        entries: tuple[ScenarioEntry, ...],
        *,
        then: tuple[Step, ...] = (),
        question: Question | None,
        wording: str,
    ) -> Scenario:
        """The scenario of ``entries``, of further steps, and of the question if there is one."""
        return self.of_steps(entries, (*introduce(entries), *then), question=question, wording=wording)

    def of_steps(
        self, entries: tuple[ScenarioEntry, ...], steps: tuple[Step, ...], *, question: Question | None, wording: str
    ) -> Scenario:
        """The scenario of ``entries`` with these steps, and of the question if there is one."""
        asked = () if question is None else (ASK,)
        return Scenario(
            entries=entries,
            family=self.family,
            generator=GENERATOR_VERSION,
            index=self.index,
            order=self.order,
            question=question,
            seed=self.seed,
            steps=(*steps, *asked),
            variant=self.variant,
            wording=wording,
        )


@dataclass(frozen=True, slots=True)
class Family:
    """How a family is built and over what it is spread."""

    build: Callable[[Slot], Scenario]
    orders: tuple[PremiseOrder, ...]
    variants: tuple[str, ...]
    """Spread evenly, unless one is asked for."""
    on_request: tuple[str, ...] = ()
    """Built only when asked for by name: same text as the others, other steps."""
    wordings: int = FIRST
    """How many of the wordings take turns."""

    @property
    def cells(self) -> int:
        """Combinations of an order and a variant."""
        return len(self.orders) * len(self.variants)

    def shift(self, turn: int) -> int:
        """By how many cells a turn goes on from the first, where a wording has a cell of its own.

        Turns over eighty wordings come in pairs half of the cells apart: two turns show every wording in opposite variants.
        """
        return turn if self.wordings <= FIRST else turn // 2 + turn % 2 * (self.cells // 2)


def verdict(target: str, candidates: tuple[str, ...] = CORRECTIONS) -> JudgeStep:
    """The oracle's verdicts against ``target``."""
    return JudgeStep(candidates=candidates, step="judge", target=target)
