"""Reading an answer: the object asked for, with words that the records really hold, or nothing."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.verification.answers import Answer, Span, read_answer
from tests.ledger_core.verification.fakes import says

A = "Der Preis beträgt 400 €."
B = "The price is 350 euros. The price is final."


def read(text, *, ended=True):
    return read_answer(text, ended=ended, a=A, b=B)


def test_a_relation_with_a_verbatim_quote_of_either():
    assert read(says("contradict", "400 €", "350 euros")) == Answer("contradict", (Span(19, 26), Span(13, 22)))
    assert A.encode()[19:26].decode() == "400 €"


def test_a_quote_that_stands_twice_is_the_first():
    found = read(says("support", "Preis", "The price is"))
    assert found == Answer("support", (Span(4, 9), Span(0, 12)))


@pytest.mark.parametrize("around", ["{}", "  {}\n", "```json\n{}\n```", "```\n{}\n```", "\n```json\n\n{}\n\n```\n"])
def test_white_space_and_one_code_fence_are_no_defect(around):
    assert read(around.replace("{}", says("neither"))) == Answer("neither", None)


def test_neither_needs_no_quote():
    assert read(says("neither", "never said", "")) == Answer("neither", None)


OBJECT = {"relation": "contradict", "quote_a": "400 €", "quote_b": "350 euros"}


@pytest.mark.parametrize(
    "said",
    [
        "",
        "contradict",
        "null",
        "[]",
        json.dumps([OBJECT]),
        f"The answer is {json.dumps(OBJECT)}",
        f"{json.dumps(OBJECT)} I am sure.",
        f"{json.dumps(OBJECT)}\n{json.dumps(OBJECT)}",
        json.dumps(OBJECT | {"confidence": 0.9}),
        json.dumps({"relation": "contradict", "quote_a": "400 €"}),
        json.dumps(OBJECT | {"relation": "Contradict"}),
        json.dumps(OBJECT | {"relation": "contradicts"}),
        json.dumps(OBJECT | {"relation": None}),
        json.dumps(OBJECT | {"relation": ["contradict"]}),
        json.dumps(OBJECT | {"quote_a": 400}),
        json.dumps(OBJECT | {"quote_b": None}),
        '{"relation": "support", "relation": "contradict", "quote_a": "400 €", "quote_b": "350 euros"}',
        "{'relation': 'contradict', 'quote_a': '400 €', 'quote_b': '350 euros'}",
        '{"relation": "contradict", "quote_a": "\\ud800", "quote_b": "350 euros"}',
        "\ud800",
        "[" * 100_000,
    ],
)
def test_anything_else_is_unparsable(said):
    assert read(said) == "unparsable"


@pytest.mark.parametrize(
    ("quote_a", "quote_b"),
    [
        ("400 EUR", "350 euros"),
        ("400 €", "350 Euros"),
        ("400  €", "350 euros"),
        ("350 euros", "400 €"),
        ("", "350 euros"),
        ("400 €", ""),
        (" ", "350 euros"),
        ("400 €", "."),
        ("€.", "350 euros"),
        (A + A, B),
    ],
)
@pytest.mark.parametrize("relation", ["contradict", "support"])
def test_a_quote_that_is_not_there_word_for_word_decides_nothing(relation, quote_a, quote_b):
    assert read(says(relation, quote_a, quote_b)) == "not_verbatim"


def test_an_answer_that_was_cut_off_counts_for_nothing_however_whole_it_looks():
    assert read(json.dumps(OBJECT), ended=False) == "cut"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=40), st.text(max_size=40))
def test_nothing_a_model_says_is_an_error(said, a, b):
    assert isinstance(read_answer(said, ended=True, a=a, b=b), Answer | str)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(["contradict", "support"]))
def test_a_span_holds_exactly_the_words_that_were_quoted(data, relation):
    records = [data.draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)) for _ in range(2)]
    quotes = []
    for record in records:
        start = data.draw(st.integers(0, len(record) - 1))
        quotes.append(record[start : data.draw(st.integers(start + 1, len(record)))])
    found = read_answer(says(relation, *quotes), ended=True, a=records[0], b=records[1])
    if all(re.search(r"\w", quote) for quote in quotes):
        spans = found.quotes
        assert [r.encode()[s.start : s.stop].decode() for r, s in zip(records, spans, strict=True)] == quotes
    else:
        assert found == "not_verbatim"
