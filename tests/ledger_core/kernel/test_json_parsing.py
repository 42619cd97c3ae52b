"""JSONTestSuite: what each profile does with every file, held against a second reading of the rules.

The second reading decodes with the standard library and applies a profile's own restrictions to what comes out, so
that it knows what to expect of files that nobody has looked at yet.
"""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator

import pytest

from ledger_core.kernel import canonical, jcs
from ledger_core.kernel.errors import CanonicalError
from tests.shared import shared_path

STRICT_REFUSES = {
    # numbers with a fraction or an exponent, and negative zero
    "y_number_0e+1.json",
    "y_number_double_close_to_zero.json",
    "y_number_int_with_exp.json",
    "y_number_negative_zero.json",
    "y_number_real_capital_e.json",
    "y_number_real_capital_e_neg_exp.json",
    "y_number_real_fraction_exponent.json",
    "y_number_real_neg_exp.json",
    "y_number_real_pos_exponent.json",
    "y_number_simple_real.json",
    "y_object_extreme_numbers.json",
    "y_structure_lonely_negative_real.json",
    # noncharacters
    "y_string_escaped_noncharacter.json",
    "y_string_last_surrogates_1_and_2.json",
    "y_string_nonCharacterInUTF-8_U+10FFFF.json",
}
"""Valid JSON outside the strict profile."""

FREE = {
    "i_number_double_huge_neg_exp.json": None,  # underflows to 0
    "i_number_very_big_negative_int.json": "lies outside ±(2^53−1)",
    "i_object_key_lone_2nd_surrogate.json": "surrogate",
    "i_string_1st_valid_surrogate_2nd_invalid.json": "surrogate",
    "i_string_UTF-16LE_with_BOM.json": "not UTF-8",
    "i_string_incomplete_surrogate_and_escape_valid.json": "surrogate",
    "i_string_incomplete_surrogate_pair.json": "surrogate",
    "i_string_invalid_lonely_surrogate.json": "surrogate",
    "i_string_invalid_surrogate.json": "surrogate",
    "i_string_inverted_surrogates_U+1D11E.json": "surrogate",
    "i_string_overlong_sequence_2_bytes.json": "not UTF-8",
    "i_string_overlong_sequence_6_bytes.json": "not UTF-8",
    "i_string_truncated-utf-8.json": "not UTF-8",
    "i_string_utf16BE_no_BOM.json": "not UTF-8",
    "i_structure_UTF-8_BOM_empty_object.json": "byte order mark",
}
"""What the suite leaves free, and what `jcs` says of it: None where it parses. The strict profile refuses them all."""

LARGEST = 2**53 - 1


class _Refused(Exception):  # noqa: N818 - what is refused, not what went wrong
    """Carries what the refusal must name."""


def _refuse(why: str) -> None:
    raise _Refused(why)


def _jcs_integer(literal: str) -> int:
    if abs(int(literal)) > LARGEST:
        _refuse("lies outside ±(2^53−1)")
    return int(literal)


def _jcs_float(literal: str) -> float:
    if math.isinf(float(literal)):
        _refuse("overflows a double")
    return float(literal)


def _strict_integer(literal: str) -> int:
    if literal == "-0":
        _refuse("negative zero")
    return _jcs_integer(literal)


def _strict_float(_: str) -> float:
    _refuse("has a fraction or an exponent")
    raise AssertionError


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        _refuse("duplicate key")
    return dict(pairs)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)


def _expected(data: bytes, *, strict: bool) -> str | None:
    """What a refusal must name, None where the document is admitted; AssertionError where it is no JSON."""
    if data.startswith(b"\xef\xbb\xbf"):
        return "byte order mark"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    if _depth(text) > canonical_depth(strict=strict):
        return "nesting deeper"
    try:
        value = json.loads(
            text,
            parse_int=_strict_integer if strict else _jcs_integer,
            parse_float=_strict_float if strict else _jcs_float,
            object_pairs_hook=_unique,
        )
    except _Refused as refusal:
        return str(refusal)
    return next(filter(None, (_offence(found, strict=strict) for found in _strings(value))), None)


def _offence(value: str, *, strict: bool) -> str | None:
    if any("\ud800" <= char <= "\udfff" for char in value):
        return "surrogate"
    return _outside_strict(value) if strict else None


def canonical_depth(*, strict: bool) -> int:
    return canonical.MAX_DEPTH if strict else jcs.MAX_DEPTH


