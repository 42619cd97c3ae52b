from __future__ import annotations

import contextlib
import json
import time
from enum import IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel.canonical import MAX_INTEGER, Json, encode, parse, require
from ledger_core.kernel.errors import StrictProfileError
from ledger_core.kernel.text import check_text
from tests.shared import shared_path


def is_admitted(text: str) -> bool:
    try:
        check_text(text)
    except StrictProfileError:
        return False
    return True


TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs", "Co", "Cn", "Mn", "Mc", "Me", "Lo")), max_size=20).filter(
    is_admitted
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=30,
)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@given(VALUES)
def test_parsing_what_was_encoded_gives_the_value_back(value: Json) -> None:
    data = encode(value)
    assert parse(data) == value
    assert require(data) == value
    assert json.loads(data) == value


@given(VALUES, st.sampled_from([None, 1, 3]))
def test_any_layout_of_a_value_has_the_same_canonical_bytes(value: Json, indent: int | None) -> None:
    for ascii_only in (False, True):
        loose = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
        assert encode(parse(loose)) == encode(value)


@given(VALUES, VALUES)
def test_different_values_have_different_bytes(one: Json, other: Json) -> None:
    # repr tells true from 1, which == does not.
    assert (encode(one) == encode(other)) is (_sorted_repr(one) == _sorted_repr(other))


def _sorted_repr(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:\\u0123eE+-.truefalsn \n', max_size=40).map(str.encode))
def test_any_bytes_are_parsed_as_json_does_or_refused_with_the_typed_error(data: bytes) -> None:
    try:
        value = parse(data)
    except StrictProfileError:
        return
    assert value == json.loads(data)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, b"null"),
        ([True, False, None], b"[true,false,null]"),
        ({}, b"{}"),
        ([], b"[]"),
        ((1, (2,)), b"[1,[2]]"),
        ({"b": 1, "a": [], "": 0}, b'{"":0,"a":[],"b":1}'),
        ({"\uff21": 3, "\U0001f600": 2, "€": 1}, '{"€":1,"😀":2,"Ａ":3}'.encode()),
        ('say "\\/"', b'"say \\"\\\\/\\""'),
        (MAX_INTEGER, b"9007199254740991"),
        (-MAX_INTEGER, b"-9007199254740991"),
        ({"10": 1, "9": 2, "1": 3}, b'{"1":3,"10":1,"9":2}'),
        (MappingProxyType({"a": 1}), b'{"a":1}'),
        ("\u2028", b'"\xe2\x80\xa8"'),
    ],
)
def test_canonical_bytes(value: object, data: bytes) -> None:
    assert encode(value) == data


def test_enumerations_are_written_as_their_values() -> None:
    class Name(StrEnum):
        ONE = "one"

    class Number(IntEnum):
        TWO = 2

    assert encode({Name.ONE: [Name.ONE, Number.TWO]}) == b'{"one":["one",2]}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected a value but found the end at character 0"),
        (b" ", "expected a value but found the end at character 1"),
        (b"\xef\xbb\xbf{}", "byte order mark at byte 0"),
        (b"\xff", r"not UTF-8 \(invalid start byte\) at byte 0"),
        (b'"\xed\xa0\x80"', r"not UTF-8 .* at byte 1"),
        (b"{} {}", "expected the end but found '{' at character 3"),
        (b"{}\x00", "expected the end but found '\\\\x00' at character 2"),
        (b'{"a":1,"a":2}', "duplicate key 'a' at character 7"),
        (b'{"a":1,"\\u0061":2}', "duplicate key 'a' at character 7"),
        (b'{"a":{"b":1},"b":2,"a":3}', "duplicate key 'a' at character 19"),
        (b"1.0", "number '1.0' has a fraction or an exponent; write it as a decimal string; at character 0"),
        (b"[1e0]", "number '1e0' has a fraction or an exponent; write it as a decimal string; at character 1"),
        (b"-0", "negative zero; write 0; at character 0"),
        (b"01", "'01' is no JSON value"),
        (b"+1", r"'\+1' is no JSON value"),
        (b"1a", "'1a' is no JSON value"),
        (b"NaN", "'NaN' is no JSON value"),
        (b"-Infinity", "'-Infinity' is no JSON value"),
        (b"True", "'True' is no JSON value"),
        (b"nul", "'nul' is no JSON value"),
        (b"[9007199254740992]", "lies outside .* at character 1"),
        (b"-9007199254740992", "lies outside"),
        pytest.param(b"9" * 100_000, r"integer '9{64}'… \(100000 characters\) lies outside", id="nines"),
        (b'"a', "unterminated string at character 0"),
        (b'"a\\"', "unterminated string at character 0"),
        (b'"\\x1234567"', r"invalid escape '\\\\x1234' at character 1"),
        (b'"\\u12g4"', "invalid escape .* at character 1"),
        (b'"ab\n"', r"raw control character U\+000A in a string at character 3"),
        (b'["\\n"]', r"string: control code point U\+000A at character 0.* at character 1"),
        (b'"\\ud800"', r"surrogate code point U\+D800"),
        (b'{"\\ud800":1}', r"surrogate code point U\+D800"),
        (b'{"\\u0000":1}', r"control code point U\+0000"),
        (b"[1,]", "expected a value but found ']' at character 3"),
        (b"[,1]", "expected a value but found ',' at character 1"),
        (b"[1 2]", "expected ',' or ']' but found '2' at character 3"),
        (b'{"a":1,}', "expected a key in quotes but found '}' at character 7"),
        (b"{a:1}", "expected a key in quotes but found 'a' at character 1"),
        (b'{"a" 1}', "expected ':' but found '1' at character 5"),
        (b'{"a":1]', "expected ',' or '}' but found ']' at character 6"),
        (b"[1\x0b]", "expected ',' or ']' but found '\\\\x0b' at character 2"),
        (b"[\xc2\xa01]", "expected a value but found '\\\\xa0' at character 1"),
        (b"[", "expected a value but found the end"),
        (b'{"a"', "expected ':' but found the end"),
        (b"//\n1", "expected a value but found '/'"),
    ],
)
def test_a_refusal_names_the_offence_and_its_place(data: bytes, message: str) -> None:
    with pytest.raises(StrictProfileError, match=message):
        parse(data)


