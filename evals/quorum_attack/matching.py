"""Honest passages cut to the lengths of attack texts: similarity measures depend on length."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from evals.errors import CorpusError
from evals.quorum_attack.corpora import HonestQuestion, HonestSet, Passage


def matched(honest: HonestSet, lengths: Iterable[int]) -> HonestSet:
    """``honest`` with every passage cut to a length of the attack texts.

    Every passage gets one of
    ``lengths``, drawn by a hash of its question and its text, and is cut to the stretch from a sentence's start that
    names most words of the question: a witness is quoted where it speaks about the matter.
    """
    ranked = sorted(lengths)
    if not ranked:
        raise CorpusError("there is no attack text whose length could be matched")
    questions = (
        HonestQuestion(
            question.key,
            question.question,
            tuple(
                Passage(passage.origin, _cut(passage.text, question.question, _drawn(question, passage, ranked)))
                for passage in question.passages
            ),
        )
        for question in honest.questions
    )
    return HonestSet(honest.name, honest.digest, honest.who, tuple(questions))


_SENTENCE = re.compile(r"(?:^|(?<=[.!?\n]))\s*(?=\S)")
_WORD = re.compile(r"\w{4,}")


def _drawn(question: HonestQuestion, passage: Passage, ranked: list[int]) -> int:
    draw = hashlib.sha256(f"{question.key}\0{passage.origin}\0{passage.text}".encode()).digest()
    return ranked[int.from_bytes(draw[:8], "big") % len(ranked)]


def _cut(text: str, question: str, length: int) -> str:
    """The stretch of ``text`` of at most ``length`` characters, to a whole word, that names most of the question."""
    if len(text) <= length:
        return text
    wanted = set(_WORD.findall(question.casefold()))
    starts = [match.end() for match in _SENTENCE.finditer(text) if match.end() + length <= len(text)] or [0]
    best = max(starts, key=lambda at: (len(wanted & set(_WORD.findall(text[at : at + length].casefold()))), -at))
    stretch = text[best : best + length]
    whole = stretch.rpartition(" ")[0] if best + length < len(text) and text[best + length].isalnum() else stretch
    return whole.strip() or stretch
