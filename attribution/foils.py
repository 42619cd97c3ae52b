"""Foils and matched swaps for text that no scenario wrote: the same words with a number, an entity or the polarity exchanged.

A *foil* is a claim with its value swapped: scoring the claim against its foils cancels what merely naming the subject does to
both. A *matched swap* is a context entry with its values swapped: replacing an entry by it asks whether the entry's *content*
carried the claim. Both are deterministic functions of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
_CLASSES: tuple[tuple[str, ...], ...] = (
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
)
"""Closed classes of names: one is exchanged for another of its class."""
_STRANGERS = ("Marlow", "Tessin", "Orrin", "Quentin", "Halvard", "Brisby")
"""Names that stand in for any other entity: none of them is likelier than another for being in the context."""
_FOILS = 2
"""Foils of one kind."""


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


def claim_foils(claim: str, present: str = "") -> tuple[Foil, ...]:
    """Foils of ``claim`` by number, else by entity, else by polarity; empty where nothing in it can be exchanged.

    Only an entity that ends the claim is exchanged: there it is the value, elsewhere mostly the subject, and a foil about
    another subject measures which entry *names* the subject (null claims moved by up to 24 nats).

    Args:
        claim: the claim's text.
        present: text in which a foil's entity must not occur, so that no entry names it: the context.
    """
    foils: list[Foil] = []
    number = _NUMBER.search(claim)
    if number is not None:
        foils.extend(
            Foil("number", _splice(claim, number, _shift_digits(number.group(), shift))) for shift in (_DIGIT_SHIFT, 5)
        )
    named = _final_entities(claim)
    if named and not foils:
        foils.extend(Foil("entity", _splice(claim, named[-1], other)) for other in _others(named[-1].group(), present))
    if not foils:
        for pattern, replacement in _POLARITY:
            if pattern.search(claim):
                foils.append(Foil("polarity", pattern.sub(replacement, claim, count=1)))
                break
    return tuple(foil for foil in foils if foil.text != claim)


def claim_value(claim: str) -> str | None:
    """What the foils of ``claim`` exchange: its number, else the name it ends with; None where it is neither."""
    number = _NUMBER.search(claim)
    if number is not None:
        return number.group()
    named = _final_entities(claim)
    return named[-1].group() if named else None


def _final_entities(claim: str) -> list[re.Match[str]]:
    """Entities with nothing but punctuation after them: where a claim states its value."""
    return [entity for entity in _entities(claim) if not any(map(str.isalnum, claim[entity.end() :]))]


def exchanged_entity(claim: str, present: str = "") -> tuple[str, str] | None:
    """The entity that the foils of ``claim`` exchange, and its first stand-in; None where they exchange no entity."""
    named = _final_entities(claim)
    if not named or _NUMBER.search(claim):
        return None
    value = named[-1].group()
    others = _others(value, present)
    return (value, others[0]) if others else None


def _others(entity: str, present: str) -> tuple[str, ...]:
    """Entities of the same class that ``present`` does not name, at most :data:`_FOILS`."""
    pool = next((names for names in _CLASSES if entity in names), _STRANGERS)
    return tuple(name for name in pool if name != entity and name not in present)[:_FOILS]


def matched_swap(entry: str, entities: Mapping[str, str] | None = None) -> str | None:
    """``entry`` with every number shifted, truth values and ``entities`` exchanged; None where nothing can be.

    Other names stay: an entry that merely names a claim's subject keeps that effect under the swap.

    Args:
        entry: the entry's text.
        entities: entities that claims state as their value, and what stands in for them.
    """
    swapped = entry
    for value, other in (entities or {}).items():
        swapped = swapped.replace(value, other)
    swapped = _NUMBER.sub(lambda match: _shift_digits(match.group(), _DIGIT_SHIFT), swapped)
    swapped = re.sub(r"\b(true|false)\b", lambda match: "false" if match.group() == "true" else "true", swapped)
    if swapped != entry:
        return swapped
    for pattern, replacement in _POLARITY:
        if pattern.search(entry):
            return pattern.sub(replacement, entry, count=1)
    return None
