"""Swaps keep length and place, and take the scenario's words before the text's own values before filler."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.trajectory.swaps import FILLER, fit_swap
from tests.attribution.trajectory.builders import text_of, tokenize


def swapped(region: str, text: str, swap: str | None = None) -> str:
    return text_of(fit_swap(tokenize(region), text, swap, tokenize))


@pytest.mark.parametrize(
    ("region", "text", "swap", "expected"),
    [
        ("van is red.", "van is red.", "van is tan.", "van is tan."),
        ("opens at 7", "opens at 7", None, "opens at 0"),
        ("van is red.\n", "van is red.", "van is tan.", "van is tan.\n"),
        ("van is red.\n", "van is red.", "van is turquoise.", "van is turq\n"),
        ("van is red.\n", "van is red.", "tan.", "tan. There \n"),
        ("- van is red.\n", "van is red.", "van is tan.", "- van is tan.\n"),
        ("hello\n", "hello", None, FILLER[:5] + "\n"),
        ("rewritten", "another text", "x", ("x" + FILLER)[:9]),
        ("\n", "", None, "\n"),
        ("", "", None, ""),
    ],
)
def test_the_text_is_exchanged_and_what_surrounds_it_stays(region, text, swap, expected):
    assert swapped(region, text, swap) == expected


def test_a_short_swap_of_a_long_text_is_filled_up_as_often_as_needed():
    text = "y" * 200
    assert swapped(text, text, "z") == ("z" + FILLER * 4)[:200]


@given(st.text(max_size=80), st.none() | st.text(max_size=120), st.text("\n -", max_size=3))
def test_no_later_position_ever_moves(text, swap, tail):
    region = tokenize(text + tail)
    assert len(fit_swap(region, text, swap, tokenize)) == len(region)
