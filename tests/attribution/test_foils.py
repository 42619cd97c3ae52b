from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.foils import claim_foils, exchanged_entity, matched_swap


def test_number_is_exchanged_with_its_shape_kept():
    assert [foil.text for foil in claim_foils("The fee is 1,250 dollars.")] == [
        "The fee is 4,583 dollars.",
        "The fee is 6,705 dollars.",
    ]


def test_a_leading_digit_never_becomes_zero():
    assert claim_foils("It left at 75 degrees.")[0].text == "It left at 98 degrees."


def test_an_entity_is_exchanged_for_a_stranger_that_the_context_does_not_name():
    foils = claim_foils("The flight goes to Boston.", "Marlow booked a flight to Boston.")
    assert [(foil.kind, foil.text) for foil in foils] == [
        ("entity", "The flight goes to Tessin."),
        ("entity", "The flight goes to Orrin."),
    ]


def test_a_subject_is_not_exchanged():
    foils = claim_foils("The tickets for Calford hall are grey.")
    assert [(foil.kind, foil.text) for foil in foils] == [("polarity", "The tickets for Calford hall are not grey.")]
    assert claim_foils("Branvik farm grows potatoes.") == ()


def test_a_weekday_is_exchanged_for_a_weekday():
    foils = claim_foils("It is shut on Monday.", "Shut on Tuesday or Monday?")
    assert [foil.text for foil in foils] == ["It is shut on Wednesday.", "It is shut on Thursday."]


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


def test_an_entity_that_a_claim_states_is_exchanged_in_the_entries_too():
    exchanged = exchanged_entity("The first on its summit was Ilse Morrow.", "Ilse Morrow climbed it.")
    assert exchanged == ("Ilse Morrow", "Marlow")
    assert matched_swap("Belar: Ilse Morrow was first.", dict([exchanged])) == "Belar: Marlow was first."
    assert exchanged_entity("It is 3,271 metres tall, says Morrow.") is None


def test_no_foil_is_an_empty_tuple_not_a_guess():
    assert claim_foils("hello there") == ()


def test_matched_swap_keeps_names_and_moves_values():
    assert matched_swap('{"user": "Omar", "seats": 2, "paid": true}') == '{"user": "Omar", "seats": 5, "paid": false}'
    assert matched_swap("nothing to exchange here") is None


@given(st.text(max_size=200))
def test_foils_and_swaps_differ_from_their_text(text: str):
    assert all(foil.text != text for foil in claim_foils(text))
    assert matched_swap(text) != text
