"""Appending and verifying by outlines is appending and verifying by whole statements, only faster."""

from __future__ import annotations

import pytest

from ledger_core.belief import CALIBRATED, SEED_V4, SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.belief.log_fold import LogFold
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import CollisionError, UnknownReferenceError
from ledger_core.kernel.statements import FAMILIES
from ledger_core.stores import Ledger, rules, verify
from ledger_core.stores.protocols import Fresh, Replayed
from tests.ledger_core.belief.book import SCOPE, Book
from tests.ledger_core.story import open_memory, tell
from tests.properties.ledgers import story_of

NOW = "2026-03-01T12:00:00.000000000Z"


def opened(home) -> Ledger:
    return Ledger.open(home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)


def none_has_one(monkeypatch, *modules):
    for module in modules:
        monkeypatch.setattr(module, "outline", lambda _: None)


@pytest.fixture
def book() -> Book:
    book = Book()
    premise = book.seal("p.example", family="price")
    claim = book.claim(book.generation([book.given(), premise]), [premise])
    book.claim(book.generation([claim]), {claim: 7}, derived=False)
    return book


def told(ledger: Ledger, book: Book) -> None:
    ledger.put_blobs([(data, TEXT) for data in book.blobs.values()])
    ledger.append(book.statements, role="recorder")


def test_the_log_is_the_same_with_and_without(monkeypatch):
    outlined, whole = open_memory(), open_memory()
    tell(outlined)
    none_has_one(monkeypatch, rules)
    tell(whole)
    for family in FAMILIES:
        assert list(outlined.events(family)) == list(whole.events(family))
    for one, other in zip(outlined.events(), whole.events(), strict=True):
        assert (one.kind, one.source_fact_id) == (other.statement.kind, other.statement.source_fact_id)


def test_what_is_appended_are_the_bytes_and_not_what_else_an_object_holds(book):
    """A copy keeps what its original has computed, and so its bytes: everything else of it counts for nothing."""
    ledger = Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
    ledger.put_blobs([(data, TEXT) for data in book.blobs.values()])
    _, observed, *_ = book.statements
    assert observed.encoded
    ledger.append(book.statements[:1], role="sealer")
    changed = observed.model_copy(update={"body": observed.body.model_copy(update={"predicate_family": "other"})})
    (outcome,) = ledger.append([changed], role="sealer")
    assert outcome.event_id == observed.event_id
    assert ledger.statement(observed.event_id).body.predicate_family == "price"
    assert verify.verify(ledger).first_divergence is None


def test_what_the_outline_cannot_admit_is_refused_as_ever(book):
    ledger = Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
    ledger.put_blobs([(data, TEXT) for data in book.blobs.values()])
    with pytest.raises(UnknownReferenceError, match=r"entry\.observed\.seal refers to"):
        ledger.append(book.statements[1:2], role="sealer")
    (fresh,) = ledger.append(book.statements[:1], role="sealer")
    (again,) = ledger.append(book.statements[:1], role="sealer")
    assert (type(fresh), type(again), fresh.position) == (Fresh, Replayed, again.position)
    other = Book()
    other.seal("q.example", family="price")  # the same fact, told otherwise
    with pytest.raises(CollisionError, match="say different things about one source fact"):
        ledger.append(other.statements[:1], role="sealer")
    wrong = Book()
    wrong._count = 50
    generation = wrong.generation()
    wrong.claim(generation, {generation: 1})
    ledger.put_blobs([(data, TEXT) for data in wrong.blobs.values()])
    with pytest.raises(UnknownReferenceError, match=r"a `generation\.recorded`; admitted"):
        ledger.append(wrong.statements, role="recorder")
    assert ledger.count() == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_verified_ledger_is_believed_as_it_is_folded(seed, monkeypatch):
    """Judgements are filed as they come, so that receipts are missing where a desk would have written some: not asked here."""
    story = story_of(seed, 40)
    ledger = Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
    ledger.put_blobs([(data, TEXT) for data in story.book.blobs.values()])
    for statement in story.statements:
        ledger.append([statement], role="recorder")
    quiet = [s for s in story.statements if s.kind != "verdict.filed"]
    beliefs = []
    for modules in ((), (verify,)):
        none_has_one(monkeypatch, *modules)
        belief = LogFold()
        report = verify.verify(ledger, belief=belief)
        beliefs.append((report, *(belief.state(policy) for policy in (STRICT_CLUSTERS, CALIBRATED))))
    assert beliefs[0] == beliefs[1]
    report, strict, calibrated = beliefs[0]
    assert report.events == len({s.event_id for s in story.statements}) + 2
    assert strict == fold(story.statements, STRICT_CLUSTERS)
    assert calibrated == fold(story.statements, CALIBRATED)
    assert (report.first_divergence is None) == (len(quiet) == len(story.statements))


class TestTheEndsThatAStoreRemembers:
    def test_two_connections_continue_each_other(self, tmp_path):
        with opened(tmp_path) as one, opened(tmp_path) as other:
            book = Book()
            one.put_blob(b"hello", TEXT)
            for _ in range(6):
                book.given(text="hello")
            for number, statement in enumerate(book.statements):
                (one, other)[number % 2].append([statement], role="recorder")
            assert one.count() == other.count() == 6
            assert verify.verify(one).first_divergence is None

    def test_a_policy_that_another_connection_activates_is_in_the_next_receipt(self, tmp_path):
        with opened(tmp_path) as one, opened(tmp_path) as other:
            book = Book()
            one.put_blob(b"hello", TEXT)
            first, second = (book.given(text="hello") for _ in range(2))
            one.append(book.statements[:1], role="recorder")
            activated = other.activate_policy(SEED_V4, "seed-v4").event_id
            one.append(book.statements[1:], role="recorder")
            assert one.event(first).receipt.policy_head != activated
            assert one.event(second).receipt.policy_head == activated
            assert verify.verify(other).first_divergence is None

    def test_an_append_that_is_refused_half_way_leaves_the_ends_where_they_were(self, tmp_path):
        with opened(tmp_path) as ledger:
            book, unknown = Book(), Book()
            ledger.put_blob(b"hello", TEXT)
            for _ in range(3):
                book.given(text="hello")
            unknown._count = 100
            claim = unknown.claim("ab" * 32, text="hello")
            ledger.append(book.statements[:1], role="recorder")
            with pytest.raises(UnknownReferenceError):
                ledger.append([book.statements[1], *unknown.statements], role="recorder")
            ledger.append(book.statements[1:], role="recorder")
            assert [event.event_id for event in ledger.events()] == [s.event_id for s in book.statements]
            assert claim not in [event.event_id for event in ledger.events()]
            assert verify.verify(ledger).first_divergence is None
