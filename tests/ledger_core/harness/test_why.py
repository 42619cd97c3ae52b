"""From a claim back to the seals: which hyperedges, grounded in which statements."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS
from ledger_core.harness.why import Ground, why
from ledger_core.kernel.errors import BeliefError
from tests.ledger_core.belief.book import OTHER_WEIGHTS, Book


def test_a_declared_chain_is_followed_to_its_seal():
    book = Book()
    source = book.seal("p.example")
    first = book.claim(book.generation([source]), {source: 600_000})
    last = book.claim(book.generation([source, first]), [first])
    found = why(book.statements, SEED_V4_CLUSTERS, last)
    assert list(found.links) == [last, first, source]
    (cause,) = found.links[last].causes
    assert (cause.parents, cause.ppm) == ((first,), 1_000_000)
    assert cause.grounds == (Ground("declared", last, 1_000_000),)
    assert found.links[first].causes[0].grounds == (Ground("declared", first, 600_000),)
    link = found.links[source]
    assert (link.seal, link.causes, link.attestation) == (book.seal_of(source), (), "boundary")
    assert link.sealed is not None
    assert (link.sealed.tool, link.state.cluster) == ("fetch", "p.example")


def test_what_several_rest_on_stands_once():
    book = Book()
    source = book.seal("p.example")
    left, right = (book.claim(book.generation([source]), [source]) for _ in range(2))
    top = book.claim(book.generation([left, right]), [left, right])
    found = why(book.statements, SEED_V4_CLUSTERS, top)
    assert sorted(found.links) == sorted([top, left, right, source])
    assert next(iter(found.links)) == top
    assert list(found.links)[-1] == source


def test_presumed_context_is_grounded_in_the_generation():
    book = Book()
    source, user = book.seal("p.example"), book.given()
    generation = book.generation([user, source])
    claim = book.claim(generation, {source: 100_000})
    link = why(book.statements, STRICT_CLUSTERS, claim).links[claim]
    grounds = {cause.parents[0]: cause.grounds for cause in link.causes}
    assert grounds[user] == (Ground("presumed", generation, 1_000_000),)
    assert grounds[source] == (Ground("declared", claim, 100_000), Ground("presumed", generation, 1_000_000))
    assert why(book.statements, SEED_V4_CLUSTERS, claim).links.keys() == {claim, source}


def test_a_measured_cut_is_one_cause_of_several_parents():
    book = Book()
    one, other = book.seal("p.example"), book.seal("q.example")
    generation = book.generation([one, other])
    claim = book.claim(generation)
    pair = tuple(sorted((one, other)))
    measured = book.measure(claim, generation, {one: 0, other: 0}, cuts={pair: 900_000})
    link = why(book.statements, SEED_V4_CLUSTERS, claim).links[claim]
    (cause,) = link.causes
    assert (cause.parents, cause.ppm, cause.grounds) == (pair, 900_000, (Ground("measured", measured, 900_000),))
    (measurement,) = link.measurements
    assert (measurement.event_id, measurement.result, measurement.verdicts) == (measured, "grounded", {"edge": 2})
    assert (measurement.may_lower, measurement.total_effect) == (True, None)


def test_without_a_foil_the_cap_is_what_the_measurement_gives():
    book = Book()
    source = book.seal("p.example")
    generation = book.generation([source])
    claim = book.claim(generation)
    measured = book.measure(claim, generation, {source: 950_000}, flags=("uncontrasted",))
    (cause,) = why(book.statements, SEED_V4_CLUSTERS, claim).links[claim].causes
    assert (cause.ppm, cause.grounds) == (500_000, (Ground("measured", measured, 500_000),))


def test_a_declared_parent_that_makes_no_difference_is_released_and_named():
    book = Book()
    source = book.seal("p.example")
    generation = book.generation([source])
    claim = book.claim(generation, [source])
    book.measure(claim, generation, {source: "null"})
    link = why(book.statements, SEED_V4_CLUSTERS, claim).links[claim]
    assert (link.causes, link.released) == ((), (source,))


def test_a_proxy_releases_nothing_and_says_that_it_only_adds():
    book = Book()
    source = book.seal("p.example")
    generation = book.generation([source])
    claim = book.claim(generation, [source])
    book.measure(claim, generation, {source: "null"}, scorer=OTHER_WEIGHTS, flags=("proxy-scored",))
    link = why(book.statements, SEED_V4_CLUSTERS, claim).links[claim]
    assert [cause.parents for cause in link.causes] == [(source,)]
    assert link.released == ()
    assert [(each.may_lower, each.flags) for each in link.measurements] == [(False, ("proxy-scored",))]


def test_a_replaced_measurement_is_not_in_force():
    book = Book()
    source = book.seal("p.example")
    generation = book.generation([source])
    claim = book.claim(generation)
    first = book.measure(claim, generation, {source: 300_000})
    second = book.measure(claim, generation, {source: 700_000}, predecessor=first)
    link = why(book.statements, SEED_V4_CLUSTERS, claim).links[claim]
    assert [each.event_id for each in link.measurements] == [second]
    assert link.causes[0].grounds == (Ground("measured", second, 700_000),)


def test_the_heaviest_cause_comes_first():
    book = Book()
    sources = [book.seal(f"{name}.example") for name in "pqr"]
    claim = book.claim(book.generation(sources), dict(zip(sources, (200_000, 900_000, 500_000), strict=True)))
    causes = why(book.statements, SEED_V4_CLUSTERS, claim).links[claim].causes
    assert [cause.parents[0] for cause in causes] == [sources[1], sources[2], sources[0]]


def test_a_retracted_source_is_shown_with_who_contradicts_it():
    book = Book()
    source = book.seal("p.example")
    members = [book.seal("a.example"), book.seal("b.example")]
    claim = book.claim(book.generation([source]), [source])
    book.contradict(source, *members)
    found = why(book.statements, SEED_V4_CLUSTERS, claim)
    retraction = found.links[source].retraction
    assert retraction is not None
    assert retraction.members == tuple(sorted(members))
    assert found.links[claim].retraction is None
    assert found.links[claim].state.invalidated


def test_a_claim_that_nobody_recorded_rests_on_what_it_declares():
    book = Book()
    source = book.given("system")
    claim = book.claim(None, [source])
    links = why(book.statements, SEED_V4_CLUSTERS, claim).links
    assert (links[claim].generation, links[claim].model) == (None, None)
    assert (links[source].role, links[source].seal) == ("system", None)


def test_an_unknown_claim_is_named():
    with pytest.raises(BeliefError, match="ab" * 32):
        why([], SEED_V4_CLUSTERS, "ab" * 32)
