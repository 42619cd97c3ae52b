"""Stage B: a language model is asked in both orders, and only what it says both times counts.

A model that answers by position, by the last instruction it read or at random disagrees with itself, and then the
verdict is `undecided`; so it is where an answer is unusable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ledger_core.providers import LlmProvider
from ledger_core.verification.answers import Answer, Defect, Relation, Span, read_answer
from ledger_core.verification.passages import Passage
from ledger_core.verification.prompt import question
from ledger_core.verification.screening import Screening
from ledger_core.verification.settings import Settings

Verdict = Literal["contradict", "support", "undecided"]
Ground = Literal["agreed", "neither", "disagreed", "cut", "unparsable", "not_verbatim"]
"""Why the verdict is what it is: both orders agree; the first that says `neither`; they disagree; or an unusable answer."""

ELISION = "\n[…]\n"
"""Stands between passages of a text that is too long to be shown whole."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer."""

    target_first: bool
    """Whether the target was record A."""
    model: str
    """The model that answered, as the provider reports it."""
    ended: bool
    answer: str
    """The model's own words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A turn's answer in terms of target and candidate."""

    relation: Relation | None
    """None where the answer is unusable."""
    defect: Defect | None
    target_quote: Span | None
    candidate_quote: Span | None


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What stage B found about one pair."""

    verdict: Verdict
    ground: Ground
    turns: tuple[Turn, ...]
    """One, or two where the first could still have led to a decision."""


def adjudicate(screening: Screening, llm: LlmProvider, settings: Settings) -> Adjudication:
    """Ask ``llm`` how target and candidate relate, in both orders; the second only where the first decides something.

    Raises:
        ProviderError: the model does not serve; nothing is decided, so that it can be asked again.
    """
    target = shown_text(screening.target.text, screening.shown[0], settings)
    candidate = shown_text(screening.candidate.text, screening.shown[1], settings)
    turns: list[Turn] = []
    for target_first in (True, False):
        a, b = (target, candidate) if target_first else (candidate, target)
        said = llm.complete(question(a, b), max_tokens=settings.answer_tokens)
        turns.append(Turn(target_first, said.model, said.finish == "stop", _encodable(said.text)))
        if read_turn(turns[-1], screening.target.text, screening.candidate.text).relation in {None, "neither"}:
            break
    verdict, ground = conclude(tuple(turns), screening.target.text, screening.candidate.text)
    return Adjudication(verdict, ground, tuple(turns))


def conclude(turns: tuple[Turn, ...], target: str, candidate: str) -> tuple[Verdict, Ground]:
    """The verdict that ``turns`` give over the two texts: a function of what was said, and of nothing else."""
    readings = [read_turn(turn, target, candidate) for turn in turns]
    for reading in readings:
        if reading.defect is not None:
            return "undecided", reading.defect
    relations = {reading.relation for reading in readings}
    if relations == {"neither"}:
        return "undecided", "neither"
    both_orders = {turn.target_first for turn in turns} == {True, False}
    if both_orders and relations == {"contradict"}:
        return "contradict", "agreed"
    if both_orders and relations == {"support"}:
        return "support", "agreed"
    return "undecided", "disagreed"


def read_turn(turn: Turn, target: str, candidate: str) -> Reading:
    """The answer of ``turn``, its quotes looked up in the whole texts."""
    a, b = (target, candidate) if turn.target_first else (candidate, target)
    found = read_answer(turn.answer, ended=turn.ended, a=a, b=b)
    if not isinstance(found, Answer):
        return Reading(None, found, None, None)
    if found.quotes is None:
        return Reading(found.relation, None, None, None)
    quote_a, quote_b = found.quotes
    ours, theirs = (quote_a, quote_b) if turn.target_first else (quote_b, quote_a)
    return Reading(found.relation, None, ours, theirs)


def _encodable(text: str) -> str:
    """``text`` with lone surrogates spelled out: a receipt is UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def shown_text(text: str, nearest: tuple[Passage, ...], settings: Settings) -> str:
    """What the model reads of ``text``: all of it, or its passages that are nearest to the other text."""
    if len(text) <= settings.shown_characters:
        return text
    return ELISION.join(passage.text for passage in nearest)[: settings.shown_characters]
