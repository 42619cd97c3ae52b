from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.foils import claim_foils, context_entities, matched_swap


def test_number_is_exchanged_with_its_shape_kept():
    assert [foil.text for foil in claim_foils("The fee is 1,250 dollars.")] == [
        "The fee is 4,583 dollars.",
        "The fee is 6,705 dollars.",
    ]


def test_a_leading_digit_never_becomes_zero():
    assert claim_foils("It left at 75 degrees.")[0].text == "It left at 98 degrees."


def test_entity_is_taken_from_the_context():
    entities = context_entities(("Flights to Boston and Denver are full.",))
    assert entities == ("Flights", "Boston", "Denver")
    foils = claim_foils("The flight goes to Boston.", ("Boston", "Denver"))
    assert [(foil.kind, foil.text) for foil in foils] == [("entity", "The flight goes to Denver.")]


@pytest.mark.parametrize(
    ("claim", "foil"),
    [
        ("the ticket is refundable", "the ticket is not refundable"),
        ("the ticket is not refundable", "the ticket is refundable"),
        ("you cannot cancel it", "you can cancel it"),
        ("you can cancel it", "you cannot cancel it"),
    ],
)
def test_polarity_is_turned_where_nothing_else_can_be_exchanged(claim: str, foil: str):
    assert [(found.kind, found.text) for found in claim_foils(claim)] == [("polarity", foil)]


def test_no_foil_is_an_empty_tuple_not_a_guess():
    assert claim_foils("hello there") == ()


def test_matched_swap_keeps_names_and_moves_values():
    assert matched_swap('{"user": "Omar", "seats": 2, "paid": true}') == '{"user": "Omar", "seats": 5, "paid": false}'
    assert matched_swap("nothing to exchange here") is None


@given(st.text(max_size=200))
def test_foils_and_swaps_differ_from_their_text(text: str):
    assert all(foil.text != text for foil in claim_foils(text))
    assert matched_swap(text) != text
