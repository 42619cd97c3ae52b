"""The strict profile `ostk-canonical-json-v1`: an RFC 8785 subset without floating point, one byte string per value.

    parse    bytes of any layout -> value        all rules of the profile, any white space and key order
    encode   value -> canonical bytes            the same rules and limits
    require  bytes -> value                      as parse, and the bytes must be the canonical ones

Object keys are ordered by UTF-16 code units (RFC 8785 §3.2.3), which differs from code point order beyond U+FFFF.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias, cast

from ledger_core.kernel.errors import StrictProfileError
from ledger_core.kernel.json_reader import Rules, quoted, read
from ledger_core.kernel.text import check_text

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"
"""What :func:`parse` yields."""

MAX_INTEGER = 2**53 - 1
"""Largest magnitude of an integer: what a double holds exactly (RFC 7493)."""
MAX_DOCUMENT_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_NODES = 100_000
MAX_MEMBERS = 4_096

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,15})")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def parse(data: bytes) -> Json:
    """The value of a document in the profile; white space and key order are free.

    Raises:
        StrictProfileError: names the offence and its place.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise StrictProfileError(
            f"document of {len(data)} bytes exceeds {MAX_DOCUMENT_BYTES}; put large content in a blob"
        )
    return cast("Json", read(data, _RULES))


def encode(value: object) -> bytes:
    """The canonical bytes of ``value``: null, bool, int, str, list or tuple, mapping with str keys.

    Raises:
        StrictProfileError: names the offence and the path to it (``$`` is the document).
    """
    return _Writer().document(value)


def require(data: bytes) -> Json:
    """The value of bytes that are already canonical.

    Raises:
        StrictProfileError: outside the profile, or another spelling of the value; names the first differing byte.
    """
    value = parse(data)
    canonical = encode(value)
    if canonical != data:
        pairs = zip(data, canonical, strict=False)
        at = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), min(len(data), len(canonical)))
        raise StrictProfileError(
            f"not canonical from byte {at} on: found {data[at : at + 16]!r}, canonical is {canonical[at : at + 16]!r}"
        )
    return value


def utf16_order(key: str) -> bytes:
    """The sort key of RFC 8785 §3.2.3 for a string without lone surrogates."""
    return key.encode("utf-16-be")


def _number(literal: str) -> int:
    if _INTEGER.fullmatch(literal) is None:
        if _JSON_NUMBER.fullmatch(literal) is None:
            raise StrictProfileError(f"{quoted(literal)} is no JSON value")
        if literal.lstrip("-").isdigit():
            raise StrictProfileError(f"integer {quoted(literal)} lies outside ±(2^53−1); write it as a decimal string")
        raise StrictProfileError(
            f"number {quoted(literal)} has a fraction or an exponent; write it as a decimal string"
        )
    value = int(literal)
    if literal == "-0":
        raise StrictProfileError("negative zero; write 0")
    return _check_integer(value)


def _check_integer(value: int) -> int:
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        # No digits of the value: printing a huge integer is itself quadratic.
        raise StrictProfileError(
            f"integer of {value.bit_length()} bits lies outside ±(2^53−1); write it as a decimal string"
        )
    return value


_RULES = Rules(
    error=StrictProfileError,
    number=_number,
    text=check_text,
    max_depth=MAX_DEPTH,
    max_nodes=MAX_NODES,
    max_members=MAX_MEMBERS,
)


class _Writer:
    """One document; ``_path`` leads from the root to the value at hand."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._path: list[str | int] = []
        self._nodes = 0
        self._bytes = 0

    def document(self, value: object) -> bytes:
        self._value(value)
        return "".join(self._parts).encode()

    def _value(self, value: object) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._error(f"more than {MAX_NODES} values in one document")
        if value is None:
            self._put("null")
        elif isinstance(value, bool):
            self._put("true" if value else "false")
        elif isinstance(value, int):
            self._integer(value)
        elif isinstance(value, str):
            self._string(value)
        elif isinstance(value, (list, tuple)):
            self._array(value)
        elif isinstance(value, Mapping):
            self._object(value)
        else:
            raise self._error(f"a value of type {type(value).__name__} has no canonical form")

    def _array(self, value: list[object] | tuple[object, ...]) -> None:
        self._enter(len(value))
        self._put("[")
        for index, element in enumerate(value):
            if index:
                self._put(",")
            self._path.append(index)
            self._value(element)
            self._path.pop()
        self._put("]")

    def _object(self, value: Mapping[object, object]) -> None:
        self._enter(len(value))
        members: list[tuple[str, object]] = []
        for key, member in value.items():
            if not isinstance(key, str):
                raise self._error(f"key of type {type(key).__name__}; keys are strings")
            try:
                check_text(key)
            except StrictProfileError as error:
                raise self._error(f"key {quoted(key)}: {error}") from error
            members.append((key, member))
        members.sort(key=lambda pair: utf16_order(pair[0]))
        self._put("{")
        for index, (key, member) in enumerate(members):
            if index:
                self._put(",")
            self._path.append(key)
            self._string(key)
            self._put(":")
            self._value(member)
            self._path.pop()
        self._put("}")

    def _enter(self, members: int) -> None:
        if len(self._path) >= MAX_DEPTH:
            raise self._error(f"nesting deeper than {MAX_DEPTH}")
        if members > MAX_MEMBERS:
            raise self._error(f"{members} members or elements exceed {MAX_MEMBERS} in one container")

    def _integer(self, value: int) -> None:
        try:
            self._put(int.__repr__(_check_integer(value)))
        except StrictProfileError as error:
            raise self._error(str(error)) from error

    def _string(self, value: str) -> None:
        try:
            check_text(value)
        except StrictProfileError as error:
            raise self._error(f"string: {error}") from error
        # The profile admits no control character, so two escapes are all there are.
        self._put('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"')

    def _put(self, part: str) -> None:
        self._bytes += len(part) if part.isascii() else len(part.encode())
        if self._bytes > MAX_DOCUMENT_BYTES:
            raise self._error(f"more than {MAX_DOCUMENT_BYTES} bytes of output; put large content in a blob")
        self._parts.append(part)

    def _error(self, message: str) -> StrictProfileError:
        place = "".join(f"[{step if isinstance(step, int) else quoted(step)}]" for step in self._path)
        return StrictProfileError(f"{message} at ${place}")
