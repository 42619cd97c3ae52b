"""RFC 8785 for sealed JSON payloads, where floats occur: the `rfc8785` package behind a guard.

The guard refuses what would collide or leak:

- integers beyond ±(2^53−1), where neighbours share a double, and floats of magnitude 2^53 up to 10^21, which would
  print as such integers;
- NaN and infinities, also where a literal overflows to one;
- lone surrogates, in keys too (the package lets a bare ``UnicodeEncodeError`` out of its key order);
- nesting beyond 64, duplicate keys, and whatever is no JSON.

What is left has one byte string per value, except that ``1`` and ``1.0``, ``0`` and ``-0`` are one value to JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TypeAlias, cast

import rfc8785

from ledger_core.kernel.errors import JcsProfileError
from ledger_core.kernel.json_reader import Rules, quoted, read

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What :func:`parse` yields."""

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1

_FIRST_EXPONENT = 1e21  # from here on RFC 8785 prints an exponent (ECMA-262 Number::toString)
_MAX_INTEGER_CHARS = 17  # a sign and sixteen digits
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def encode(value: object) -> bytes:
    """The RFC 8785 bytes of ``value``: null, bool, int, float, str, list or tuple, dict with str keys.

    Raises:
        JcsProfileError: names what is refused.
    """
    _guard(value, 0)
    encoded: bytes = rfc8785.dumps(value)
    return encoded


def parse(data: bytes) -> Json:
    """The value of a JSON document; white space and key order are free, numbers become int or double.

    Raises:
        JcsProfileError: names the offence and its place.
    """
    return cast("Json", read(data, _RULES))


def _guard(value: object, depth: int) -> None:
    """Refuse, before the package sees it, what it would accept or would refuse with another error.

    ``depth`` is the number of containers around ``value``. Depth first, so that a cycle ends at the depth limit.
    """
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, int):
        _check_integer(value)
    elif isinstance(value, float):
        _check_float(value)
    elif isinstance(value, (dict, list, tuple)):
        if depth >= MAX_DEPTH:
            raise JcsProfileError(f"nesting deeper than {MAX_DEPTH}")
        for inner in _members(value) if isinstance(value, dict) else value:
            _guard(inner, depth + 1)
    elif value is not None:
        raise JcsProfileError(f"a value of type {type(value).__name__} has no JSON form")


def _members(value: dict[object, object]) -> Iterable[object]:
    for key in value:
        if not isinstance(key, str):
            raise JcsProfileError(f"key of type {type(key).__name__}; keys are strings")
        _check_text(key)
    return value.values()


def _check_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise JcsProfileError(
            f"lone surrogate U+{ord(value[error.start]):04X} at character {error.start} of a string has no UTF-8"
        ) from None
    return value


def _check_integer(value: int) -> int:
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        # No digits of the value: printing a huge integer is itself quadratic.
        raise JcsProfileError(f"integer of {value.bit_length()} bits lies outside ±(2^53−1); write it as a string")
    return value


def _check_float(value: float) -> None:
    if not math.isfinite(value):
        raise JcsProfileError(f"{value} is no JSON number")
    if MAX_INTEGER < abs(value) < _FIRST_EXPONENT:
        raise JcsProfileError(f"float {value!r} would print as an integer outside ±(2^53−1); write it as a string")


def _number(literal: str) -> int | float:
    match = _NUMBER.fullmatch(literal)
    if match is None:
        raise JcsProfileError(f"{quoted(literal)} is no JSON value")
    if match.group(1) is None and match.group(2) is None:
        if len(literal) > _MAX_INTEGER_CHARS:
            raise JcsProfileError(f"integer {quoted(literal)} lies outside ±(2^53−1); write it as a string")
        return _check_integer(int(literal))
    value = float(literal)
    if math.isinf(value):
        raise JcsProfileError(f"number {quoted(literal)} overflows a double; write it as a string")
    return value


_RULES = Rules(error=JcsProfileError, number=_number, text=_check_text, max_depth=MAX_DEPTH)
