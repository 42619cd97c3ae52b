"""JSONTestSuite: what each profile does with every file."""

from __future__ import annotations

from collections.abc import Callable

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
    "i_number_double_huge_neg_exp.json": "underflows to 0 in jcs",
    "i_number_very_big_negative_int.json": "refused: no double holds it",
    "i_object_key_lone_2nd_surrogate.json": "refused: lone surrogate",
    "i_string_1st_valid_surrogate_2nd_invalid.json": "refused: lone surrogate",
    "i_string_UTF-16LE_with_BOM.json": "refused: not UTF-8",
    "i_string_incomplete_surrogate_and_escape_valid.json": "refused: lone surrogate",
    "i_string_incomplete_surrogate_pair.json": "refused: lone surrogate",
    "i_string_invalid_lonely_surrogate.json": "refused: lone surrogate",
    "i_string_invalid_surrogate.json": "refused: lone surrogate",
    "i_string_inverted_surrogates_U+1D11E.json": "refused: lone surrogate",
    "i_string_overlong_sequence_2_bytes.json": "refused: not UTF-8",
    "i_string_overlong_sequence_6_bytes.json": "refused: not UTF-8",
    "i_string_truncated-utf-8.json": "refused: not UTF-8",
    "i_string_utf16BE_no_BOM.json": "refused: not UTF-8",
    "i_structure_UTF-8_BOM_empty_object.json": "refused: byte order mark",
}
"""What the suite leaves free, and what is done; the strict profile refuses them all."""

REASONS = {"lone surrogate": "surrogate", "not UTF-8": "not UTF-8", "byte order mark": "byte order mark"}


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


def test_every_valid_file_parses_in_jcs() -> None:
    found = outcomes("y", jcs.parse)
    assert len(found) >= 41
    assert {name: message for name, message in found.items() if message} == {}


def test_the_strict_profile_refuses_exactly_what_lies_outside_it() -> None:
    found = outcomes("y", canonical.parse)
    assert {name for name, message in found.items() if message} == STRICT_REFUSES


def test_every_invalid_file_is_refused_by_both() -> None:
    for parse in (jcs.parse, canonical.parse):
        found = outcomes("n", parse)
        assert len(found) >= 90
        assert [name for name, message in found.items() if message is None] == []


def test_the_outcome_of_every_free_file_is_recorded() -> None:
    strict = outcomes("i", canonical.parse)
    guarded = outcomes("i", jcs.parse)
    assert set(guarded) == set(FREE)
    assert None not in strict.values()
    for name, outcome in FREE.items():
        message = guarded[name]
        if not outcome.startswith("refused: "):
            assert message is None, name
            continue
        assert message is not None, name
        reason = outcome.removeprefix("refused: ")
        assert REASONS.get(reason, "lies outside ±(2^53−1)") in message, name
