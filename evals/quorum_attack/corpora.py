"""Texts about questions, read from the files of those who collected them.

An *attack set* has the form of PoisonedRAG: questions with a correct and an incorrect answer and several texts written
to make a reader believe the incorrect one. An *honest set* is any collection in which writers who did not know of each
other wrote about one question; each reader below says who the writers are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from evals.errors import CorpusError
from ledger_core.belief.origin import ADDRESS_CLUSTER, host_cluster

LEAST_TEXT: Final = 100
"""Characters below which an honest passage is a caption or a link text and no evidence."""

_CITED = re.compile(r"\s*\[\d+\]\s*(\S+)\s+(.*)", re.DOTALL)
"""How ExpertQA writes a passage: its number, its address, its text."""


@dataclass(frozen=True, slots=True)
class AttackQuestion:
    """One question and what an attacker wrote about it."""

    key: str
    question: str
    correct: str
    incorrect: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttackSet:
    """Questions under attack."""

    name: str
    digest: str
    """SHA-256 of the file."""
    questions: tuple[AttackQuestion, ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """Characters of every attack text, ascending."""
        return tuple(sorted(len(text) for question in self.questions for text in question.texts))


@dataclass(frozen=True, slots=True)
class Passage:
    """What one honest writer says about a question."""

    origin: str
    """Whoever wrote it: an origin cluster, or the name of a writer."""
    text: str


@dataclass(frozen=True, slots=True)
class HonestQuestion:
    """One question with passages of several origins."""

    key: str
    """The question's number in its file; with ``/`` and a claim's number where only one claim of it is meant."""
    question: str
    passages: tuple[Passage, ...]

    def pairs(self) -> Iterator[tuple[Passage, Passage]]:
        """Pairs of passages of different origins."""
        return ((a, b) for a, b in combinations(self.passages, 2) if a.origin != b.origin)


@dataclass(frozen=True, slots=True)
class HonestSet:
    """Questions that honest writers answered independently of each other."""

    name: str
    digest: str
    who: str
    """Who the writers are and why they are independent, in one sentence."""
    questions: tuple[HonestQuestion, ...]


def read_attack_set(path: Path) -> AttackSet:
    """An attack set from a JSON object (or array) of questions with ``adv_texts``.

    Raises:
        CorpusError: the file cannot be read, has another form, or gives a question fewer than two texts.
    """
    data = _bytes(path)
    records = _json(data, path)
    rows = list(records.values()) if isinstance(records, dict) else records
    if not isinstance(rows, list) or not rows:
        raise CorpusError(f"{path} holds no questions; an attack set is a JSON object of questions with `adv_texts`")
    return AttackSet(path.stem, _digest(data), tuple(_attack_question(row, path) for row in rows))


def read_honest_sets(path: Path) -> tuple[HonestSet, ...]:
    """The honest sets of a JSON Lines file in one of the known forms, told by its fields.

    Raises:
        CorpusError: the file cannot be read, has no known form, or no question with two origins.
    """
    data = _bytes(path)
    rows = [_json(line, path) for line in data.splitlines() if line.strip()]
    for form in _FORMS:
        if rows and all(isinstance(row, dict) and form.fields <= row.keys() for row in rows):
            found = [
                HonestSet(f"{path.parent.name}/{path.stem}{view.suffix}", _digest(data), view.who, view.of(rows))
                for view in form.views
            ]
            if any(honest.questions for honest in found):
                return tuple(honest for honest in found if honest.questions)
    known = "; ".join(f"{form.name} ({', '.join(sorted(form.fields))})" for form in _FORMS)
    raise CorpusError(f"{path} holds no question with passages of two origins in a known form; known: {known}")


def half_of(key: str) -> int:
    """0 or 1: which half of a split by question ``key`` belongs to; the same for ever, and one for a question's claims."""
    return hashlib.sha256(f"veritas-quorum-attack-split\0{question_of(key)}".encode()).digest()[0] & 1


def question_of(key: str) -> str:
    """The key of the question that ``key`` is about as a whole or in one claim."""
    return key.partition("/")[0]


