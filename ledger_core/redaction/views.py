"""Views of a text with its escapes undone, each with the way back to the original characters.

A secret may stand inside a JSON string inside a JSON string, or behind percent escapes. A view undoes one layer of
escapes; a range found in it maps to the range of the original that spells it. Building one is linear, and every layer
at least halves a run of backslashes, so there are at most log₂ n of them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_UNICODE_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")
_UNICODE_ESCAPE_LENGTH = 6
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class View:
    """A text and its place in the original."""

    text: str
    depth: int
    """How many layers of JSON escapes were undone."""
    _starts: array[int] = field(default_factory=lambda: array("Q", (0,)))
    _origins: array[int] = field(default_factory=lambda: array("Q", (0,)))
    _parent: View | None = None

    def origin(self, offset: int) -> int:
        """The original offset of a boundary between characters of this view."""
        if self._parent is None:
            return offset
        segment = bisect_right(self._starts, offset) - 1
        return self._parent.origin(self._origins[segment] + offset - self._starts[segment])

    def undone(self, pattern: re.Pattern[str], decode: Callable[[str], str], depth: int) -> View | None:
        """This view with every match of ``pattern`` decoded to one character; None where there is none."""
        parts: list[str] = []
        starts, origins = array("Q", (0,)), array("Q", (0,))
        length = done = 0
        for match in pattern.finditer(self.text):
            parts.append(self.text[done : match.start()])
            length += match.start() - done
            starts.extend((length, length + 1))
            origins.extend((match.start(), match.end()))
            parts.append(decode(match.group()))
            length += 1
            done = match.end()
        if not done:
            return None
        parts.append(self.text[done:])
        return View("".join(parts), depth, starts, origins, self)


def percent_decoded(text: str) -> View | None:
    """``text`` with its percent escapes decoded; None where it holds none."""
    return View(text, 0).undone(_PERCENT, _percent, 0) if "%" in text else None


def unescaped(view: View) -> View | None:
    """``view`` with one layer of JSON escapes undone; None where it holds none."""
    return view.undone(_ESCAPE, _unescape, view.depth + 1) if "\\" in view.text else None


def layers(text: str) -> Iterator[View]:
    """Every deeper view of ``text``, one for each layer of JSON escapes."""
    view = unescaped(View(text, 0))
    while view is not None:
        yield view
        view = unescaped(view)


def has_bare_quote(text: str, start: int, stop: int) -> bool:
    """Whether a range holds a double quote that nothing escapes: it would leave the string it begins in."""
    at = text.find('"', start, stop)
    while at >= 0:
        if _backslashes_before(text, at) % 2 == 0:
            return True
        at = text.find('"', at + 1, stop)
    return False


def snap(text: str, start: int, stop: int) -> tuple[int, int]:
    r"""The range moved so that replacing it splits no escape sequence of ``text``.

    The start moves left to take an escape in whole; the stop moves left to leave a two-character escape alone, since
    that may be the escaped quote which ends a nested string, and right to take a ``\u`` escape in whole.
    """
    start = _unicode_escape_around(text, start, start)[0]
    start -= _backslashes_before(text, start) % 2
    stop = _unicode_escape_around(text, stop, stop)[1]
    stop -= _backslashes_before(text, stop) % 2
    return start, max(start, stop)


def _unicode_escape_around(text: str, at: int, otherwise: int) -> tuple[int, int]:
    r"""Bounds of the ``\uXXXX`` that has ``at`` in its inside."""
    for begin in range(max(0, at - _UNICODE_ESCAPE_LENGTH + 1), at):
        if _UNICODE_ESCAPE.match(text, begin) and _backslashes_before(text, begin) % 2 == 0:
            return begin, begin + _UNICODE_ESCAPE_LENGTH
    return otherwise, otherwise


def _backslashes_before(text: str, at: int) -> int:
    begin = at
    while begin > 0 and text[begin - 1] == "\\":
        begin -= 1
    return at - begin


def _percent(escape: str) -> str:
    return chr(int(escape[1:], 16))


def _unescape(escape: str) -> str:
    return chr(int(escape.removeprefix("\\u"), 16)) if escape[1] == "u" else _SHORT.get(escape[1], escape[1])
