"""What an attacker who knows the rule can do to texts they already have, without writing new ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from evals.quorum_attack.corpora import AttackSet

_BYLINES = ("By Alice Adams, Monday. ", "Bob Brown reports: ", "© Carol Clark. ", "Dan Davis, editor. ", "(Eve Evans) ")
_LOOK_ALIKES = str.maketrans("aeopcxy", "аеорсху")
_INVISIBLE = "\u200b"


def _bylines(attack: AttackSet, question: int, place: int) -> str:
    return _BYLINES[place % len(_BYLINES)] + _text(attack, question, place)


def _disguised(attack: AttackSet, question: int, place: int) -> str:
    """Every text but the first with look-alike letters and invisible characters."""
    text = _text(attack, question, place)
    return text if place == 0 else _INVISIBLE.join(text.translate(_LOOK_ALIKES))


def _enveloped(attack: AttackSet, question: int, place: int) -> str:
    record = {"id": f"{question}-{place}", "publisher": f"Publisher {place}", "body": _text(attack, question, place)}
    return json.dumps(record, sort_keys=bool(place % 2))


def _padded(times: int) -> Callable[[AttackSet, int, int], str]:
    """Each text followed by ``times`` texts about other questions, other ones for every text."""

    def rewrite(attack: AttackSet, question: int, place: int) -> str:
        fillers = [_text(attack, question + 1 + place * times + turn, place) for turn in range(times)]
        return " ".join([_text(attack, question, place), *fillers])

    return rewrite


def _text(attack: AttackSet, question: int, place: int) -> str:
    texts = attack.questions[question % len(attack.questions)].texts
    return texts[place % len(texts)]


REWRITES: Mapping[str, tuple[str, Callable[[AttackSet, int, int], str]]] = MappingProxyType(
    {
        "as-written": ("the texts as they are in the file", _text),
        "bylines": ("each text under another byline", _bylines),
        "disguised": ("look-alike letters and invisible characters in all texts but one", _disguised),
        "enveloped": ("each text as a field of a JSON record with its own id and publisher", _enveloped),
        "padded": ("each text followed by a text about something else, as long as itself", _padded(1)),
        "padded-thrice": ("each text followed by three texts about other things", _padded(3)),
    }
)
"""Name -> (what it does, the text at (question, place))."""


def rewritten(attack: AttackSet, name: str) -> AttackSet:
    """``attack`` with every text rewritten by the rewrite called ``name``."""
    _, rewrite = REWRITES[name]
    questions = tuple(
        replace(question, texts=tuple(rewrite(attack, number, place) for place in range(len(question.texts))))
        for number, question in enumerate(attack.questions)
    )
    return replace(attack, questions=questions)
