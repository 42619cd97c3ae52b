"""Finds the values that a text mentions, by kind, in one canonical spelling each.

A reader knows nothing about right and wrong; :mod:`evals.matcher` decides what a mention means.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType


class ValueKind(StrEnum):
    """What sort of value a question asks for."""

    NUMBER = "number"
    NAME = "name"
    """A person's name."""
    PLACE = "place"
    TERM = "term"
    """A word of a closed list: a colour, a material."""
    WEEKDAY = "weekday"
    MONTH = "month"
    DATE = "date"
    """A day and a month, with or without a year."""
    YES_NO = "yes-no"


@dataclass(frozen=True, slots=True)
class Mention:
    """One value in a text."""

    value: str
    """Canonical spelling; equal values have equal spellings."""
    start: int
    stop: int


Reader = Callable[[str, Sequence[str]], list[Mention]]
"""(text, known values) -> mentions in order of appearance."""


def fold(text: str) -> str:
    """``text`` without case and accents, character for character where that is possible."""
    return "".join(_fold_character(character) for character in text)


def _fold_character(character: str) -> str:
    base = unicodedata.normalize("NFKD", character)
    kept = "".join(c for c in base if not unicodedata.combining(c)).casefold()
    return kept if len(kept) == 1 else character.casefold()[:1] or character


# Numbers ------------------------------------------------------------------------------------------------------------

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
        " eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * (rank + 2) for rank, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WORD = "|".join((*_UNITS, *_TENS, *_SCALES))
_NUMBER_WORDS = re.compile(rf"\b(?:{_WORD})(?:(?:[\s-]+|\s+and\s+)(?:{_WORD}))*\b", re.IGNORECASE)
_GROUPS = ",'’\u00a0\u2009\u202f"
_DIGITS = re.compile(
    rf"(?<![\w.])(?P<sign>(?<!\S)[-−])?(?P<digits>\d{{1,3}}(?:[{_GROUPS}]\d{{3}})+(?!\d)|\d+)(?P<fraction>\.\d+)?"
    r"(?=(?:st|nd|rd|th|[a-z]{2,})?(?![\w]))"
)


def spoken_number(text: str) -> int | None:
    """The value of an English number in words, such as ``two hundred and five``; None where the words make no number."""
    total = group = 0
    last = 10**9
    for word in re.split(r"[\s-]+", text.casefold()):
        if word == "and":
            continue
        if word in _UNITS or word in _TENS:
            value = _UNITS.get(word, _TENS.get(word, 0))
            if value >= last or (last < 100 and (last < 20 or value >= 10)):  # noqa: PLR2004 - "forty five", never "five forty"
                return None
            group, last = group + value, value
        elif word == "hundred":
            group, last = max(group, 1) * 100, 100
        elif word in _SCALES:
            total, group, last = total + max(group, 1) * _SCALES[word], 0, _SCALES[word]
    return total + group


def _number(literal: str) -> str:
    plain = format(Decimal(literal), "f")
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) or "0"


def numbers(text: str, known: Sequence[str]) -> list[Mention]:
    """Numbers in digits (grouped by thousands or not) and in words; a lone "one" only where it can be meant."""
    found = []
    for match in _DIGITS.finditer(text):
        digits = "".join(c for c in match["digits"] if c.isdigit())
        sign = "-" if match["sign"] else ""
        found.append(Mention(_number(sign + digits + (match["fraction"] or "")), match.start(), match.end()))
    for match in _NUMBER_WORDS.finditer(text):
        value = spoken_number(match.group())
        pronoun = match.group().casefold() == "one" and "1" not in known and text.strip(" .!").casefold() != "one"
        if value is not None and not pronoun:
            found.append(Mention(str(value), match.start(), match.end()))
    return sorted(found, key=lambda mention: mention.start)


# Dates --------------------------------------------------------------------------------------------------------------

_MONTHS = {
    name: month
    for month, names in enumerate(
        "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sept|sep october|oct"
        " november|nov december|dec".split(),
        start=1,
    )
    for name in names.split("|")
}
_ORDINALS = {
    word: day
    for day, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
        " sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth"
        " twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first".split(),
        start=1,
    )
}
_DAY = rf"(?P<day>\d{{1,2}}|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})(?:st|nd|rd|th)?"
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:,?\s+(?P<year>\d{4})\b)?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?:\s+day)?(?:\s+of)?(?:\s+the\s+month\s+of)?\s+{_MONTH}{_YEAR}",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b{_YEAR}",
        r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b",
    )
)
_SLASHED = re.compile(r"\b(\d{1,2})[/.](\d{1,2})(?:[/.](\d{4}))?\b")
_MONTHS_A_YEAR = 12
_DAYS_A_MONTH = 31


def dates(text: str, known: Sequence[str]) -> list[Mention]:  # noqa: ARG001 - one signature for all readers
    """Days of a month as ``--MM-DD`` or ``YYYY-MM-DD``; a slashed date only where day and month cannot be confused."""
    found = [_date(match) for pattern in _DATES for match in pattern.finditer(text)]
    found += [_slashed(match) for match in _SLASHED.finditer(text)]
    return sorted((mention for mention in found if mention is not None), key=lambda mention: mention.start)


