"""The cast of one scenario: a place, values and hosts drawn by seed, and the entries that a wording makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evals.scenarios.base import (
    AskStep,
    DeclaredParent,
    EntryKind,
    GiveStep,
    Question,
    Role,
    SayStep,
    ScenarioEntry,
    SealStep,
    Step,
)
from evals.scenarios.draw import Draw
from evals.scenarios.pools import PLACES
from evals.scenarios.wordings import Topic
from ledger_core.kernel.types import PPM

_THIRDS = 2
HOST_DIGITS = 6
"""Hexadecimal digits that make a host unique."""


@dataclass(frozen=True, slots=True)
class Cast:
    """A wording with its place and its values: false, true, two third ones, and the one of matched swaps."""

    topic: Topic
    entity: str
    false: str
    true: str
    third: tuple[str, ...]
    swap: str
    salt: str
    """Makes hosts unique to the scenario."""

    def fill(self, template: str, value: str = "") -> str:
        """``template`` with this place and ``value``."""
        return template.format(entity=self.entity, value=value)

    def sealed(self, key: str, role: Role, source: str, template: str, value: str) -> ScenarioEntry:
        """An observation that states ``value``."""
        return self._sealed(
            key, role, source, text=self.fill(template, value), swap=self.fill(template, self.swap), value=value
        )

    def premise(self, key: str, role: Role, value: str) -> ScenarioEntry:
        """The wording's premise, saying ``value``."""
        return self.sealed(key, role, "premise", self.topic.premise, value)

    def correction(self, side: str) -> ScenarioEntry:
        """Correction ``a`` or ``b``, saying the true value."""
        source = f"correction_{side}"
        return self.sealed(f"correction-{side}", "correction", source, getattr(self.topic, source), self.true)

    def filler(self, key: str = "filler") -> ScenarioEntry:
        """A sealed sentence about the place without a value."""
        group = self.topic.group
        return self.remark(key, "filler", "filler", group.filler, group.filler_swap)

    def remark(self, key: str, role: Role, source: str, template: str, swap: str) -> ScenarioEntry:
        """A sealed sentence that states no value."""
        return self._sealed(key, role, source, text=self.fill(template), swap=self.fill(swap), value=None)

    def task(self, key: str = "task") -> ScenarioEntry:
        """What the user wants; states no value."""
        group = self.topic.group
        return ScenarioEntry(
            declared=(),
            foils=(),
            host=None,
            key=key,
            kind="given",
            role="filler",
            swap=self.fill(group.task_swap),
            text=self.fill(group.task),
            tool=None,
            used=(),
            value=None,
        )

    def claim(
        self, key: str, role: Role, template: str, value: str, *, declared: tuple[str, ...], used: tuple[str, ...]
    ) -> ScenarioEntry:
        """A claim that states ``value``; its foils state the other expected value, if it has one, and the third ones."""
        others = dict.fromkeys((self.false, self.true, *self.third))
        return ScenarioEntry(
            declared=tuple(DeclaredParent(key=parent, ppm=PPM) for parent in declared),
            foils=tuple(self.fill(template, other) for other in others if other != value),
            host=None,
            key=key,
            kind="claim",
            role=role,
            swap=self.fill(template, self.swap),
            text=self.fill(template, value),
            tool=None,
            used=used,
            value=value,
        )

    def question(self, *, true: str, false: str | None) -> Question:
        """The wording's question."""
        pool = self.topic.values
        return Question(
            false=false,
            ignored=(self.entity,),
            kind=pool.kind,
            stem=self.fill(self.topic.answer),
            text=self.fill(self.topic.question),
            third=self.third,
            true=true,
            vocabulary=pool.vocabulary,
        )

    def _sealed(self, key: str, role: Role, source: str, *, text: str, swap: str, value: str | None) -> ScenarioEntry:
        label = f"{self.topic.group.sources.get(source, source)}-{self.entity.lower()}-{self.salt}"
        return ScenarioEntry(
            declared=(),
            foils=(),
            host=f"{label}.example",
            key=key,
            kind="seal",
            role=role,
            swap=swap,
            text=text,
            tool=f"read-{label}",
            used=(),
            value=value,
        )


def cast(draw: Draw, topic: Topic, *, entity: str | None = None, avoid: tuple[str, ...] = ()) -> Cast:
    """Draw a place and values for ``topic``; ``entity`` fixes the place, ``avoid`` names places not to take."""
    place = entity or draw.pick([name for name in PLACES if name not in avoid])
    pool = topic.values
    false, true, *rest = draw.distinct(pool.values, 2 + _THIRDS + 1, pool.clash)
    return Cast(
        topic=topic,
        entity=place,
        false=false,
        true=true,
        third=tuple(rest[:_THIRDS]),
        swap=rest[_THIRDS],
        salt=draw.token(HOST_DIGITS),
    )


def introduce(entries: tuple[ScenarioEntry, ...]) -> tuple[Step, ...]:
    """The step that brings each entry into the context."""
    return tuple(_INTRODUCTIONS[entry.kind](entry.key) for entry in entries)


_INTRODUCTIONS: Mapping[EntryKind, Callable[[str], Step]] = {
    "seal": lambda key: SealStep(entry=key, step="seal"),
    "given": lambda key: GiveStep(entry=key, step="give"),
    "claim": lambda key: SayStep(entry=key, step="say"),
}

ASK = AskStep(step="ask")
