"""Cutting texts and counting shared words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.verification.passages import overlap_ppm, passages, words


@given(st.text(alphabet="ab .\n!é", max_size=300), st.integers(1, 40))
def test_passages_are_the_text_and_none_is_long(text, size):
    cut = passages(text, size)
    assert all(0 < len(passage.text) <= size for passage in cut)
    assert all(text[passage.start : passage.start + len(passage.text)] == passage.text for passage in cut)
    kept = {place for passage in cut for place in range(passage.start, passage.start + len(passage.text))}
    assert len(kept) == sum(len(passage.text) for passage in cut)
    assert all(text[place].isspace() for place in range(len(text)) if place not in kept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", ["short"]),
        ("", []),
        (" \n ", []),
        ("one two. three four\nfive", ["one two. three four\n", "five"]),
        ("one two three. four five six", ["one two three. ", "four five six"]),
        ("aaaa bbbb cccc dddd eeee ffff", ["aaaa bbbb cccc dddd ", "eeee ffff"]),
        ("x" * 45, ["x" * 20, "x" * 20, "x" * 5]),
    ],
)
def test_a_passage_ends_at_the_best_break_of_its_second_half(text, expected):
    assert [passage.text for passage in passages(text, 20)] == expected


def test_words_are_folded_and_the_commonest_left_out():
    assert words("The Price of the LAMP is ４００ €") == {"price", "lamp", "400"}
    assert words("It is what it is") == {"it", "is", "what"}
    assert words("…") == frozenset()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("abc", "abcdef", 1_000_000), ("abcdef", "abx", 666_666), ("ab", "cd", 0), ("", "ab", 0), ("", "", 0)],
)
def test_overlap_is_a_share_of_the_smaller(first, second, expected):
    assert overlap_ppm(frozenset(first), frozenset(second)) == expected
    assert overlap_ppm(frozenset(second), frozenset(first)) == expected
