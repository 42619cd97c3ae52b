"""What two texts are compared by: the readable form, shingles, and three exact measures."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.belief.similarity import (
    ECHO_WINDOW,
    MAX_CHARACTERS,
    Wording,
    containment_ppm,
    cosine_ppm,
    jaccard_ppm,
    readable,
    said_in,
    shingles,
    wording_of,
)
from ledger_core.kernel.errors import BeliefError

PLAIN = "the tower is 330 metres high"

SPELLINGS = {
    "upper case": "THE Tower IS 330 METRES high",
    "white space": "  the\ttower is\r\n330  metres\u00a0high\u2003",
    "compatibility characters": "ｔｈｅ tower is ３３０ metres high",
    "zero-width characters": "the to\u200bw\u200der is 3\ufeff30 met\u2060res hi\u00adgh",
    "bidirectional controls": "the \u202etower\u202c is \u2066330\u2069 metres high",
    "variation selectors": "the tower\ufe0f is 330\U000e0100 metres high",
    "fillers and blanks": "the tow\u3164er is 3\u115f30 me\u034ftres high",
    "tag characters": "the tower\U000e0041\U000e0042 is 330 metres high",
    "stacked marks": "th\u0323\u0335e to\u0300\u0301wer is 330 met\u0327res high",
    "precomposed marks": "thé töwer ïs 330 mętręs hįgh",
    "Cyrillic look-alikes": "thе towеr is 330 mеtrеs high",
    "Cyrillic capitals": "tНe tОwer is 330 meТres Нigh",
    "Greek look-alikes": "the tοwer is 330 metrεs high",
    "control characters": "the\x1ftower is\x07330 metres\x85high",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_texts_that_look_alike_are_one_readable_text(spelling):
    assert readable(spelling) == PLAIN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße", "strasse"),
        ("ﬁne", "fine"),
        ("東京タワーは３３３メートル", "東京タワーは333メートル"),
        ("Эйфелева башня", "эифелева башня"),
        ("हिन्दी", "हिनदी"),
        ("한국어", "한국어"),
        ("H₂O ½", "h2o 1⁄2"),
        ("", ""),
        ("\u200b\n", ""),
    ],
)
def test_readable_forms(text, expected):
    assert readable(text) == expected


def test_a_word_without_a_latin_letter_keeps_its_script():
    assert readable("МОСКВА") == "москва"
    assert readable("тост, ром и сок") == "тост, ром и сок"
    assert readable("The letter а stands here, and the word Нижний") == "the letter a stands here, and the word нижнии"
    assert readable("ΑΘΗΝΑ") == "αθηνα"
    assert readable("The letters о-а stand here") == "the letters o-a stand here"


@given(st.text(max_size=60))
def test_reading_again_changes_nothing(text):
    assert readable(readable(text)) == readable(text)


def test_a_hostile_run_of_marks_is_read_in_linear_time():
    # Sorting the run would take 10¹¹ steps.
    assert readable("a" + "\u0316\u0301" * 200_000 + "b") == "ab"


def test_shingles_are_the_distinct_runs_of_five():
    assert shingles("abcdefg") == {"abcde", "bcdef", "cdefg"}
    assert shingles("aaaaaaaaaa") == {"aaaaa"}
    assert shingles("abcd") == frozenset()


class TestWording:
    def test_text_has_no_structure(self):
        assert wording_of("Price: 30 €".encode()) == Wording("price: 30 €", None)

    def test_a_json_document_is_read_by_key_and_value_whatever_its_spelling(self):
        one = wording_of(b'{"b": ["x", 1.0, null], "a": "caf\\u00e9"}')
        other = wording_of('{"a":"café","b":["x",1,null]}'.encode())
        assert one is not None
        assert one == other
        assert one.text == "a cafe b x 1 null"
        assert one.structure == '{"a":"café","b":["x",1,null]}'.encode()

    def test_an_escape_makes_no_new_text(self):
        escaped = "".join(f"\\u{ord(char):04x}" for char in PLAIN)
        assert wording_of(f'{{"text":"{escaped}"}}'.encode()).text == f"text {PLAIN}"

    def test_a_bare_json_scalar_is_text(self):
        assert wording_of(b'"The Tower"') == Wording("the tower", None)
        assert wording_of(b"330") == Wording("330", None)

    def test_what_is_no_strict_json_is_text_as_it_stands(self):
        assert wording_of(b'{"a":1,"a":2}') == Wording('{"a":1,"a":2}', None)
        assert wording_of(b'{"a":1e16}') == Wording('{"a":1e16}', None)
        assert wording_of(b'{"a":12345678901234567890}') == Wording('{"a":12345678901234567890}', None)
        assert wording_of(b"[" * 100_000) == Wording("[" * 100_000, None)

    def test_what_cannot_be_compared_has_no_wording(self):
        assert wording_of(b"\xff\xfe") is None
        assert wording_of(b"a" * (MAX_CHARACTERS + 1)) is None
        assert wording_of(b"a" * MAX_CHARACTERS) is not None

    def test_what_is_said_is_read_at_any_length(self):
        assert said_in(b"a" * (MAX_CHARACTERS + 1)) == "a" * (MAX_CHARACTERS + 1)
        assert said_in(b'{"b":["x",1],"a":"The Tower"}') == "a the tower b x 1"
        assert said_in(b"\xff\xfe") is None


class TestJaccard:
    @pytest.mark.parametrize(
        ("shared", "only_first", "only_second", "ppm"),
        [(0, 0, 0, 0), (0, 3, 4, 0), (5, 0, 0, 1_000_000), (7, 3, 0, 700_000), (1, 1, 1, 333_334), (2, 1, 0, 666_667)],
    )
    def test_values(self, shared, only_first, only_second, ppm):
        common = {f"c{n}" for n in range(shared)}
        first = common | {f"a{n}" for n in range(only_first)}
        second = common | {f"b{n}" for n in range(only_second)}
        assert jaccard_ppm(first, second) == ppm

    @given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400), st.integers(0, 1_000_000))
    def test_a_threshold_decides_as_the_exact_number_would(self, shared, one, two, threshold):
        first = frozenset(range(shared + one))
        second = frozenset(range(shared)) | frozenset(range(-two, 0))
        exact = Fraction(shared, shared + one + two) if shared + one + two else Fraction(0)
        assert (jaccard_ppm(first, second) > threshold) == (exact > Fraction(threshold, 1_000_000))


class TestContainment:
    PART = Wording("abcdefghijklmnopqrstuvwxyz", None)

    def test_the_whole_text_is_contained_wherever_it_stands(self):
        assert containment_ppm(self.PART, f"0123456789 {self.PART.text} 0123456789") == 1_000_000

    def test_half_of_it(self):
        # 22 shingles, of which the first 13 letters spell 9.
        assert containment_ppm(self.PART, "abcdefghijklm 0123456789") == 9 * 1_000_000 // 22

    def test_nothing_is_contained_in_nothing(self):
        assert containment_ppm(self.PART, "") == 0
        assert containment_ppm(Wording("abc", None), "abcdef") == 0

    def test_pieces_count_together_only_within_one_stretch(self):
        first, second = self.PART.text[:13], self.PART.text[13:]
        near = f"{first}{'.' * 10}{second}"
        far = f"{first}{'.' * ECHO_WINDOW * len(self.PART.text)}{second}"
        assert containment_ppm(self.PART, near) == 18 * 1_000_000 // 22
        assert containment_ppm(self.PART, far) == 9 * 1_000_000 // 22

    @given(st.text("ab ", max_size=40), st.text("ab ", max_size=80))
    def test_a_stretch_never_holds_more_than_the_whole(self, part, text):
        wording = Wording(part, None)
        whole = len(wording.shingles & shingles(text)) * 1_000_000 // max(1, len(wording.shingles))
        assert containment_ppm(wording, text) <= whole
        if len(text) <= ECHO_WINDOW * len(part):
            assert containment_ppm(wording, text) == whole


class TestCosine:
    @pytest.mark.parametrize(
        ("first", "second", "ppm"),
        [
            ((3.0, 4.0), (3.0, 4.0), 1_000_000),
            ((3.0, 4.0), (30.0, 40.0), 1_000_000),
            ((3.0, 4.0), (4.0, 3.0), 960_000),
            ((1.0, 0.0), (0.0, 1.0), 0),
            ((1.0, 0.0), (-1.0, 0.0), 0),
        ],
    )
    def test_values(self, first, second, ppm):
        assert cosine_ppm(first, second) == pytest.approx(ppm, abs=1)

    @pytest.mark.parametrize(
        ("first", "second"),
        [((1.0,), (1.0, 0.0)), ((0.0, 0.0), (1.0, 0.0)), ((float("nan"), 1.0), (1.0, 0.0)), ((float("inf"),), (1.0,))],
    )
    def test_what_has_no_cosine_is_refused(self, first, second):
        with pytest.raises(BeliefError, match=r"dimensions|undefined"):
            cosine_ppm(first, second)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), lambda x: st.lists(x, max_size=3)
    )
)
def test_equal_json_values_have_equal_wordings(value):
    one = json.dumps(value).encode()
    other = json.dumps(value, ensure_ascii=False, indent=2).encode(errors="surrogatepass")
    assert wording_of(one) == wording_of(other)