def test_nesting_counts_containers_and_never_overflows_the_stack() -> None:
    assert parse(nested(64)) is not None
    assert parse(b'{"a":' * 64 + b"1" + b"}" * 64) is not None
    for data in (nested(65), nested(500_000), b"[" * 1_000_000, b'{"a":' * 65 + b"1" + b"}" * 65):
        with pytest.raises(StrictProfileError, match="nesting deeper than 64 at character"):
            parse(data)


def test_encoding_guards_its_depth_too() -> None:
    value: object = 1
    for _ in range(64):
        value = [value]
    assert encode(value) == b"[" * 64 + b"1" + b"]" * 64
    with pytest.raises(StrictProfileError, match=r"nesting deeper than 64 at \$(\[0\]){64}$"):
        encode([value])
    inner: object = 1
    for _ in range(64):
        inner = {"a": inner}
    assert encode(inner) == b'{"a":' * 64 + b"1" + b"}" * 64
    with pytest.raises(StrictProfileError, match=r"nesting deeper than 64 at \$(\['a'\]){64}$"):
        encode({"a": inner})
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(StrictProfileError, match="nesting deeper than 64"):
        encode(cycle)


def test_limits_hold_for_input_and_output_alike() -> None:
    full = [0] * 4_096
    assert parse(encode(full)) == full
    with pytest.raises(
        StrictProfileError, match="more than 4096 members or elements in one container at character 8192"
    ):
        parse(json.dumps([0] * 4_097, separators=(",", ":")).encode())
    with pytest.raises(StrictProfileError, match=r"4097 members or elements exceed 4096 in one container at \$\['a'\]"):
        encode({"a": [0] * 4_097})
    members = {f"k{i}": i for i in range(4_096)}
    assert parse(encode(members)) == members
    with pytest.raises(StrictProfileError, match=r"4097 members or elements exceed 4096 in one container at \$$"):
        encode({**members, "one": 1})
    with pytest.raises(StrictProfileError, match="more than 4096 members"):
        parse(json.dumps({**members, "one": 1}).encode())

    many = [[0] * 4_000 for _ in range(24)]  # 96,025 values
    assert parse(encode(many)) == many
    with pytest.raises(StrictProfileError, match="more than 100000 values in one document"):
        parse(json.dumps([*many, [0] * 4_000]).encode())
    with pytest.raises(StrictProfileError, match="more than 100000 values in one document"):
        encode([*many, [0] * 4_000])


def test_the_number_of_values_is_limited_exactly() -> None:
    exact = [[0] * 4_000 for _ in range(24)] + [[0] * 3_973]
    assert 1 + len(exact) + sum(map(len, exact)) == 99_999
    assert require(encode([*exact[:-1], exact[-1] + [0]])) is not None
    with pytest.raises(StrictProfileError, match="more than 100000 values"):
        encode([*exact[:-1], exact[-1] + [0, 0]])
    with pytest.raises(StrictProfileError, match="more than 100000 values"):
        parse(json.dumps([*exact[:-1], exact[-1] + [0, 0]]).encode())


