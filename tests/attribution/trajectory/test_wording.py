from __future__ import annotations

from attribution.trajectory import Wording, wording_of_texts


def test_a_claim_gets_foils_and_its_source_a_swap_that_exchanges_the_same_value():
    texts = {
        "note": "Log: the Arden was steered by Dora Kellan.",
        "gate": "The gate closes at 17.",
        "claim": "The Arden was steered by Dora Kellan.",
    }
    assert wording_of_texts(texts, ["claim"]) == Wording(
        foils={"claim": ("The Arden was steered by Marlow.", "The Arden was steered by Tessin.")},
        swaps={
            "note": "Log: the Arden was steered by Marlow.",
            "gate": "The gate closes at 40.",
            "claim": "The Arden was steered by Marlow.",
        },
    )


def test_a_name_that_the_record_knows_is_no_foil():
    texts = {"note": "Marlow wrote to Tessin.", "claim": "It was steered by Dora."}
    assert wording_of_texts(texts, ["claim"]).foils == {
        "claim": ("It was steered by Orrin.", "It was steered by Quentin.")
    }


def test_what_has_nothing_to_exchange_has_neither_foil_nor_swap():
    assert wording_of_texts({"note": "Green leaves", "claim": "Green leaves"}, ["claim"]) == Wording({}, {})