def _attack_question(row: Any, path: Path) -> AttackQuestion:
    try:
        texts = tuple(_text(text) for text in row["adv_texts"])
        found = AttackQuestion(
            str(row["id"]), _text(row["question"]), str(row["correct answer"]), str(row["incorrect answer"]), texts
        )
    except (KeyError, TypeError) as error:
        raise CorpusError(f"{path}: {str(row)[:80]!r} lacks {error}; see docs/independence.md for the form") from error
    if len(texts) < 2:  # noqa: PLR2004 - a quorum of one attacker's text is no question
        raise CorpusError(f"{path}: question {found.key!r} has {len(texts)} adversarial texts; an attack needs two")
    return found


def _pages_of_a_question(number: int, row: dict[str, Any]) -> Iterator[HonestQuestion]:
    cited = (text for answer in row["answers"].values() for claim in answer["claims"] for text in claim["evidence"])
    yield HonestQuestion(f"{number}", _text(row["question"]), _cited_pages(cited))


def _pages_of_a_claim(number: int, row: dict[str, Any]) -> Iterator[HonestQuestion]:
    claims = (claim for answer in row["answers"].values() for claim in answer["claims"])
    for place, claim in enumerate(claims):
        if claim["claim_string"].strip():
            yield HonestQuestion(f"{number}/{place}", _text(claim["claim_string"]), _cited_pages(claim["evidence"]))


def _cited_pages(evidence: Iterable[str]) -> tuple[Passage, ...]:
    """Every cited page with a text once, by its registrable domain."""
    pages: dict[str, Passage] = {}
    for text in evidence:
        cited = _CITED.fullmatch(text)
        if cited is None or len(cited[2].strip()) < LEAST_TEXT:
            continue
        origin = host_cluster(urlsplit(cited[1]).hostname or "")
        if origin != ADDRESS_CLUSTER:
            pages.setdefault(cited[1], Passage(origin, cited[2].strip()))
    return tuple(pages.values())


def _two_writers(number: int, row: dict[str, Any]) -> Iterator[HonestQuestion]:
    said = [("a language model", row["counter_memory"]), ("a human annotator", row["counter_memory_aligned_evidence"])]
    passages = tuple(Passage(origin, text.strip()) for origin, text in said if len(text.strip()) >= LEAST_TEXT)
    yield HonestQuestion(f"{number}", _text(row["question"]), passages)


def _listed(number: int, row: dict[str, Any]) -> Iterator[HonestQuestion]:
    passages = tuple(Passage(_text(passage["origin"]), _text(passage["text"])) for passage in row["passages"])
    yield HonestQuestion(f"{number}", _text(row["question"]), passages)


@dataclass(frozen=True, slots=True)
class _View:
    """One way to read a form: which passages speak about one thing."""

    suffix: str
    who: str
    read: Callable[[int, dict[str, Any]], Iterator[HonestQuestion]]

    def of(self, rows: Sequence[dict[str, Any]]) -> tuple[HonestQuestion, ...]:
        """The questions of ``rows`` that have passages of two origins."""
        found = (question for number, row in enumerate(rows) for question in self.read(number, row))
        return tuple(question for question in found if next(question.pairs(), None) is not None)


@dataclass(frozen=True, slots=True)
class _Form:
    """One known form of a file: its rows have ``fields``."""

    name: str
    fields: frozenset[str]
    views: tuple[_View, ...]


_FORMS: Final = (
    _Form(
        "ExpertQA",
        frozenset({"question", "answers"}),
        (
            _View(
                "",
                "web pages of different registrable domains, cited in answers to one question",
                _pages_of_a_question,
            ),
            _View(", one claim", "of those pages the ones cited for one and the same claim", _pages_of_a_claim),
        ),
    ),
    _Form(
        "ConflictQA",
        frozenset({"question", "counter_memory", "counter_memory_aligned_evidence"}),
        (
            _View(
                "",
                "a language model's text for the true answer to a question, and the facts that an annotator wrote down for it",
                _two_writers,
            ),
        ),
    ),
    _Form("passages", frozenset({"question", "passages"}), (_View("", "passages listed with their origins", _listed),)),
)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CorpusError(f"{str(value)[:60]!r} stands where a text must stand")
    return value.strip()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error


def _json(data: bytes, path: Path) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} is no JSON: {error}") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