def test_a_document_is_limited_to_a_mebibyte() -> None:
    text = "x" * 65_536
    values = [text] * 15 + ["x" * (1_048_576 - 15 * (65_536 + 3) - 4)]
    data = encode(values)
    assert len(data) == 1_048_576
    assert parse(data) == values
    with pytest.raises(StrictProfileError, match="document of 1048577 bytes exceeds 1048576"):
        parse(data + b" ")
    with pytest.raises(StrictProfileError, match="more than 1048576 bytes of output"):
        encode([*values, ""])
    with pytest.raises(StrictProfileError, match="more than 1048576 bytes of output"):
        encode(["é" * 32_768] * 17)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [0, 1.5]}, r"a value of type float has no canonical form at \$\['a'\]\[1\]"),
        (float("nan"), r"type float has no canonical form at \$$"),
        (b"x", "type bytes has no canonical form"),
        ({1: 2}, r"key of type int; keys are strings at \$$"),
        ({"k": {None: 2}}, r"key of type NoneType; keys are strings at \$\['k'\]"),
        ({1, 2}, "type set has no canonical form"),
        ([2**53], r"integer of 54 bits lies outside ±\(2\^53−1\).* at \$\[0\]"),
        (-(2**53), "integer of 54 bits lies outside"),
        pytest.param(1 << 10_000_000, "integer of 10000001 bits", id="huge"),
        (["a\x00"], r"string: control code point U\+0000 at character 1.* at \$\[0\]"),
        ({"e\u0301": 1}, "key .*: not NFC"),
        ({"\ud800": 1}, r"key '\\ud800': surrogate"),
        (["\udc00"], "surrogate code point"),
    ],
)
def test_a_value_outside_the_profile_is_refused_with_its_path(value: object, message: str) -> None:
    with pytest.raises(StrictProfileError, match=message):
        encode(value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{ }", r"not canonical from byte 1 on: found b' }', canonical is b'}'"),
        (b'{"b":1,"a":2}', "not canonical from byte 2 on"),
        (b'"\\u0061"', "not canonical from byte 1 on"),
        (b'"\\/"', "not canonical from byte 1 on"),
        (b"{}\n", "not canonical from byte 2 on: found b'\\\\n', canonical is b''"),
        ('{"Ａ":1,"😀":2}'.encode(), "not canonical from byte 2 on"),
    ],
)
def test_another_spelling_of_a_value_is_not_canonical(data: bytes, message: str) -> None:
    parse(data)
    with pytest.raises(StrictProfileError, match=message):
        require(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'["' + b"\\" * 1_000_000, id="backslashes"),
        pytest.param(b'"' * 1_000_000, id="quotes"),
        pytest.param(b'{"a":' + b" " * 1_000_000, id="spaces"),
        pytest.param(b"-" * 1_000_000, id="signs"),
        pytest.param(b'["' + b"\\u0061" * 10_000 + b'"]' + b" " * 900_000, id="escapes"),
        pytest.param(b"[" + b"0," * 500_000, id="elements"),
    ],
)
def test_hostile_input_takes_linear_time(data: bytes) -> None:
    started = time.process_time()
    with contextlib.suppress(StrictProfileError):
        parse(data)
    assert time.process_time() - started < 2.0


def test_the_contracts_conformance_manifest() -> None:
    folder = shared_path("vectors/evidence-contracts/v1")
    manifest = parse((folder / "conformance-manifest.jsonl").read_bytes())
    assert isinstance(manifest, dict)
    positives = manifest["canonical_positive"]
    negatives = manifest["canonical_negative"]
    assert isinstance(positives, list)
    assert isinstance(negatives, list)
    assert (len(positives), len(negatives)) == (5, 13)
    for case in positives:
        assert isinstance(case, dict)
        canonical = bytes.fromhex(str(case["expected_canonical_utf8_hex"]))
        assert encode(parse(bytes.fromhex(str(case["input_utf8_hex"])))) == canonical, case["id"]
        require(canonical)
    for case in negatives:
        assert isinstance(case, dict)
        operation = {"parse": parse, "require": require}[str(case["operation"])]
        with pytest.raises(StrictProfileError):
            operation(bytes.fromhex(str(case["input_utf8_hex"])))


def test_every_contract_record_is_canonical_to_the_byte() -> None:
    folder = shared_path("vectors/evidence-contracts")
    refused = {}
    count = 0
    for path in sorted(folder.rglob("*.jsonl")):
        if path.relative_to(folder).as_posix() == "v3/normative/vector-suite.jsonl":
            continue  # an index of files, one JSON object a line, in no canonical order
        *records, rest = path.read_bytes().split(b"\n")
        assert rest == b"", path
        for record in records:
            try:
                assert encode(require(record)) == record
                count += 1
            except StrictProfileError as error:
                refused[path.name] = str(error)
    # Most negative records are canonical bytes, too, and fail typed validation only.
    assert all(name.startswith("negative-") for name in refused)
    assert "'482.5' has a fraction" in refused["negative-float-result.jsonl"]
    assert count >= 288
