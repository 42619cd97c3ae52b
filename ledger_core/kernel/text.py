"""Text of the strict profile `ostk-canonical-json-v1`: strings, our own ids, foreign names, decimals.

Normalisation is that of Unicode 17.0.0, whatever Python runs: versions disagree about real strings, and one string must
have one identity for as long as the ledger lives.
"""

from __future__ import annotations

import re

import unicodedata2

from ledger_core.kernel.errors import StrictProfileError

UNICODE_VERSION = "17.0.0"
"""The version whose normalisation data decides NFC."""

MAX_STRING_BYTES = 65_536
"""Limit of one string, in bytes of UTF-8."""

MAX_FOREIGN_NAME_BYTES = 256
"""Limit of a tool, model or media type name, in bytes of UTF-8."""

MAX_DECIMAL_BYTES = 128
"""Limit of a decimal string, in bytes."""

_LONG = 512  # characters from which on the order of combining marks is checked ahead of normalisation
_QUOTED = 64  # characters of an offending value that a message repeats

_FORBIDDEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control
    "\ud800-\udfff"  # surrogate
    "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"  # private use
    "\ufdd0-\ufdef"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
    + "]"
)
_CONTRACT_ID = re.compile(r"[a-z][a-z0-9_.-]{0,127}")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")

if unicodedata2.unidata_version != UNICODE_VERSION:
    raise ImportError(
        f"canonical text needs the data of Unicode {UNICODE_VERSION}, but unicodedata2 carries "
        f"{unicodedata2.unidata_version}: install unicodedata2==17.0.1"
    )


def check_text(value: str) -> str:
    """``value`` itself, if it is a string that a statement may hold.

    That is: NFC, free of control, private-use, surrogate and noncharacter code points, at most
    :data:`MAX_STRING_BYTES` of UTF-8. Text that cannot satisfy this (a newline is enough) belongs in a blob.

    Raises:
        StrictProfileError: names the code point and its place (a character index), or the size.
    """
    if value.isascii():
        if len(value) <= MAX_STRING_BYTES and value.isprintable():
            return value
    elif len(value) <= MAX_STRING_BYTES // 4 and _FORBIDDEN.search(value) is None and _is_nfc(value):
        return value
    return _explain(value)


def _is_nfc(value: str) -> bool:
    return _misplaced_mark(value) is None and bool(unicodedata2.normalize("NFC", value) == value)


def _misplaced_mark(value: str) -> int | None:
    """Index of the first combining mark out of canonical order, looked for in long strings only.

    Normalisation sorts marks by insertion, which is quadratic in a hostile run of them (half a second at the size
    limit) and linear in a sorted one; so a long string is refused before it is sorted.
    """
    if len(value) <= _LONG:
        return None
    before = 0
    for index, mark in enumerate(map(unicodedata2.combining, value)):
        if 0 < mark < before:
            return index
        before = mark
    return None


def _explain(value: str) -> str:
    """The slow path: raise what is wrong with ``value``, or return it where nothing is."""
    offence = _FORBIDDEN.search(value)
    if offence is not None:
        char = offence.group()
        raise StrictProfileError(
            f"{_kind(char)} code point {_name(char)} at character {offence.start()}: "
            "strings hold no control, private-use, surrogate or noncharacter code points; put such text in a blob"
        )
    size = len(value.encode())
    if size > MAX_STRING_BYTES:
        raise StrictProfileError(
            f"string of {size} bytes exceeds {MAX_STRING_BYTES} bytes of UTF-8; put such text in a blob"
        )
    if not _is_nfc(value):
        at = _departure_from_nfc(value)
        raise StrictProfileError(
            f"not NFC under Unicode {UNICODE_VERSION} from {_name(value[at])} at character {at} on; normalise it first"
        )
    return value


def _departure_from_nfc(value: str) -> int:
    """Index of the first character that normalisation changes or moves."""
    misplaced = _misplaced_mark(value)
    if misplaced is not None:
        return misplaced
    normal: str = unicodedata2.normalize("NFC", value)
    # Neither is the other's beginning: NFC drops nothing, and the beginning of an NFC string is NFC.
    return next(i for i, (ours, theirs) in enumerate(zip(value, normal, strict=False)) if ours != theirs)


def _kind(char: str) -> str:
    code = ord(char)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # noqa: PLR2004 - the noncharacters by definition
        return "noncharacter"
    return {"Cc": "control", "Cs": "surrogate", "Co": "private-use"}[unicodedata2.category(char)]


def _name(char: str) -> str:
    return f"U+{ord(char):04X}"


def is_contract_id(value: str) -> bool:
    """Whether ``value`` is an id of our own: ``[a-z][a-z0-9_.-]{0,127}``."""
    return _CONTRACT_ID.fullmatch(value) is not None


def check_foreign_name(value: str) -> str:
    """``value`` itself, if it may name a tool, a model or a media type: strict text of at most 256 bytes of UTF-8.

    Raises:
        StrictProfileError: as :func:`check_text`, or names the size.
    """
    check_text(value)
    if len(value) > MAX_FOREIGN_NAME_BYTES or len(value.encode()) > MAX_FOREIGN_NAME_BYTES:
        raise StrictProfileError(
            f"foreign name {value[:_QUOTED]!r}… of {len(value.encode())} bytes exceeds {MAX_FOREIGN_NAME_BYTES}; "
            "put such a name in a blob"
        )
    return value


def check_decimal(value: str) -> str:
    """``value`` itself, if it is a canonical decimal: ``0``, or base 10 without ``+``, exponent or idle zeros.

    Raises:
        StrictProfileError: names the value.
    """
    if len(value) > MAX_DECIMAL_BYTES:
        raise StrictProfileError(
            f"decimal {value[:_QUOTED]!r}… of {len(value)} characters exceeds {MAX_DECIMAL_BYTES} bytes"
        )
    if _DECIMAL.fullmatch(value) is None or value == "-0":
        raise StrictProfileError(
            f"decimal {value!r} is not canonical: base 10 without '+', exponent, '-0', leading or trailing zeros"
        )
    return value
