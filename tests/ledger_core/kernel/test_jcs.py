from __future__ import annotations

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel import canonical, jcs
from ledger_core.kernel.errors import JcsProfileError
from tests.shared import shared_path

FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not 2**53 <= abs(x) < 1e21)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | FLOATS | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


@given(VALUES)
def test_parsing_what_was_encoded_gives_the_value_back(value: jcs.Json) -> None:
    data = jcs.encode(value)
    assert jcs.parse(data) == value
    assert json.loads(data) == value
    assert jcs.encode(jcs.parse(data)) == data


@given(FLOATS)
def test_a_float_is_printed_as_the_shortest_digits_that_give_it_back(value: float) -> None:
    assert struct.pack(">d", float(jcs.encode(value)) + 0.0) == struct.pack(">d", value + 0.0)


@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:\\u0123eE+-.truefalsn \n', max_size=40).map(str.encode))
def test_any_bytes_are_parsed_as_json_does_or_refused_with_the_typed_error(data: bytes) -> None:
    try:
        value = jcs.parse(data)
    except JcsProfileError:
        return
    assert value == json.loads(data)


@given(st.recursive(st.integers(-9, 9) | st.text("abé", max_size=3), st.lists, max_leaves=9))
def test_both_profiles_agree_where_both_apply(value: canonical.Json) -> None:
    try:
        strict = canonical.encode(value)
    except canonical.StrictProfileError:
        return
    assert jcs.encode(value) == strict


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0.0, b"0"),
        (-0.0, b"0"),
        (1.0, b"1"),
        (-1.5, b"-1.5"),
        (1e21, b"1e+21"),
        (1e-6, b"0.000001"),
        (1e-7, b"1e-7"),
        (1.234e-5, b"0.00001234"),
        (5e-324, b"5e-324"),
        (1.7976931348623157e308, b"1.7976931348623157e+308"),
        (333333333.33333329, b"333333333.3333333"),
        (2**53 - 1, b"9007199254740991"),
        (1 - 2**53, b"-9007199254740991"),
        (9007199254740991.0, b"9007199254740991"),
        (4503599627370495.5, b"4503599627370495.5"),
        ({"\uff21": 1, "\U0001f600": 2}, '{"😀":2,"Ａ":1}'.encode()),
        ('\x00\x1f\b\t\n\f\r"\\/\x7f\u2028', b'"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/\x7f\xe2\x80\xa8"'),
        ((1, [True, None]), b"[1,[true,null]]"),
        ("e\u0301\ue000\uffff", b'"e\xcc\x81\xee\x80\x80\xef\xbf\xbf"'),
    ],
)
def test_rfc_8785_bytes(value: object, data: bytes) -> None:
    assert jcs.encode(value) == data


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**53, "integer of 54 bits lies outside"),
        ([-(2**53)], "integer of 54 bits lies outside"),
        pytest.param(1 << 10_000_000, "integer of 10000001 bits", id="huge"),
        (float(2**53), r"float 9007199254740992\.0 would print as an integer"),
        (-1e20, r"float -1e\+20 would print as an integer"),
        (math.nextafter(1e21, 0), "would print as an integer"),
        (math.nan, "nan is no JSON number"),
        ({"a": math.inf}, "inf is no JSON number"),
        (-math.inf, "-inf is no JSON number"),
        ("a\ud800", r"lone surrogate U\+D800 at character 1"),
        ({"\udfff": 1}, r"lone surrogate U\+DFFF at character 0"),
        ({1: 1}, "key of type int"),
        ({"a": b"x"}, "a value of type bytes has no JSON form"),
        ({1, 2}, "a value of type set"),
    ],
)
def test_what_would_collide_or_leak_is_refused(value: object, message: str) -> None:
    with pytest.raises(JcsProfileError, match=message):
        jcs.encode(value)


def test_nesting_is_limited_in_both_directions() -> None:
    value: object = 1
    for _ in range(64):
        value = [value]
    data = jcs.encode(value)
    assert jcs.parse(data) == value
    for deep in ([value], {"a": value}):
        with pytest.raises(JcsProfileError, match="nesting deeper than 64"):
            jcs.encode(deep)
    empty: object = []
    for _ in range(64):
        empty = [empty]
    with pytest.raises(JcsProfileError, match="nesting deeper than 64"):
        jcs.encode(empty)
    twice: list[object] = []
    twice += [twice, twice]
    with pytest.raises(JcsProfileError, match="nesting deeper than 64"):
        jcs.encode(twice)
    with pytest.raises(JcsProfileError, match="nesting deeper than 64 at character 64"):
        jcs.parse(b"[" * 100_000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":1,"\\u0061":2}', "duplicate key 'a' at character 7"),
        (b"9007199254740992", "lies outside"),
        pytest.param(b"1" + b"0" * 5_000, r"\(5001 characters\) lies outside", id="long"),
        (b"[1e400]", "'1e400' overflows a double; write it as a string; at character 1"),
        (b"-1e400", "overflows a double"),
        (b"NaN", "'NaN' is no JSON value"),
        (b'"\\ud834"', r"lone surrogate U\+D834"),
        (b"\xef\xbb\xbf1", "byte order mark"),
        (b"1 1", "expected the end"),
    ],
)
def test_a_refusal_names_the_offence(data: bytes, message: str) -> None:
    with pytest.raises(JcsProfileError, match=message):
        jcs.parse(data)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"-0", 0),
        (b" [1.0 , 1e3]\r\n", [1.0, 1000.0]),
        (b"1e-999", 0.0),
        (b'"\\ud834\\udd1e"', "𝄞"),
        (b"9007199254740993.0", 9007199254740992.0),
    ],
)
def test_values_of_documents(data: bytes, value: object) -> None:
    assert jcs.parse(data) == value


def test_a_large_document_needs_no_limit_of_the_strict_profile() -> None:
    value = {"text": "x" * 2_000_000, "numbers": list(range(5_000))}
    assert jcs.parse(jcs.encode(value)) == value


def test_the_reference_set_of_the_rfc() -> None:
    folder = shared_path("vectors/jcs")
    names = sorted(path.name for path in (folder / "input").iterdir())
    assert len(names) >= 4
    for name in names:
        expected = (folder / "output" / name).read_bytes()
        assert jcs.encode(jcs.parse((folder / "input" / name).read_bytes())) == expected, name
        assert jcs.encode(jcs.parse(expected)) == expected, name
