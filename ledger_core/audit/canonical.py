"""Canonical JSON by the profile `ostk-canonical-json-v1`: a value has one spelling, and no other is read.

The standard library's parser reads more than the profile admits; that the value is then written and compared byte for
byte is what refuses the rest: white space, escapes, duplicate keys, other orders, other numbers.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import Any

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_MEMBERS = 4096
MAX_STRING_BYTES = 1 << 16
MAX_INTEGER = 2**53 - 1


class CanonicalError(ValueError):
    """Bytes that are not the canonical spelling of anything."""


def load(data: bytes) -> Any:
    """The value that ``data`` spells; raises :class:`CanonicalError` unless it is the canonical spelling."""
    if len(data) > MAX_BYTES:
        raise CanonicalError(f"{len(data)} bytes are more than {MAX_BYTES}")
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_members, parse_float=_no, parse_constant=_no)
    except (ValueError, RecursionError) as error:
        raise CanonicalError(f"no canonical JSON: {error}") from None
    if dump(value) != data:
        raise CanonicalError("the bytes are not the canonical spelling of their value")
    return value


def dump(value: Any) -> bytes:
    """The canonical spelling of ``value``; raises :class:`CanonicalError` where it has none."""
    return _spell(value, 0).encode("utf-8")


def _spell(value: Any, depth: int) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise CanonicalError(f"an integer of {value.bit_length()} bits")
        return str(value)
    if isinstance(value, str):
        return _quote(value)
    if depth == MAX_DEPTH:
        raise CanonicalError(f"nesting deeper than {MAX_DEPTH}")
    if len(value) > MAX_MEMBERS:
        raise CanonicalError(f"{len(value)} members or elements")
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_spell(element, depth + 1) for element in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{_quote(key)}:{_spell(value[key], depth + 1)}" for key in keys) + "}"


def _quote(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        _check(text)
    if len(text) > MAX_STRING_BYTES // 4 and len(text.encode("utf-8")) > MAX_STRING_BYTES:
        raise CanonicalError("a string longer than 64 KiB")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _check(text: str) -> None:
    """Refuse what no statement holds. Normalisation is judged only where this Python's Unicode knows every character.

    Unicode never changes the normalisation of a character once it is assigned, so within these the answer is final.
    """
    unknown = False
    for char in text:
        category, code = unicodedata.category(char), ord(char)
        if category in {"Cc", "Cs", "Co"} or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # noqa: PLR2004
            raise CanonicalError(f"code point U+{code:04X}, which no statement holds")
        unknown = unknown or category == "Cn"
    if not unknown and not unicodedata.is_normalized("NFC", text):
        raise CanonicalError("a string that is not in normalisation form C")


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CanonicalError("a key twice in one object")
    return found


def _no(literal: str) -> Any:
    raise CanonicalError(f"number {literal[:40]}: only integers have a spelling")
