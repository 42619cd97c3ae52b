from __future__ import annotations

import importlib.util
import re
import sys
import time
import unicodedata
from types import ModuleType

import pytest
import unicodedata2
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel import text
from ledger_core.kernel.errors import StrictProfileError
from ledger_core.kernel.text import check_decimal, check_foreign_name, check_text, is_contract_id

CODE_POINTS = 0x110000


def admitted(char: str) -> bool:
    try:
        check_text(char)
    except StrictProfileError:
        return False
    return True


def test_every_code_point_alone_is_admitted_exactly_as_its_properties_say() -> None:
    def expected(code: int) -> bool:
        char = chr(code)
        noncharacter = code % 0x10000 in {0xFFFE, 0xFFFF} or 0xFDD0 <= code <= 0xFDEF
        forbidden = unicodedata2.category(char) in {"Cc", "Cs", "Co"} or noncharacter
        return not forbidden and unicodedata2.normalize("NFC", char) == char

    assert [hex(code) for code in range(CODE_POINTS) if admitted(chr(code)) != expected(code)] == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("ab\n", "control code point U+000A at character 2"),
        ("\x7f", "control code point U+007F at character 0"),
        ("é\x85", "control code point U+0085 at character 1"),
        ("x\ud800", "surrogate code point U+D800 at character 1"),
        ("\ue000", "private-use code point U+E000 at character 0"),
        ("\U0010fffd", "private-use code point U+10FFFD at character 0"),
        ("\ufdd0", "noncharacter code point U+FDD0 at character 0"),
        ("\ufdef", "noncharacter code point U+FDEF at character 0"),
        ("\U0010ffff", "noncharacter code point U+10FFFF at character 0"),
        ("cafe\u0301", "from U+0065 at character 3 on"),
        ("a\u0301\u0316", "from U+0061 at character 0 on"),
        ("a" * 600 + "\u0301\u0316", "from U+0316 at character 601 on"),
        ("x" * 600 + "\u0302\u0334", "from U+0334 at character 601 on"),
        ("\u212b", "from U+212B at character 0 on"),
        pytest.param("x" * 65_537, "65537 bytes exceeds 65536", id="long-ascii"),
        pytest.param("é" * 32_769, "65538 bytes exceeds 65536", id="long"),
    ],
)
def test_an_offence_is_named_with_its_place(value: str, message: str) -> None:
    with pytest.raises(StrictProfileError, match=re.escape(message)):
        check_text(value)


@pytest.mark.parametrize(
    "value",
    [
        *("", "plain", "café", "\u2028", "\u200b", "\u00ad", "\U0001f600", "\ufffd", "\u0378"),
        pytest.param("x" * 65_536, id="longest-ascii"),
        pytest.param("é" * 32_768, id="longest"),
    ],
)
def test_text_within_the_rules_is_returned_itself(value: str) -> None:
    assert check_text(value) is value


def test_normalisation_is_that_of_unicode_17_whatever_python_runs() -> None:
    # U+16D63 and U+16D67 compose to U+16D69 only since Unicode 16; older tables hold the pair for NFC.
    pair = "\U00016d67\U00016d67"
    assert unicodedata2.normalize("NFC", pair) == "\U00016d68"
    with pytest.raises(StrictProfileError, match=r"not NFC under Unicode 17\.0\.0"):
        check_text(pair)
    if unicodedata.unidata_version < "16":
        assert unicodedata.is_normalized("NFC", pair)


def test_a_hostile_run_of_combining_marks_is_refused_in_linear_time() -> None:
    started = time.process_time()
    with pytest.raises(StrictProfileError, match="not NFC"):
        check_text("a" + "\u0301" * 16_000 + "\u0316" * 16_000)
    assert time.process_time() - started < 0.25  # sorting the marks by insertion takes about a second


@given(st.text(max_size=600))
def test_admitted_text_is_exactly_nfc_text_without_forbidden_code_points(value: str) -> None:
    clean = all(admitted_code(char) for char in value)
    expected = clean and unicodedata2.normalize("NFC", value) == value
    assert admitted(value) is expected


def admitted_code(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata2.category(char) not in {"Cc", "Cs", "Co"}
        and code & 0xFFFE != 0xFFFE
        and not 0xFDD0 <= code <= 0xFDEF
    )


@given(st.text(alphabet="a\u0301\u0316\u0327\u0345é\u1100\u1161", min_size=505, max_size=530))
def test_the_order_check_of_long_strings_agrees_with_normalisation(value: str) -> None:
    normal = unicodedata2.normalize("NFC", value)
    assert admitted(value) is (normal == value)
    assert admitted(normal), "nearly no string of these letters is normal by itself"


@pytest.mark.parametrize("length", [1, 300])
def test_marks_in_order_are_admitted_in_long_strings_too(length: int) -> None:
    assert admitted("q\u0316\u0301b" * length)
    assert not admitted("q\u0301\u0316b" * length)


@pytest.mark.parametrize("value", ["a", "tool.name-1_x", "a" * 128])
def test_contract_ids(value: str) -> None:
    assert is_contract_id(value)


@pytest.mark.parametrize("value", ["", "A", "1a", "_a", "a b", "a\n", "é", "a" * 129, "aé", "a/b"])
def test_what_is_no_contract_id(value: str) -> None:
    assert not is_contract_id(value)


def test_a_foreign_name_is_limited_in_bytes() -> None:
    assert check_foreign_name("Qwen/Qwen2.5-7B ✓") == "Qwen/Qwen2.5-7B ✓"
    assert check_foreign_name("é" * 128) == "é" * 128
    assert check_foreign_name("x" * 256) == "x" * 256
    with pytest.raises(StrictProfileError, match="of 258 bytes exceeds 256"):
        check_foreign_name("é" * 129)
    with pytest.raises(StrictProfileError, match=f"^foreign name '{'x' * 64}'… of 257 bytes exceeds 256"):
        check_foreign_name("x" * 257)
    with pytest.raises(StrictProfileError, match=r"control code point U\+0009"):
        check_foreign_name("a\tb")


@pytest.mark.parametrize("value", ["0", "1", "-1", "10", "12.34", "-0.5", "0.001", "1" * 128])
def test_canonical_decimals(value: str) -> None:
    assert check_decimal(value) is value


@pytest.mark.parametrize(
    "value",
    ["", "-", "-0", "+1", "01", "-01", "1.0", "1.", ".5", "1e2", "0.0", "-0.0", " 1", "1\n", "١", "1_0", "1" * 129],
)
def test_other_decimals_are_refused(value: str) -> None:
    with pytest.raises(StrictProfileError, match="decimal '"):
        check_decimal(value)


def test_a_long_decimal_is_refused_by_its_length():
    with pytest.raises(StrictProfileError, match=f"^decimal '{'1' * 64}'… of 129 characters exceeds 128 bytes"):
        check_decimal("1" * 129)


def test_other_normalisation_data_is_refused_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    stale = ModuleType("unicodedata2")
    stale.unidata_version = "15.0.0"
    monkeypatch.setitem(sys.modules, "unicodedata2", stale)
    spec = importlib.util.find_spec(text.__name__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=r"Unicode 17\.0\.0, but unicodedata2 carries 15\.0\.0: install"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
