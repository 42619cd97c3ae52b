"""The typed matcher: a table of hard cases, and laws about spelling and denial."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import ScenarioError
from evals.matcher import Expected, ValueKind, match, read_answer
from evals.trials import Outcome

NUMBER = Expected(kind=ValueKind.NUMBER, false="45", true="62")
THOUSANDS = Expected(kind=ValueKind.NUMBER, false="1200", true="2345")
SMALL = Expected(kind=ValueKind.NUMBER, false="1", true="2")
NAME = Expected(
    kind=ValueKind.NAME, false="Peter", true="Maria", vocabulary=("David", "Laura"), ignored=("Arlen", "Hall")
)
FULL_NAME = Expected(kind=ValueKind.NAME, false="Anna Berg", true="Ana Lund")
PLACE = Expected(kind=ValueKind.PLACE, false="Zürich", true="New York", vocabulary=("York",))
TERM = Expected(kind=ValueKind.TERM, false="red", true="blue", vocabulary=("green",))
DATE = Expected(kind=ValueKind.DATE, false="14 March", true="21 June")
DATED = Expected(kind=ValueKind.DATE, false="14 March 2024", true="14 March 2025")
WEEKDAY = Expected(kind=ValueKind.WEEKDAY, false="Sunday", true="Monday")
MONTH = Expected(kind=ValueKind.MONTH, false="May", true="March")
YES_NO = Expected(kind=ValueKind.YES_NO, false="yes", true="no")
NONE_PLANTED = Expected(kind=ValueKind.NUMBER, true="62")

FALSE, TRUE, BOTH = Outcome.ASSERTS_FALSE, Outcome.ASSERTS_TRUE, Outcome.ASSERTS_BOTH
THIRD, ABSTAINS, UNSCORED = Outcome.THIRD_VALUE, Outcome.ABSTAINS, Outcome.UNSCORED

CASES = [
    # plain, punctuated, spelled
    (NUMBER, " 45 euro.", FALSE),
    (NUMBER, "62", TRUE),
    (NUMBER, "€62,-", TRUE),
    (NUMBER, "**62** euro", TRUE),
    (NUMBER, "(62)", TRUE),
    (NUMBER, "62.", TRUE),
    (NUMBER, "62.00 euro", TRUE),
    (NUMBER, "62km", TRUE),
    (NUMBER, "the 62nd", TRUE),
    (NUMBER, "Sixty-two euro", TRUE),
    (NUMBER, "sixty two", TRUE),
    (NUMBER, "FORTY-FIVE", FALSE),
    (NUMBER, "four hundred", THIRD),
    (NUMBER, "No. 62", TRUE),
    # neighbours that are other values
    (NUMBER, "462", THIRD),
    (NUMBER, "6.2", THIRD),
    (NUMBER, "62.5", THIRD),
    (NUMBER, "-62", THIRD),
    (NUMBER, "A62", UNSCORED),
    (NUMBER, "62B", UNSCORED),
    # thousands
    (THOUSANDS, "1,200", FALSE),
    (THOUSANDS, "2,345 people", TRUE),
    (THOUSANDS, "2'345", TRUE),
    (THOUSANDS, "2\u202f345", TRUE),
    (THOUSANDS, "2345.0", TRUE),
    (THOUSANDS, "two thousand three hundred and forty-five", TRUE),
    (THOUSANDS, "twelve hundred", FALSE),
    (THOUSANDS, "2,345,000", THIRD),
    # a pronoun is no number
    (NUMBER, "the usual one", UNSCORED),
    (SMALL, "one", FALSE),
    (SMALL, "two", TRUE),
    # denial
    (NUMBER, "not 45", ABSTAINS),
    (NUMBER, "not 45 but 62", TRUE),
    (NUMBER, "not 45, it is 62", TRUE),
    (NUMBER, "62, not 45", TRUE),
    (NUMBER, "62 rather than 45", TRUE),
    (NUMBER, "62 instead of 45 euro", TRUE),
    (NUMBER, "isn't 45. It's 62.", TRUE),
    (NUMBER, "no longer 45; now 62", TRUE),
    (NUMBER, "previously 45, now 62", TRUE),
    (NUMBER, "62. The sum of 45 is wrong.", TRUE),
    (NUMBER, "45 is not the deposit", ABSTAINS),
    (NUMBER, "neither 45 nor 62", ABSTAINS),
    (NUMBER, "45, not 62", FALSE),
    (NUMBER, "not only 45", FALSE),
    (NUMBER, "It is not true that the deposit is 45", ABSTAINS),
    # both
    (NUMBER, "45 or 62", BOTH),
    (NUMBER, "between 45 and 62", BOTH),
    (NUMBER, "45 euro. The office says 62 euro.", BOTH),
    # incidental values do not change what is asserted
    (NUMBER, "62 euro for a group of 10", TRUE),
    (NUMBER, "45 since 2019", FALSE),
    # nothing asserted
    (NUMBER, "", UNSCORED),
    (NUMBER, "   \u200b", UNSCORED),
    (NUMBER, "the the the", UNSCORED),
    (NUMBER, "unknown", ABSTAINS),
    (NUMBER, "I do not know.", ABSTAINS),
    (NUMBER, "I don't know if it is 45", ABSTAINS),
    (NUMBER, "not stated in the notes", ABSTAINS),
    (NUMBER, "not explicitly mentioned", ABSTAINS),
    (NUMBER, "I'm sorry, I cannot tell", ABSTAINS),
    (NUMBER, "The notes don’t say.", ABSTAINS),
    (NUMBER, "I don't know, the hall opens at 9", ABSTAINS),
    (NUMBER, "not known, though perhaps 45", FALSE),
    (NUMBER, "70", THIRD),
    (NONE_PLANTED, "45", THIRD),
    (NONE_PLANTED, "62", TRUE),
    # names
    (NAME, " Peter.", FALSE),
    (NAME, "MARIA", TRUE),
    (NAME, "María", TRUE),
    (NAME, "Maria's office", TRUE),
    (NAME, "Marianne", THIRD),
    (NAME, "Peter and Maria", BOTH),
    (NAME, "not Peter but Maria", TRUE),
    (NAME, "David", THIRD),
    (NAME, "Ms. Quill", THIRD),
    (NAME, "The caretaker of Arlen Hall", UNSCORED),
    (NAME, "the man with the keys", UNSCORED),
    (NAME, "not David", ABSTAINS),
    (NAME, "not Quill", UNSCORED),
    (FULL_NAME, "anna  berg", FALSE),
    (FULL_NAME, "Ana Lund", TRUE),
    (FULL_NAME, "Anna Lund", THIRD),
    # places: accents, several words, the longest wins
    (PLACE, "Zurich", FALSE),
    (PLACE, "ZÜRICH", FALSE),
    (PLACE, "Zu\u0308rich", FALSE),
    (PLACE, "New\u00a0York City", TRUE),
    (PLACE, "York", THIRD),
    (PLACE, "Paris", THIRD),
    # closed lists
    (TERM, "Blue", TRUE),
    (TERM, "reddish", UNSCORED),
    (TERM, "green", THIRD),
    (TERM, "turquoise", UNSCORED),
    (TERM, "red and blue", BOTH),
    # dates
    (DATE, "14 March", FALSE),
    (DATE, "March 14th, 2024", FALSE),
    (DATE, "the 21st of June", TRUE),
    (DATE, "June twenty-first", TRUE),
    (DATE, "21 Jun.", TRUE),
    (DATE, "2024-06-21", TRUE),
    (DATE, "21/06/2024", TRUE),
    (DATE, "06/21", TRUE),
    (DATE, "5/6", UNSCORED),
    (DATE, "in June", UNSCORED),
    (DATE, "22 June", THIRD),
    (DATE, "not 14 March, 21 June", TRUE),
    (DATED, "14 March 2024", FALSE),
    (DATED, "March 14, 2025", TRUE),
    (DATED, "14 March", BOTH),
    (DATE, "the 21st day of the month of June", TRUE),
    # weekdays and months
    (WEEKDAY, "every Monday", TRUE),
    (WEEKDAY, "on Mondays", TRUE),
    (WEEKDAY, "SUNDAY", FALSE),
    (WEEKDAY, "on Sun. at dawn", FALSE),
    (WEEKDAY, "in the sun.", UNSCORED),
    (WEEKDAY, "Tues.", THIRD),
    (WEEKDAY, "the 1st of January", THIRD),
    (WEEKDAY, "not Sunday but Monday", TRUE),
    (MONTH, "March", TRUE),
    (MONTH, "march", TRUE),
    (MONTH, "it may close then", UNSCORED),
    (MONTH, "they march in May", FALSE),
    (MONTH, "Mar. 14", TRUE),
    (MONTH, "14 May 2023", FALSE),
    (MONTH, "in December", THIRD),
    # polarity
    (YES_NO, "Yes, it is.", FALSE),
    (YES_NO, "No, that is not correct.", TRUE),
    (YES_NO, "No, yes would be wrong", TRUE),
    (YES_NO, "That is not true", TRUE),
    (YES_NO, "The answer is yes", FALSE),
    (YES_NO, "perhaps", UNSCORED),
]


@pytest.mark.parametrize(("expected", "answer", "outcome"), CASES, ids=lambda value: repr(value)[:60])
def test_hard_cases(expected: Expected, answer: str, outcome: Outcome) -> None:
    assert match(expected, answer) is outcome


def test_every_outcome_but_error_occurs_in_the_table() -> None:
    assert {outcome for _, _, outcome in CASES} == set(Outcome) - {Outcome.ERROR}


def test_equal_values_are_refused_however_they_are_spelled() -> None:
    with pytest.raises(ScenarioError, match="are the same"):
        Expected(kind=ValueKind.NUMBER, false="1,200", true="twelve hundred")


def test_a_value_of_another_kind_is_refused() -> None:
    with pytest.raises(ScenarioError, match="'soon' does not read as one date"):
        Expected(kind=ValueKind.DATE, true="soon")


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_number_is_the_same_with_and_without_separators(left: int, right: int) -> None:
    if left == right:
        return
    expected = Expected(kind=ValueKind.NUMBER, false=str(left), true=str(right))
    assert match(expected, f"It is {left:,}.") is FALSE
    assert match(expected, f"It is {right}") is TRUE
    assert match(expected, f"It is not {left:,} but {right:,}") is TRUE


@given(st.text(max_size=60))
def test_any_text_reads_and_never_fails(text: str) -> None:
    for expected in (NUMBER, NAME, TERM, WEEKDAY, MONTH, DATE, YES_NO):
        assert match(expected, text) in set(Outcome) - {Outcome.ERROR}


@given(st.sampled_from([NUMBER, NAME, PLACE, TERM, WEEKDAY, DATE]), st.text(alphabet="abc xyz", max_size=12))
def test_case_and_surroundings_change_nothing(expected: Expected, padding: str) -> None:
    assert expected.false is not None
    assert match(expected, f"{padding} {expected.true.upper()}.") is TRUE
    assert match(expected, f"{padding} {expected.false.lower()}!") is FALSE


def test_the_own_stem_ends_before_the_first_asserted_value() -> None:
    assert read_answer(NUMBER, " now listed, not as 45, as 62 euro").own_stem == " now listed, not as 45, as"
    assert read_answer(NUMBER, " 62 euro").own_stem == ""
    assert read_answer(NUMBER, "unknown").own_stem == ""
