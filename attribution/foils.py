"""Foils and matched swaps for text that no scenario wrote: the same words with a number, an entity or the polarity exchanged.

A *foil* is a claim with its value swapped: scoring the claim against its foils cancels what merely naming the subject does to
both. A *matched swap* is a context entry with its values swapped: replacing an entry by it asks whether the entry's *content*
carried the claim. Both are deterministic functions of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

FoilKind = Literal["number", "entity", "polarity"]

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_ENTITY = re.compile(r"(?<![\w'])[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_POLARITY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\bcan't\b"), "can"),
    (re.compile(r"\bwon't\b"), "will"),
    (re.compile(r"\b(is|are|was|were|has|have|had|does|do|did|will|would|should|could)(?: not|n't)\b"), r"\1"),
    (re.compile(r"\bcan\b"), "cannot"),
    (re.compile(r"\b(is|are|was|were|has|have|had|does|do|did|will|would|should|could)\b"), r"\1 not"),
    (re.compile(r"\btrue\b"), "false"),
    (re.compile(r"\bfalse\b"), "true"),
    (re.compile(r"\bYes\b"), "No"),
    (re.compile(r"\bNo\b"), "Yes"),
)
_STARTERS = frozenset(
    "A An The This That These Those It I We You He She They There Here If In On At To For From And But Or So Please Your"
    " My Our His Her Its Their What Which Who When Where Why How Is Are Was Were Do Does Did Can Could Will Would Should"
    " Have Has Had Let Once Since After Before As By With Yes No Not Thank Thanks Sure Unfortunately However".split()
)
_DIGIT_SHIFT = 3


@dataclass(frozen=True, slots=True)
class Foil:
    """A claim with one thing exchanged."""

    kind: FoilKind
    text: str


def _shift_digits(number: str, by: int) -> str:
    """Every digit moved by ``by`` modulo ten; a leading digit never becomes 0, so the shape of the number stays."""
    shifted = []
    for place, character in enumerate(number):
        if not character.isdigit() or not character.isascii():
            shifted.append(character)
            continue
        digit = (int(character) + by) % 10
        leads = place == 0 or not number[place - 1].isdigit()
        if leads and digit == 0 and len(number) > 1:
            digit = 9 if character != "9" else 8
        shifted.append(str(digit))
    return "".join(shifted)


def _entities(text: str) -> list[re.Match[str]]:
    return [match for match in _ENTITY.finditer(text) if match.group().split()[0] not in _STARTERS]


def _splice(text: str, match: re.Match[str], replacement: str) -> str:
    return text[: match.start()] + replacement + text[match.end() :]


def claim_foils(claim: str, context_entities: tuple[str, ...] = ()) -> tuple[Foil, ...]:
    """Foils of ``claim``, number first, then entity, then polarity; empty where nothing in it can be exchanged.

    Args:
        claim: the claim's text.
        context_entities: named entities of the context, in order; the first that the claim does not name replaces its last one.
    """
    foils: list[Foil] = []
    number = _NUMBER.search(claim)
    if number is not None:
        foils.extend(
            Foil("number", _splice(claim, number, _shift_digits(number.group(), shift))) for shift in (_DIGIT_SHIFT, 5)
        )
    named = _entities(claim)
    if named:
        others = [entity for entity in context_entities if entity not in claim]
        if others:
            foils.append(Foil("entity", _splice(claim, named[-1], others[0])))
    if not foils:
        for pattern, replacement in _POLARITY:
            if pattern.search(claim):
                foils.append(Foil("polarity", pattern.sub(replacement, claim, count=1)))
                break
    return tuple(foil for foil in foils if foil.text != claim)


def context_entities(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Named entities in ``texts``, each once, in order of appearance."""
    return tuple(dict.fromkeys(match.group() for text in texts for match in _entities(text)))


def matched_swap(entry: str) -> str | None:
    """``entry`` with every number shifted and truth values exchanged; None where it holds neither.

    Names stay: an entry that merely names a claim's subject keeps that effect under the swap.
    """
    swapped = _NUMBER.sub(lambda match: _shift_digits(match.group(), _DIGIT_SHIFT), entry)
    swapped = re.sub(r"\b(true|false)\b", lambda match: "false" if match.group() == "true" else "true", swapped)
    if swapped != entry:
        return swapped
    for pattern, replacement in _POLARITY:
        if pattern.search(entry):
            return pattern.sub(replacement, entry, count=1)
    return None
