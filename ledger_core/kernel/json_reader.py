"""A strict, iterative JSON reader (RFC 8259) that both canonical profiles configure.

Iterative, so that nesting costs memory and never stack. It refuses what RFC 8259 refuses and, beyond that, duplicate
keys after unescaping, a byte order mark, bytes that are not UTF-8, and what the profile's :class:`Rules` refuse. Every
message ends with a place: a byte index where decoding failed, else a character index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ledger_core.kernel.errors import CanonicalError

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(
    r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
)  # up to the closing quote
_NUMBER_LIKE = re.compile(r"[-+.0-9a-zA-Z]++")
_LITERALS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_QUOTED = 64  # characters of an offending value that a message repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a profile adds to RFC 8259."""

    error: type[CanonicalError]
    """The profile's error."""
    number: Callable[[str], object]
    """From a number's literal (any run of number-like characters) to its value; raises ``error``."""
    text: Callable[[str], str]
    """Admits an unescaped string or key; raises ``error``."""
    max_depth: int
    """Containers nested in each other."""
    max_nodes: int | None = None
    """Values in the document, containers included, keys not."""
    max_members: int | None = None
    """Members of one object or elements of one array."""


def read(data: bytes, rules: Rules) -> object:
    """The one JSON value that ``data`` holds.

    Raises:
        CanonicalError: of the class ``rules.error``, naming the offence and its place.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise rules.error("byte order mark at byte 0; remove it")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise rules.error(f"not UTF-8 ({error.reason}) at byte {error.start}") from None
    return _Reader(text, rules).document()


def quoted(value: str) -> str:
    """``value`` as a message repeats it: in quotes and cut to a readable length."""
    return repr(value) if len(value) <= _QUOTED else f"{value[:_QUOTED]!r}… ({len(value)} characters)"


class _Reader:
    """One pass over one text; ``_at`` is the character index of what comes next."""

    def __init__(self, text: str, rules: Rules) -> None:
        self._text = text
        self._rules = rules
        self._at = 0
        self._nodes = 0
        self._open: list[dict[str, object] | list[object]] = []
        self._keys: list[str] = []  # the pending key of every open object

    def document(self) -> object:
        while True:
            value, complete = self._begin()
            while complete:
                if not self._open:
                    return self._end(value)
                value, complete = self._attach(value)

    def _begin(self) -> tuple[object, bool]:
        """Read a scalar or open a container; the flag says whether the value is complete."""
        char = self._peek()
        self._count()
        if char == "{":
            return self._open_container({}, "}")
        if char == "[":
            return self._open_container([], "]")
        if char == '"':
            return self._string(), True
        return self._bare(), True

    def _open_container(self, container: dict[str, object] | list[object], close: str) -> tuple[object, bool]:
        if len(self._open) >= self._rules.max_depth:
            raise self._error(f"nesting deeper than {self._rules.max_depth}")
        self._at += 1
        if self._peek() == close:
            self._at += 1
            return container, True
        self._open.append(container)
        if close == "}":
            self._key()
        return container, False

    def _attach(self, value: object) -> tuple[object, bool]:
        """Put a complete value into the innermost container and read what must follow it."""
        container = self._open[-1]
        if isinstance(container, dict):
            container[self._keys.pop()] = value
            close = "}"
        else:
            container.append(value)
            close = "]"
        char = self._peek()
        if char == close:
            self._at += 1
            return self._open.pop(), True
        if char != ",":
            raise self._error(f"expected ',' or {close!r} but found {self._found()}")
        if self._rules.max_members is not None and len(container) >= self._rules.max_members:
            raise self._error(f"more than {self._rules.max_members} members or elements in one container")
        self._at += 1
        if close == "}":
            self._peek()
            self._key()
        return None, False

    def _key(self) -> None:
        """Read a key and its colon; the reader stands on the key's first character."""
        at = self._at
        if self._text[at : at + 1] != '"':
            raise self._error(f"expected a key in quotes but found {self._found()}")
        key = self._string()
        if key in self._open[-1]:
            self._at = at
            raise self._error(f"duplicate key {quoted(key)}")
        if self._peek() != ":":
            raise self._error(f"expected ':' but found {self._found()}")
        self._at += 1
        self._keys.append(key)

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        assert match is not None, "called on a quote"
        end = match.end()
        if self._text[end : end + 1] != '"':
            raise self._string_error(end)
        raw = self._text[self._at + 1 : end]
        value: str = json.loads(f'"{raw}"') if "\\" in raw else raw
        try:
            value = self._rules.text(value)
        except CanonicalError as error:
            raise self._error(f"string: {error};") from error
        self._at = end + 1
        return value

    def _string_error(self, end: int) -> CanonicalError:
        if end >= len(self._text):
            return self._error("unterminated string")
        self._at = end
        if self._text[end] == "\\":
            return self._error(f"invalid escape {quoted(self._text[end : end + 6])}")
        return self._error(f"raw control character U+{ord(self._text[end]):04X} in a string")

    def _bare(self) -> object:
        """Read a literal or a number."""
        match = _NUMBER_LIKE.match(self._text, self._at)
        if match is None:
            raise self._error(f"expected a value but found {self._found()}")
        word = match.group()
        if word in _LITERALS:
            self._at = match.end()
            return _LITERALS[word]
        try:
            value = self._rules.number(word)
        except CanonicalError as error:
            raise self._error(f"{error};") from error
        self._at = match.end()
        return value

    def _end(self, value: object) -> object:
        if self._peek():
            raise self._error(f"expected the end but found {self._found()}")
        return value

    def _peek(self) -> str:
        """Skip white space; the next character, empty at the end."""
        text = self._text
        at = self._at
        char = text[at : at + 1]
        if char <= " ":
            match = _SPACE.match(text, at)
            assert match is not None, "matches the empty run too"
            self._at = at = match.end()
            char = text[at : at + 1]
        return char

    def _count(self) -> None:
        self._nodes += 1
        if self._rules.max_nodes is not None and self._nodes > self._rules.max_nodes:
            raise self._error(f"more than {self._rules.max_nodes} values in one document")

    def _found(self) -> str:
        rest = self._text[self._at : self._at + 1]
        return repr(rest) if rest else "the end"

    def _error(self, message: str) -> CanonicalError:
        return self._rules.error(f"{message} at character {self._at}")
