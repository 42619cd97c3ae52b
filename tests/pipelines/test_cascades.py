"""The cascades of a report call measured only what a measurement weighed."""

from __future__ import annotations

from ledger_core.belief import SEED_V4_CLUSTERS
from pipelines.stages.cascades import measured_weights
from tests.ledger_core.belief.book import Book


def test_a_weight_that_stays_declared_is_not_called_measured():
    book = Book()
    moved, undecided = book.seal("p.example"), book.seal("q.example")
    generation = book.generation([moved, undecided])
    claim = book.claim(generation, [moved, undecided])
    book.measure(claim, generation, {moved: 900_000, undecided: "undetermined"})
    assert measured_weights(book.statements, SEED_V4_CLUSTERS, [claim, moved]) == {(claim, (moved,), 900_000)}


def test_a_declared_edge_without_a_measurement_is_declared():
    book = Book()
    source = book.seal("p.example")
    claim = book.claim(book.generation([source]), [source])
    assert measured_weights(book.statements, SEED_V4_CLUSTERS, [claim]) == frozenset()
