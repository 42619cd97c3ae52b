"""Which measurements count, and for what: admission, power, and those in force about one claim."""

from __future__ import annotations

import pytest

from ledger_core.belief.attenuation import depths
from ledger_core.belief.edges import measurements_in_force, refusal
from ledger_core.belief.fold import fold
from ledger_core.belief.index import index_statements
from ledger_core.belief.policies import SEED_V4_CLUSTERS, STRICT_CLUSTERS
from ledger_core.belief.state import Hyperedge
from tests.ledger_core.belief.book import OTHER_WEIGHTS, Book


@pytest.fixture
def book():
    return Book()


def statement(book, event_id):
    (found,) = (each for each in book.statements if each.event_id == event_id)
    return found


def test_a_refusal_says_what_is_wrong(book):
    source, other = book.seal("a.example"), book.seal("b.example")
    generation, elsewhere = book.generation([source]), book.generation([other])
    claim = book.claim(generation)
    sound, foreign = book.measure(claim, generation, {source: 5}), book.measure(claim, generation, {other: 5})
    moved = book.measure(claim, elsewhere, {other: 5})
    said, spoken = statement(book, claim), statement(book, generation)
    missing = "it measures a claim or a generation that is not in the ledger"
    assert refusal(statement(book, sound), None, spoken) == missing
    assert refusal(statement(book, sound), said, None) == missing
    assert refusal(statement(book, sound), said, spoken) is None
    assert refusal(statement(book, moved), said, statement(book, elsewhere)) == (
        f"the claim is of generation {generation}, the measurement of {elsewhere}"
    )
    assert refusal(statement(book, foreign), said, spoken) == (
        f"entry {other} is not in the recorded context of generation {generation}"
    )


def test_measurements_in_force_are_those_of_the_claim_with_their_power(book):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim, other = book.claim(generation, {source: 700_000}), book.claim(generation)
    lowering = book.measure(claim, generation, {source: 5})
    adding = book.measure(claim, generation, {source: 9}, scorer=OTHER_WEIGHTS, rows="dd" * 32)
    elsewhere = book.measure(other, generation, {source: 7})
    index = index_statements(book.statements, SEED_V4_CLUSTERS)
    expected = sorted([(lowering, True), (adding, False)])
    assert [(each.event_id, lowers) for each, lowers in measurements_in_force(claim, index)] == expected
    assert [(each.event_id, lowers) for each, lowers in measurements_in_force(other, index)] == [(elsewhere, True)]
    assert measurements_in_force(source, index) == ()


def test_depth_counts_known_nodes_alone():
    assert depths({"b": ["a", "nowhere"], "a": ["nowhere"]}) == {"a": 0, "b": 1}
    assert depths({"b": ["a"], "a": []}) == {"a": 0, "b": 1}
    assert depths({"b": ["a"], "a": ["settled"]}, {"settled": 4}) == {"a": 5, "b": 6}


def weights(book, claim, policy=SEED_V4_CLUSTERS):
    """What each entry of the ledger weighs for ``claim``."""
    edges = fold(book.statements, policy).entries[claim].hyperedges
    return {edge.parents: edge.ppm for edge in edges}


def test_rivals_in_force_come_by_event_id(book):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim = book.claim(generation)
    rivals = [book.measure(claim, generation, {source: ppm}, rows=f"{ppm:02x}" * 32) for ppm in range(1, 7)]
    assert rivals != sorted(rivals)
    index = index_statements(book.statements, SEED_V4_CLUSTERS)
    assert [each.event_id for each, _ in measurements_in_force(claim, index)] == sorted(rivals)


def test_template_text_is_no_dependence(book):
    sources = [book.seal(f"{name}.example") for name in "ab"]
    claim = book.claim(book.generation([None, *sorted(sources, reverse=True), None]))
    edges = fold(book.statements, STRICT_CLUSTERS).entries[claim].hyperedges
    assert edges == tuple(Hyperedge((source,), 1_000_000) for source in sorted(sources))


def test_a_context_is_presumed_to_weigh_what_the_policy_says(book):
    source = book.seal("a.example")
    claim = book.claim(book.generation([source]))
    policy = STRICT_CLUSTERS.model_copy(update={"undeclared_context_ppm": 1})
    assert weights(book, claim, policy) == {(source,): 1}
    assert weights(book, claim) == {}


def test_what_weighs_nothing_is_no_dependence(book):
    declared, measured = book.seal("a.example"), book.seal("b.example")
    generation = book.generation([declared, measured])
    claim = book.claim(generation, {declared: 0})
    assert weights(book, claim) == {}
    book.measure(claim, generation, {declared: "opposes", measured: "undetermined"})
    assert weights(book, claim) == {}


def test_one_ungrounded_rival_is_enough(book):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim = book.claim(generation, {source: 9})
    book.measure(claim, generation, {source: 5})
    assert fold(book.statements, SEED_V4_CLUSTERS).entries[claim].tier == "derived"
    book.measure(claim, generation, {source: "null"}, result="ungrounded", rows="dd" * 32)
    assert fold(book.statements, SEED_V4_CLUSTERS).entries[claim].tier == "conjecture"


def test_who_has_the_weights_without_the_tokens_may_only_add(book):
    source = book.seal("a.example")
    generation = book.generation([source], exact=False, weights=OTHER_WEIGHTS)
    claim = book.claim(generation, {source: 700_000})
    book.measure(claim, generation, {source: "null"}, scorer=OTHER_WEIGHTS)
    assert weights(book, claim) == {(source,): 700_000}


@pytest.mark.parametrize(("high", "left"), [(250_000, {}), (250_001, 700_000)])
def test_a_null_lowers_up_to_the_threshold(book, high, left):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim = book.claim(generation, {source: 700_000})
    book.measure(claim, generation, {source: "null"}, null_high=high)
    assert weights(book, claim) == ({(source,): left} if left else {})


def test_an_edge_with_a_small_interval_is_no_null(book):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim = book.claim(generation, {source: 700_000})
    book.measure(claim, generation, {source: 600_000}, edge_high=10)
    assert weights(book, claim) == {(source,): 600_000}


def test_a_cap_bounds_what_an_edge_claims_and_not_what_it_leaves(book):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim = book.claim(generation, {source: 700_000})
    book.measure(claim, generation, {source: 600_000}, edge_high=10, flags=("uncontrasted",))
    policy = SEED_V4_CLUSTERS.model_copy(update={"uncontrasted_cap_ppm": 500_000})
    assert weights(book, claim, policy) == {(source,): 600_000}


def test_invalidation_has_three_reasons_of_its_own(book):
    retracted, suspended, sound = (book.seal(f"{name}.example") for name in "abc")
    local = book.local()
    half = book.claim(None, {retracted: 500_000}, derived=False)
    book.contradict(retracted, book.seal("d.example"), book.seal("e.example"))
    book.audit(suspended, "tampered")

    def entries(kept):
        return fold(book.statements, SEED_V4_CLUSTERS.model_copy(update={"retracted_ppm": kept})).entries

    most = entries(900_000)
    assert [most[each].attenuation for each in (retracted, suspended, sound)] == [900_000_000, 900_000_000, 10**9]
    assert [most[each].invalidated for each in (retracted, suspended, sound)] == [True, True, False]
    assert [most[each].external for each in (sound, local)] == [True, False]
    # At the threshold, and one part above it.
    assert (entries(0)[half].attenuation, entries(0)[half].invalidated) == (500_000_000, True)
    assert (entries(1)[half].attenuation, entries(1)[half].invalidated) == (500_000_500, False)