def _depth(text: str) -> int:
    """Containers around the innermost value, strings cut out first."""
    deepest = depth = 0
    for char in re.sub(r'"(?:[^"\\]|\\.)*"', "", text):
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest


def _outside_strict(value: str) -> str | None:
    for char in value:
        if ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF:
            return "noncharacter"
        if unicodedata.category(char) in {"Cc", "Co"}:
            return "code point"
    return None if unicodedata.is_normalized("NFC", value) else "NFC"


def outcomes(kind: str, parse: Callable[[bytes], object]) -> dict[str, str | None]:
    """Per file the refusal's message, or None where the file parses."""
    found: dict[str, str | None] = {}
    for path in sorted(shared_path("vectors/json-parsing").glob(f"{kind}_*.json")):
        try:
            parse(path.read_bytes())
            found[path.name] = None
        except CanonicalError as error:
            found[path.name] = str(error)
    return found


def expectations(kind: str, *, strict: bool) -> dict[str, str | None]:
    folder = shared_path("vectors/json-parsing")
    return {path.name: _expected(path.read_bytes(), strict=strict) for path in sorted(folder.glob(f"{kind}_*.json"))}


def agree(found: dict[str, str | None], expected: dict[str, str | None]) -> None:
    assert found.keys() == expected.keys()
    for name, reason in expected.items():
        message = found[name]
        assert message is None if reason is None else message is not None and reason in message, (name, message, reason)


def test_every_valid_file_parses_in_jcs() -> None:
    """But for repeated keys, which RFC 8785 §3.1 excludes with I-JSON: they would be dropped in silence."""
    found = outcomes("y", jcs.parse)
    assert len(found) >= 41
    agree(found, expectations("y", strict=False))
    refused = {message.split(" at ")[0] for message in found.values() if message}
    assert all(message.startswith("duplicate key") for message in refused)


def test_the_strict_profile_refuses_exactly_what_lies_outside_it() -> None:
    found = outcomes("y", canonical.parse)
    agree(found, expectations("y", strict=True))
    assert {name for name, message in found.items() if message} >= STRICT_REFUSES


def test_every_invalid_file_is_refused_by_both() -> None:
    for parse in (jcs.parse, canonical.parse):
        found = outcomes("n", parse)
        assert len(found) >= 90
        assert [name for name, message in found.items() if message is None] == []


def test_the_outcome_of_every_free_file_is_recorded() -> None:
    guarded = outcomes("i", jcs.parse)
    assert set(guarded) >= set(FREE)
    agree(guarded, expectations("i", strict=False))
    agree({name: guarded[name] for name in FREE}, FREE)
    strict = outcomes("i", canonical.parse)
    agree(strict, expectations("i", strict=True))
    assert None not in {strict[name] for name in FREE}


@pytest.mark.parametrize(
    ("document", "guarded", "strict"),
    [
        (b'{"a":1,"\\u0061":2}', "duplicate key", "duplicate key"),
        (b"[1e400]", "overflows a double", "has a fraction or an exponent"),
        (b"[123456789012345678901234567890]", "lies outside ±(2^53−1)", "lies outside ±(2^53−1)"),
        (b"[-0]", None, "negative zero"),
        (b'["e\xcc\x81"]', None, "NFC"),
        (b'["\\u0000"]', None, "code point"),
        (b"[" * 64 + b"]" * 64, None, None),
        (b"[" * 65 + b"]" * 65, "nesting deeper", "nesting deeper"),
        (b"[" * 500 + b"]" * 500, "nesting deeper", "nesting deeper"),
        (b'["' + b"[" * 500 + b'"]', None, None),
    ],
)
def test_both_readings_agree_where_no_file_may_lie(document: bytes, guarded: str | None, strict: str | None) -> None:
    for parse, is_strict, reason in ((jcs.parse, False, guarded), (canonical.parse, True, strict)):
        assert _expected(document, strict=is_strict) == reason
        try:
            parse(document)
            message = None
        except CanonicalError as error:
            message = str(error)
        agree({"document": message}, {"document": reason})


def test_a_hundred_thousand_brackets_are_refused_and_not_a_crash() -> None:
    assert sys.getrecursionlimit() < 100_000
    for opening in (b"[" * 100_000, b'[{"":' * 50_000):
        for parse in (jcs.parse, canonical.parse):
            with pytest.raises(CanonicalError, match="nesting deeper"):
                parse(opening)
