"""Where each measure of similarity begins and ends, to the character."""

from __future__ import annotations

import pytest

from ledger_core.belief.similarity import Wording, containment_ppm, cosine_ppm, readable, wording_of

PART = Wording("abcdefghijklmnopqrstuvwxyz", None)
"""22 shingles; a stretch is 52 characters."""

INVISIBLE = [
    *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0),
    *(0xFE00, 0xFE07, 0xFE0F, 0xE0100, 0xE01EF),
]


@pytest.mark.parametrize("code", INVISIBLE, ids=hex)
def test_what_cannot_be_seen_is_dropped(code):
    assert readable(f"to{chr(code)}wer") == "tower"


@pytest.mark.parametrize(
    ("char", "seen"), [("\ufe10", ","), ("\u3165", "\u1114"), ("\u2801", "\u2801"), ("\U000e01f0", "\U000e01f0")]
)
def test_its_neighbours_can_be_seen(char, seen):
    assert readable(f"to{char}wer") == f"to{seen}wer"


@pytest.mark.parametrize("code", [0x00, 0x1F, 0x7F, 0x80, 0x9F, 0xA0], ids=hex)
def test_controls_are_white_space(code):
    assert readable(f"the{chr(code)}tower") == "the tower"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("aa \u043e\u043e", "aa \u043e\u043e"),  # half of the letters are Latin: not most
        ("aa \u043e\u043e\u043e", "aa \u043e\u043e\u043e"),
        ("aaa \u043e\u043e", "aaa oo"),
        ("zzz \u043e", "zzz o"),
        ("a\u043e", "ao"),
        ("z\u043e", "zo"),
        ("mnm \u043e1\u043e", "mnm o1o"),  # a digit is no letter
    ],
)
def test_letters_that_pass_for_latin_ones(text, read):
    assert readable(text) == read


def test_the_longest_text_that_is_compared():
    assert wording_of(b"a" * 200_000) == Wording("a" * 200_000, None)
    assert wording_of(b"a" * 200_001) is None


@pytest.mark.parametrize(("between", "shingles"), [(0, 2), (46, 2), (47, 1)])
def test_pieces_count_together_within_two_lengths(between, shingles):
    text = f"abcde{'.' * between}vwxyz"
    assert containment_ppm(PART, text) == shingles * 1_000_000 // 22
    assert containment_ppm(PART, f"{'.' * 100}{text}{'.' * 100}") == shingles * 1_000_000 // 22


def test_a_piece_that_stands_twice_stays_as_long_as_one_of_them():
    """Starts 0 and 40, and another piece at 60, when the first has left the stretch."""
    text = f"abcde{'.' * 35}abcde{'.' * 15}vwxyz"
    assert (text.index("abcde", 1), text.index("vwxyz")) == (40, 60)
    assert containment_ppm(PART, text) == 2 * 1_000_000 // 22
    assert containment_ppm(PART, "abcdef") == 2 * 1_000_000 // 22


def test_a_cosine_is_rounded_up():
    assert cosine_ppm((1.0, 2.0), (2.0, 1.0)) in {800_000, 800_001}
    # 1/√2 = 0.70710678…
    assert cosine_ppm((1.0, 0.0), (1.0, 1.0)) == 707_107
    assert cosine_ppm((1.0, 0.0), (1e-9, 1.0)) == 1
    assert cosine_ppm((1.0, 0.0), (-1e-9, 1.0)) == 0
