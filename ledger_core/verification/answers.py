"""One answer of the language model, read strictly: a relation with a verbatim quote of either record, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from ledger_core.kernel import jcs
from ledger_core.kernel.errors import JcsProfileError

Relation = Literal["contradict", "support", "neither"]
Defect = Literal["cut", "unparsable", "not_verbatim"]
"""Why an answer counts for nothing: it did not end by itself, is not the JSON object asked for, or quotes what a record
does not say."""

_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_MEMBERS = {"relation", "quote_a", "quote_b"}
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Span:
    """A byte range of a record's UTF-8 text."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Answer:
    """How A and B relate, and the words of each that say so; no words for `neither`."""

    relation: Relation
    quotes: tuple[Span, Span] | None


def read_answer(text: str, *, ended: bool, a: str, b: str) -> Answer | Defect:
    """Read what the model said about records ``a`` and ``b``; ``ended`` is whether it ended by itself."""
    if not ended:
        return "cut"
    said = _members(text)
    if said is None:
        return "unparsable"
    relation, quote_a, quote_b = said
    if relation == "neither":
        return Answer(relation, None)
    span_a, span_b = _span(quote_a, a), _span(quote_b, b)
    if span_a is None or span_b is None:
        return "not_verbatim"
    return Answer(relation, (span_a, span_b))


def _members(text: str) -> tuple[Relation, str, str] | None:
    """(relation, quote of A, quote of B), if ``text`` is exactly the JSON object asked for, fenced or not."""
    stripped = text.strip()
    fenced = _FENCED.fullmatch(stripped)
    try:
        value = jcs.parse((fenced.group(1) if fenced else stripped).encode())
    except (JcsProfileError, UnicodeEncodeError):
        return None
    if not isinstance(value, dict) or value.keys() != _MEMBERS:
        return None
    quote_a, quote_b = value["quote_a"], value["quote_b"]
    if not isinstance(quote_a, str) or not isinstance(quote_b, str):
        return None
    for relation in _RELATIONS:
        if value["relation"] == relation:
            return relation, quote_a, quote_b
    return None


def _span(quote: str, record: str) -> Span | None:
    """Where ``quote`` first stands in ``record``; None where it does not, or holds no word at all."""
    place = record.find(quote)
    if place < 0 or _WORD.search(quote) is None:
        return None
    start = len(record[:place].encode())
    return Span(start, start + len(quote.encode()))
