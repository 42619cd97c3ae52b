"""Claims of a message: the splitter ``sentences-v1`` and the citations it may carry.

A claim is a range of UTF-8 bytes of the message, and a message's claims tile it: what is measured about each is
measured about all of it. A fence or a table is one claim, whatever it holds; elsewhere a line ends a claim, and so does
``.``, ``!`` or ``?`` (with closing quotes or brackets) before white space and a capital, a digit or an opening quote,
unless the full stop belongs to a listed abbreviation, an initial or a list marker. White space belongs to the claim
before it.

The name is part of a generation's identity: another rule is another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from ledger_core.kernel.errors import CanonicalError

SPLITTER: Final = "sentences-v1"

_ABBREVIATION = re.compile(
    r"(?ai:adm|al|ave|blvd|brig|bros|capt|cf|cmdr|col|cpl|dept|dr|e\.g|esp|est|fr|gen|gov|hon|i\.e|incl|lt|maj|messrs|mme"
    r"|mr|mrs|ms|mt|ph\.d|pres|prof|rep|rev|sen|sgt|sr|st|supt|viz|vs)|[A-Z](?:\.[A-Z])+"
)
"""Words, without their last full stop, that end no claim; the last branch is ``U.S.`` and its like."""

_ABBREVIATION_BEFORE_DIGIT = re.compile(
    r"(?ai:apr|approx|art|aug|ca|ch|dec|eq|ext|feb|fig|figs|fri|jan|jul|jun|mar|mon|no|nos|nov|oct|op|p|para|pp|sat|sec"
    r"|sect|sep|sept|sun|tab|thu|thur|thurs|tue|tues|v|ver|vol|wed)"
)
"""Words that end no claim where a digit follows (``No. 5``), and do where a word follows (``No. Then``)."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TABLE_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t\r]*+\n?")
_STOP = re.compile(r"(?<![.!?])[.!?]++[\"'”’»)\]]*+[^\S\n]++")
_LIST_MARKER = re.compile(r"[\s>*+#-]*\(?(?:[0-9]{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\.")
_OPENING_QUOTES = frozenset("\"'“‘„«‹`")
_OPENING = "\"'“‘„«‹`([{*_"


class CiteKind(StrEnum):
    """How a message names what it rests on."""

    NUMBER = "number"
    """``[3]``: the third entry of the rendered context."""
    ENTRY = "entry"
    """``[entry:0123abcd]``: a prefix, of at least eight digits, of an event id."""
    CALL = "call"
    """The id of an earlier tool call."""


@dataclass(frozen=True, slots=True)
class Cite:
    """One citation; ``start`` and ``stop`` are bytes of the message's UTF-8."""

    kind: CiteKind
    value: str
    start: int
    stop: int


_CITE = re.compile(r"\[(?:(?P<number>[0-9]{1,4})|entry:(?P<entry>[0-9a-f]{8,64}))\]")
_SHORTEST_BARE_CALL = 6  # characters; a shorter id would be met by accident, so it counts only in brackets


def split_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """The claims of ``text`` as ranges ``[start, stop)`` of its UTF-8 bytes.

    They tile the text, lie on character boundaries and are never empty; a range of white space alone occurs only where
    the whole text is white space. An empty text has none.

    Raises:
        CanonicalError: ``text`` holds a lone surrogate and so has no bytes.
    """
    _check_encodable(text)
    cuts = _merge_blanks(text, [0, *_cuts(text)])
    return tuple(pairwise(_byte_offsets(text, cuts)))


def find_cites(text: str, tool_call_ids: Iterable[str] = ()) -> tuple[Cite, ...]:
    """The citations in ``text``, in order: ``[n]``, ``[entry:<8 or more hex digits>]``, and the given tool call ids.

    A tool call id counts where it stands alone as a word or in brackets; an id of fewer than six characters, or of
    digits only, counts in brackets only.

    Raises:
        CanonicalError: ``text`` holds a lone surrogate and so has no bytes.
    """
    _check_encodable(text)
    found: list[tuple[int, int, CiteKind, str]] = []
    calls = _call_pattern(tool_call_ids)
    if calls is not None:
        found.extend(
            (match.start(), match.end(), CiteKind.CALL, match.group("bracketed") or match.group("bare"))
            for match in calls.finditer(text)
        )
    taken = {start for start, *_ in found}
    for match in _CITE.finditer(text):
        if match.start() not in taken:
            kind = CiteKind.NUMBER if match.group("number") else CiteKind.ENTRY
            found.append((match.start(), match.end(), kind, match.group(kind.value)))
    found.sort()
    offsets = dict(_offset_pairs(text, sorted({place for start, stop, *_ in found for place in (start, stop)})))
    return tuple(Cite(kind, value, offsets[start], offsets[stop]) for start, stop, kind, value in found)


