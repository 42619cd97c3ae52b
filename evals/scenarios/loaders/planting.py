"""From what a record plants to its two scenarios: the premise first, and the corrections first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from evals.errors import ScenarioError
from evals.matcher import Expected, ValueKind
from evals.mentions import READERS
from evals.scenarios.base import (
    DeclaredParent,
    JudgeStep,
    Question,
    Role,
    Scenario,
    ScenarioEntry,
    Step,
)
from evals.scenarios.cast import ASK, introduce
from evals.scenarios.draw import Draw
from evals.scenarios.loaders.source import Unusable
from evals.trials import PremiseOrder
from ledger_core.kernel.errors import LedgerError
from ledger_core.kernel.types import PPM

LOADER_VERSION = "l1"
"""Part of every loaded scenario's id; a change of what is made of a record needs another one (a test holds the digests)."""

ORDERS: tuple[PremiseOrder, ...] = ("premise-first", "corrections-first")

STEM = "The answer is"

_CORRECTIONS = ("correction-a", "correction-b")
_HOST_DIGITS = 6
_FURTHER = 3
"""Values that nothing of the record states: two third ones, and the one of matched swaps."""
_WITH_VOCABULARY = frozenset({ValueKind.NAME, ValueKind.PLACE, ValueKind.TERM})
_READ_BY_PATTERN = (ValueKind.DATE, ValueKind.NUMBER, ValueKind.MONTH, ValueKind.WEEKDAY)
_MOST_WORDS_OF_A_NUMBER = 2
_CAPITALISED = re.compile(r"[^\W\d_a-z]")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, the value it states if it states one, and the text with a value in its place that nothing else states."""

    text: str
    swap: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What the agent says on the ground of the premise, and the same with its value exchanged."""

    passage: Passage
    foils: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """What one record plants: a false premise, a claim built on it, two corrections, and the question."""

    wording: str
    """The cluster: records that are not independent of each other share it."""
    premise: Passage
    claim: Claim
    corrections: tuple[Passage, Passage]
    question: Question
    variant: str = "base"

    def scenarios(self, population: str, *, place: int, seed: int) -> tuple[Scenario, ...]:
        """The scenario of each premise order; only hosts and the order of entries differ.

        Raises:
            Unusable: the record gives no sound scenario, and why.
        """
        try:
            return tuple(
                self._scenario(population, order, index=len(ORDERS) * place + rank, seed=seed)
                for rank, order in enumerate(ORDERS)
            )
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise Unusable(f"gives no sound scenario: {first['msg']}") from error
        except LedgerError as error:
            raise Unusable(f"holds text that no context can hold: {error}") from error

    def _scenario(self, population: str, order: PremiseOrder, *, index: int, seed: int) -> Scenario:
        hosts = Draw("host", LOADER_VERSION, population, self.wording, self.question.text, order)
        built = (_sealed("premise", "premise", self.premise, hosts), self._claim())
        corrections = tuple(
            _sealed(key, "correction", passage, hosts)
            for key, passage in zip(_CORRECTIONS, self.corrections, strict=True)
        )
        entries = (*built, *corrections) if order == "premise-first" else (*corrections, *built)
        verdict: Step = JudgeStep(candidates=_CORRECTIONS, step="judge", target="premise")
        return Scenario(
            entries=entries,
            family=population,
            generator=LOADER_VERSION,
            index=index,
            order=order,
            question=self.question,
            seed=seed,
            steps=(*introduce(entries), verdict, ASK),
            variant=self.variant,
            wording=self.wording,
        )

    def _claim(self) -> ScenarioEntry:
        return ScenarioEntry(
            declared=(DeclaredParent(key="premise", ppm=PPM),),
            foils=self.claim.foils,
            host=None,
            key="claim-1",
            kind="claim",
            role="dependent",
            swap=self.claim.passage.swap,
            text=self.claim.passage.text,
            tool=None,
            used=("premise",),
            value=self.claim.passage.value,
        )


def _sealed(key: str, role: Role, passage: Passage, hosts: Draw) -> ScenarioEntry:
    label = f"page-{hosts.token(_HOST_DIGITS)}"
    return ScenarioEntry(
        declared=(),
        foils=(),
        host=f"{label}.example",
        key=key,
        kind="seal",
        role=role,
        swap=passage.swap,
        text=passage.text,
        tool=f"read-{label}",
        used=(),
        value=passage.value,
    )


@dataclass(frozen=True, slots=True)
class Values:
    """The values a question is about, all of one kind and no two alike."""

    kind: ValueKind
    false: str
    true: str
    third: tuple[str, ...]
    swap: str

    def question(self, text: str) -> Question:
        """The question ``text``, whose own names an answer may repeat."""
        vocabulary = self.third if self.kind in _WITH_VOCABULARY else ()
        return Question(
            false=self.false,
            ignored=(text,),
            kind=self.kind,
            stem=STEM,
            text=text,
            third=self.third,
            true=self.true,
            vocabulary=vocabulary,
        )

    def claim(self, say: Callable[[str], str]) -> Claim:
        """The claim that states the false value."""
        foils = tuple(say(other) for other in (self.true, *self.third))
        return Claim(Passage(say(self.false), say(self.swap), self.false), foils)


def kind_of(values: Sequence[str]) -> ValueKind:
    """The narrowest kind as which every one of ``values`` reads; a name where all are capitalised, else a term."""
    for kind in _READ_BY_PATTERN:
        if all(_reads_as(kind, value) for value in values):
            return kind
    named = all(_CAPITALISED.match(word) for value in values for word in value.split() if len(word) > 3)  # noqa: PLR2004
    return ValueKind.NAME if named and all(_CAPITALISED.match(value) for value in values) else ValueKind.TERM


def _reads_as(kind: ValueKind, value: str) -> bool:
    if kind is ValueKind.NUMBER and len(value.split()) > _MOST_WORDS_OF_A_NUMBER:
        return False
    found = READERS[kind](value, (value,))
    return len(found) == 1 and found[0].start == 0


def draw_values(
    draw: Draw, *, false: str, true: str, pool: Mapping[str, ValueKind], absent_from: Sequence[str]
) -> Values:
    """The values of a question: what the record states, and further ones of their kind from the rest of the file.

    Args:
        draw: decides which.
        false: value of the premise.
        true: value of the corrections.
        pool: value -> kind, of the whole file.
        absent_from: texts that must state none of the further values.

    Raises:
        Unusable: the values cannot be told apart, or the file has too few of their kind.
    """
    kind = kind_of((false, true))
    try:
        Expected(kind=kind, true=true, false=false)
    except ScenarioError as error:
        raise Unusable("its two answers cannot be told apart") from error
    said = "\n".join((*absent_from, false, true))
    free = [
        value
        for value, its_kind in pool.items()
        if its_kind is kind and not (states(said, value) or states(value, false) or states(value, true))
    ]
    if len(free) < _FURTHER:
        raise Unusable(f"the file has fewer than {_FURTHER} other answers of its kind ({kind})")
    third_a, third_b, swap = draw.distinct(free, _FURTHER, lambda a, b: states(a, b) or states(b, a))
    return Values(kind, false, true, (third_a, third_b), swap)


def states(text: str, value: str) -> bool:
    """Whether ``text`` holds ``value`` as whole words, in any case."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def exchanged(text: str, old: str, new: str) -> str:
    """``text`` with every ``old``, as whole words, replaced by ``new``."""
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)
