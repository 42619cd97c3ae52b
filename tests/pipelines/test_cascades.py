"""The cascades of a report call measured only what a measurement weighed."""

from __future__ import annotations

from ledger_core.belief import SEED_V4_CLUSTERS
from ledger_core.belief.fold import fold
from ledger_core.belief.state import FoldOptions
from pipelines.stages.cascades import cascade_edges, measured_weights
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


def test_joint_support_is_one_edge_and_no_two():
    book = Book()
    first, second, alone = (book.seal(f"{name}.example") for name in "pqr")
    generation = book.generation([first, second, alone])
    claim = book.claim(generation, [alone])
    entries = {first: 0, second: 0, alone: "undetermined"}
    book.measure(claim, generation, entries, cuts={(first, second): 900_000})
    state = fold(book.statements, SEED_V4_CLUSTERS, FoldOptions(measured=True))
    both = tuple(sorted((first, second)))

    def edges(*shown):
        found = cascade_edges(book.statements, SEED_V4_CLUSTERS, state, {claim, *shown}, measured=True)
        return {(edge.parents, edge.ppm, edge.basis) for edge in found if edge.child == claim}

    assert edges(first, second, alone) == {(both, 900_000, "measured"), ((alone,), 1_000_000, "declared")}
    assert edges(first) == {(both, 900_000, "measured")}, "who is not in the picture is still named"
    assert edges() == set()