def _date(match: re.Match[str]) -> Mention | None:
    day_text, month_text = match["day"].casefold(), match["month"].casefold()
    day = _ORDINALS.get(day_text) or int(day_text)
    month = _MONTHS.get(month_text) or int(month_text)
    return _checked_date(match, match["year"], month, day)


def _slashed(match: re.Match[str]) -> Mention | None:
    left, right = int(match[1]), int(match[2])
    if left != right and max(left, right) <= _MONTHS_A_YEAR:
        return None
    day, month = (left, right) if right <= _MONTHS_A_YEAR else (right, left)
    return _checked_date(match, match[3], month, day)


def _checked_date(match: re.Match[str], year: str | None, month: int, day: int) -> Mention | None:
    if not (1 <= month <= _MONTHS_A_YEAR and 1 <= day <= _DAYS_A_MONTH):
        return None
    return Mention(f"{year or '-'}-{month:02d}-{day:02d}", match.start(), match.end())


# Weekdays and months ------------------------------------------------------------------------------------------------

_WEEKDAY = re.compile(
    r"\b(?:(?P<full>(?i:mon|tues|wednes|thurs|fri|satur|sun))(?i:days?)|(?P<short>Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,2}\.)"
    r"(?!\w)"
)
_MONTH_NAME = re.compile(
    r"\b(?:(?P<full>(?i:january|february|april|june|july|august|september|october|november|december)|M(?:arch|ARCH|ay|AY))"
    r"|(?P<short>Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)(?!\w)"
)


def weekdays(text: str, known: Sequence[str]) -> list[Mention]:
    """Weekdays by their first three letters; a date is a value too, though no weekday."""
    named = _named(_WEEKDAY, text)
    return sorted((*named, *dates(text, known)), key=lambda mention: mention.start)


def months(text: str, known: Sequence[str]) -> list[Mention]:  # noqa: ARG001 - one signature for all readers
    """Months by their first three letters, also inside a date; "may" and "march" in lower case only by themselves."""
    alone = text.strip(" .!").capitalize()
    return _named(_MONTH_NAME, text.replace(alone.casefold(), alone) if alone in {"May", "March"} else text)


def _named(pattern: re.Pattern[str], text: str) -> list[Mention]:
    return [
        Mention((match["full"] or match["short"])[:3].casefold(), match.start(), match.end())
        for match in pattern.finditer(text)
    ]


# Words --------------------------------------------------------------------------------------------------------------


def words(text: str, known: Sequence[str]) -> list[Mention]:
    """Whole-word occurrences of known values, without case and accents; of overlapping ones the longest."""
    folded = fold(text)
    found: list[Mention] = []
    for value in sorted(known, key=len, reverse=True):
        pattern = r"[\s\u00a0-]+".join(re.escape(part) for part in fold(value).split())
        for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", folded):
            if all(match.end() <= other.start or match.start() >= other.stop for other in found):
                found.append(Mention(fold(value), match.start(), match.end()))
    return sorted(found, key=lambda mention: mention.start)


_YES_NO = re.compile(
    r"\b(?:(?P<no>not\s+(?:true|correct|right|so)|no|nope|never|false|incorrect|untrue|wrong)"
    r"|(?P<yes>yes|yeah|yep|true|correct|right|indeed))\b",
    re.IGNORECASE,
)


def yes_no(text: str, known: Sequence[str]) -> list[Mention]:  # noqa: ARG001 - one signature for all readers
    """The answer's polarity: a leading yes or no decides alone ("No, that is not correct")."""
    found = [Mention("no" if match["no"] else "yes", match.start(), match.end()) for match in _YES_NO.finditer(text)]
    leads = found and not re.search(r"\w", text[: found[0].start])
    return found[:1] if leads else found


_CAPITALISED = re.compile(r"(?<![\w'’])[^\W\d_a-z][\w'’-]*(?:\s+[^\W\d_a-z][\w'’-]*)*")
_NO_NAMES = frozenset(
    "a an the it its he she they we i you this that these those there here in on at to for from and but or so if as not"
    " no yes by with who what which where when mr mrs ms dr answer question note notes".split()
)


def proper_nouns(text: str, ignored: Sequence[str]) -> Iterator[Mention]:
    """Runs of capitalised words that may name a person or a place, except ``ignored`` words and sentence openers."""
    skipped = _NO_NAMES | {fold(word) for phrase in ignored for word in phrase.split()}
    for match in _CAPITALISED.finditer(text):
        kept = [word for word in match.group().split() if fold(word.strip(".'’")) not in skipped]
        if kept:
            yield Mention(fold(" ".join(kept)), match.start(), match.end())


READERS: Mapping[ValueKind, Reader] = MappingProxyType(
    {
        ValueKind.NUMBER: numbers,
        ValueKind.NAME: words,
        ValueKind.PLACE: words,
        ValueKind.TERM: words,
        ValueKind.WEEKDAY: weekdays,
        ValueKind.MONTH: months,
        ValueKind.DATE: dates,
        ValueKind.YES_NO: yes_no,
    }
)
"""Kind of value -> its reader."""
