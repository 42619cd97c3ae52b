from __future__ import annotations

import numpy as np
import pytest

from attribution.decision import Floor, decide
from attribution.errors import LayoutError
from attribution.shares import share
from attribution.trajectory import ClaimGame, TrajectoryScores
from attribution.trajectory.placebos import (
    entries_before_claims,
    order_placebo,
    position_placebo,
    reordered,
    with_filler,
)
from ledger_core.kernel.digests import Prefix, domain_hex
from tests.attribution.trajectory.builders import exact_generation, lay_out, seen_before, text_of, tokenize

NOTES = [("a", "van is red."), ("b", "bus is 4."), ("d", "cab is lime.")]


def trajectory():
    generation = exact_generation("r", 0, [(None, "N:"), *NOTES, (None, "?")], "red van.", [("c", 0, 8)])
    (found,) = lay_out(generation)
    return found


class Reader:
    """Believes what it reads, by a rule over the text before the claim."""

    id = domain_hex(Prefix.CONFIG, b"reader")
    dtype = "float64"
    plan = "one by one"

    def __init__(self, belief):
        self._belief = belief

    def score(self, layout, block):
        table = np.zeros((len(block.states), layout.columns))
        for row, mask in enumerate(block.states):
            for span in layout.scored:
                table[row, span.start] = self._belief(text_of(tuple(seen_before(layout, mask, span.target)))) - 20
        return table


def measuring(belief):
    """The rule over a trajectory whose claim is scored by ``belief``."""

    def measure(laid_out):
        scores = TrajectoryScores(laid_out, Reader(belief), None)
        floor = Floor(1.0, 1.0, 199, "shipped")
        return {claim.entry: decide(ClaimGame(scores, claim), floor) for claim in laid_out.claims}

    return measure


def wherever(text):
    return 9.0 * ("is red." in text)


def at_the_start(text):
    """Reads the first note alone, whatever it says."""
    return 9.0 * text.startswith("N:van is red.")


def test_a_cause_is_found_wherever_it_stands():
    found = order_placebo([trajectory()] * 3, measuring(wherever), seed=1)
    assert found.kept == share(3, 3)
    assert found.same == share(9, 9)
    assert found.shift_nats == 0.0


def test_what_depends_on_the_place_does_not_survive_another_order():
    found = order_placebo([trajectory()] * 8, measuring(at_the_start), seed=1)
    assert found.kept.n >= 8
    assert found.kept.value < 0.5
    assert found.shift_nats > 0.5


def test_filler_is_no_edge_where_only_content_counts():
    found = position_placebo([trajectory()], measuring(wherever), tokenize)
    assert found.edges == share(0, 3)
    assert found.largest_nats == 0.0


def test_filler_that_moves_a_claim_is_counted():
    found = position_placebo([trajectory()], measuring(lambda text: 9.0 * ("There is nothing" in text)), tokenize)
    assert found.edges == share(3, 3)
    assert found.largest_nats == pytest.approx(9.0)


def test_without_entries_to_move_there_is_no_figure():
    (bare,) = lay_out(exact_generation("r", 0, [(None, "N:"), ("a", "one.")], "red.", [("c", 0, 4)]))
    found = order_placebo([bare], measuring(wherever))
    assert (found.kept, found.same, found.shift_nats) == (None, None, None)
    assert position_placebo([], measuring(wherever), tokenize).edges is None


def test_texts_change_places_and_frames_and_claims_stay():
    original = trajectory()
    moved = reordered(original, {0: 2, 1: 0, 2: 1})
    assert text_of(moved.layout.ids) == "N:cab is lime.van is red.bus is 4.?red van."
    (target,) = moved.layout.targets
    assert text_of(moved.layout.ids[target.start : target.stop]) == "red van."
    assert moved.layout.units[1].swap == original.layout.units[0].swap
    assert [unit.key for unit in moved.layout.units] == ["a", "b", "d"]
    with pytest.raises(LayoutError, match="does not permute"):
        reordered(original, {0: 1})


def test_filler_stands_before_a_unit_in_a_frame_of_its_own():
    placed = with_filler(trajectory(), 1, tokenize, frame=(tuple(b"("), tuple(b")")))
    words = " There is nothing of note to report here at this time."
    assert text_of(placed.layout.ids) == f"N:van is red.{words})(bus is 4.cab is lime.?red van."
    assert [unit.key for unit in placed.layout.units] == ["a", "placebo", "b", "d"]
    assert [unit.named for unit in placed.units] == ["a", "placebo", "b", "d"]
    assert placed.claims[0].units == 4
    assert len(placed.layout.units[1].swap[0]) == len(words)
    with pytest.raises(LayoutError, match="unit 9 is no entry"):
        with_filler(trajectory(), 9, tokenize)


def test_units_that_are_claims_do_not_move():
    first = exact_generation("r", 0, [(None, "N:"), ("a", "one.")], "red.", [("c", 0, 4)])
    second = exact_generation(
        "r", 1, [(None, "N:"), ("a", "one."), ("c", "red."), ("d", "two.")], "yes.", [("e", 0, 4)]
    )
    (found,) = lay_out(first, second)
    assert entries_before_claims(found) == (0,)