def _call_pattern(tool_call_ids: Iterable[str]) -> re.Pattern[str] | None:
    ids = sorted({name for name in tool_call_ids if name}, key=lambda name: (-len(name), name))
    if not ids:
        return None
    every = "|".join(map(re.escape, ids))
    bare = [re.escape(name) for name in ids if len(name) >= _SHORTEST_BARE_CALL and not name.isdecimal()]
    return re.compile(rf"\[(?P<bracketed>{every})\]|(?<![\w-])(?P<bare>{'|'.join(bare) or '(?!)'})(?![\w-])")


def _check_encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CanonicalError(
            f"lone surrogate U+{ord(text[error.start]):04X} at character {error.start} of a message has no UTF-8"
        ) from None


def _cuts(text: str) -> Iterator[int]:
    """Character indices at which a claim ends, ascending; the last is the end of the text."""
    lines = _lines(text)
    index = 0
    while index < len(lines):
        stop = _fence_end(text, lines, index) or _table_end(text, lines, index)
        if stop is None:
            start, end = lines[index]
            yield from _sentence_cuts(text, start, end)
            stop = index + 1
        yield lines[stop - 1][1]
        index = stop


def _lines(text: str) -> list[tuple[int, int]]:
    """The lines as ranges of characters, each with its line feed."""
    ends = [match.end() for match in re.finditer("\n", text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return list(pairwise([0, *ends])) if text else []


def _fence_end(text: str, lines: list[tuple[int, int]], index: int) -> int | None:
    """The line after the fence that opens on line ``index``; an unclosed fence runs to the end."""
    opening = _FENCE.match(text, *lines[index])
    if opening is None:
        return None
    mark = opening.group(1)
    if mark[0] == "`" and "`" in text[opening.end() : lines[index][1]]:
        return None  # inline code that happens to begin a line
    for later in range(index + 1, len(lines)):
        closing = _FENCE.match(text, *lines[later])
        if (
            closing is not None
            and closing.group(1).startswith(mark)
            and not text[closing.end() : lines[later][1]].strip()
        ):
            return later + 1
    return len(lines)


def _table_end(text: str, lines: list[tuple[int, int]], index: int) -> int | None:
    """The line after the table whose header is line ``index``: a row, a rule, and rows as long as they hold a bar."""
    if index + 1 >= len(lines) or not _holds_bar(text, lines[index]) or not _holds_bar(text, lines[index + 1]):
        return None
    start, end = lines[index + 1]
    if _TABLE_RULE.fullmatch(text, start, end) is None:
        return None
    after = index + 2
    while after < len(lines) and _holds_bar(text, lines[after]):
        after += 1
    return after


def _holds_bar(text: str, line: tuple[int, int]) -> bool:
    return text.find("|", *line) >= 0


def _sentence_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Where sentences end inside one line, its own end apart."""
    marker = _LIST_MARKER.match(text, start, end)
    first = marker.end() if marker is not None else start
    for match in _STOP.finditer(text, start, end):
        if (
            match.end() < end
            and match.start() >= first
            and _begins(text[match.end()])
            and not _abbreviates(text, match)
        ):
            yield match.end()


def _begins(char: str) -> bool:
    return char.isupper() or char.istitle() or char.isdecimal() or char in _OPENING_QUOTES


def _abbreviates(text: str, stop: re.Match[str]) -> bool:
    """Whether the full stop at ``stop`` belongs to the word before it rather than to the sentence."""
    end = stop.start()
    if text[end] != "." or not text[end + 1].isspace():
        return False
    begin, word = _word_before(text, end)
    if _ABBREVIATION.fullmatch(word) is not None:
        return True
    if len(word) == 1 and word.isupper():
        # An initial follows a name, a title or another initial ("John F. Kennedy"); an answer does not ("It is B. The").
        _, previous = _word_before(text, begin)
        return not previous or previous[0].isupper()
    return text[stop.end()].isdecimal() and _ABBREVIATION_BEFORE_DIGIT.fullmatch(word) is not None


def _word_before(text: str, end: int) -> tuple[int, str]:
    """Where the last word before ``end`` begins, and the word without opening marks; empty at the beginning of a line."""
    while end > 0 and text[end - 1].isspace() and text[end - 1] != "\n":
        end -= 1
    begin = end
    while begin > 0 and not text[begin - 1].isspace():
        begin -= 1
    return begin, text[begin:end].lstrip(_OPENING)


def _merge_blanks(text: str, cuts: list[int]) -> list[int]:
    """Ranges of white space alone join the range before them, at the beginning of a text the one after."""
    merged = cuts[:1]
    for start, stop in pairwise(cuts):
        # At most the first kept range is blank, so only there a range that is not blank joins the one before it.
        joins = len(merged) > 1 and (text[start:stop].isspace() or text[merged[-2] : start].isspace())
        if joins:
            merged[-1] = stop
        else:
            merged.append(stop)
    return merged


def _byte_offsets(text: str, places: list[int]) -> list[int]:
    return [offset for _, offset in _offset_pairs(text, places)]


def _offset_pairs(text: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a character index (``places`` ascend) and its byte offset, in one pass over the text."""
    offset = before = 0
    for place in places:
        offset += len(text[before:place].encode())
        before = place
        yield place, offset
