"""Boundary-recorded generations: chains of prompts that extend one another become one sequence of the very ids seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attribution.errors import ContextWindowError, LayoutError
from attribution.layout import Region
from attribution.trajectory import ContextItem, Wording
from tests.attribution.trajectory.builders import (
    exact_generation,
    lay_out,
    text_of,
    tokenize,
    two_step_record,
    without_ids,
)

FOILS = Wording({"c": ("tan van.", "red van.", "red van. And"), "e": ("pink cab.",)}, {})


def test_prompts_that_extend_one_another_are_one_sequence_of_the_last_ones_ids():
    first, second = two_step_record()
    (trajectory,) = lay_out(second, first)
    assert trajectory.key == "r/1"
    assert trajectory.layout.ids == (*second.prompt_ids, *second.response_ids)
    assert [claim.entry for claim in trajectory.claims] == ["c", "e"]
    assert [claim.generation for claim in trajectory.claims] == ["r-g0", "r-g1"]
    assert trajectory.fidelity == "exact"
    assert trajectory.dropped == ()


def test_regions_tile_the_prompt_and_the_response_is_nobodys():
    (trajectory,) = lay_out(*two_step_record())
    layout = trajectory.layout
    assert [(text_of(layout.ids[r.start : r.stop]), r.unit) for r in layout.regions] == [
        ("N:", None),
        ("van is red.", 0),
        ("bus is blue.", 1),
        ("red van.", 2),
        ("cab is lime.", 3),
        ("lime cab.", None),
    ]
    assert [unit.named for unit in trajectory.units] == ["a", "b", "c", "d"]


def test_a_claim_spans_its_own_tokens_and_counts_only_the_units_before_it():
    (trajectory,) = lay_out(*two_step_record())
    spans = [
        (text_of(trajectory.layout.ids[t.start : t.stop]), t.unit, claim.units)
        for t, claim in zip(trajectory.layout.targets, trajectory.claims, strict=True)
    ]
    assert spans == [("red van.", 2, 2), ("lime cab.", None, 4)]
    assert [sorted(claim.context) for claim in trajectory.claims] == [["a", "b"], ["a", "b", "c", "d"]]


def test_where_a_prompt_does_not_extend_the_one_before_a_new_trajectory_begins():
    first, second = two_step_record()
    changed = replace(second, prompt_ids=tokenize("N:van was red.bus is blue.red van.cab is lime."))
    with pytest.raises(LayoutError, match="tile"):
        lay_out(first, changed)
    other = exact_generation("r", 1, [(None, "N:"), ("b", "bus is blue.")], "blue.", [("e", 0, 5)])
    assert [t.key for t in lay_out(first, other)] == ["r/0", "r/1"]
    assert [len(t.units) for t in lay_out(first, other)] == [2, 1]


def test_a_prompt_that_repeats_the_prompt_but_not_the_response_begins_anew():
    first, _ = two_step_record()
    again = exact_generation(
        "r", 1, [(None, "N:"), ("a", "van is red."), ("b", "bus is blue.")], "blue bus.", [("e", 0, 9)]
    )
    assert [t.key for t in lay_out(first, again)] == ["r/0", "r/1"]


def test_records_never_share_a_trajectory_and_come_in_key_order():
    first, second = two_step_record()
    other = [replace(g, record="q", event_id=f"q{g.step}") for g in (first, second)]
    assert [t.key for t in lay_out(second, other[1], first, other[0])] == ["q/1", "r/1"]


def test_several_claims_of_one_response_are_targets_of_one_sequence():
    generation = exact_generation("r", 0, [(None, "N:"), ("a", "van is red.")], "Red. Van.", [("c", 0, 5), ("d", 5, 9)])
    (trajectory,) = lay_out(generation)
    texts = [text_of(trajectory.layout.ids[t.start : t.stop]) for t in trajectory.layout.targets]
    assert texts == ["Red. ", "Van."]
    assert [(claim.units, claim.context) for claim in trajectory.claims] == [(1, {"a"}), (1, {"a"})]


def test_a_claim_of_bytes_inside_a_token_is_mapped_by_the_token_that_holds_its_last_byte():
    # Tokens of two bytes: the claim [0, 3) ends inside the second token, which therefore belongs to what follows.
    generation = exact_generation("r", 0, [(None, "N:"), ("a", "x")], "abcd", [("c", 0, 3), ("d", 3, 4)])
    pairs = replace(generation, response_ids=(1, 2))
    from attribution.trajectory import exact_trajectories

    (trajectory,) = exact_trajectories(
        [pairs],
        Wording({}, {}),
        tokenize=tokenize,
        token_bytes=lambda token: b"ab" if token < 3 else b"?",
        context_window=99,
    )
    assert [(t.start - 3, t.stop - 3) for t in trajectory.layout.targets] == [(0, 1), (1, 2)]


def test_a_tool_call_and_its_result_are_one_unit_named_by_the_result():
    first, _ = two_step_record()
    items = (
        ContextItem(None, "template", "template", "N:", None, 0, 2),
        ContextItem("call", "entry.derived", "assistant", "van is red.", 7, 2, 13),
        ContextItem("result", "entry.observed", "tool", "bus is blue.", 7, 13, 25),
    )
    (trajectory,) = lay_out(replace(first, context=items))
    assert [(unit.entries, unit.named) for unit in trajectory.units] == [(("call", "result"), "result")]
    assert [region.unit for region in trajectory.layout.regions] == [None, 0, 0, None]
    assert [len(swap) for swap in trajectory.layout.units[0].swap] == [11, 12]
    assert trajectory.claims[0].units == 1
    assert trajectory.claims[0].context == {"call", "result"}


def test_foils_that_say_the_same_or_more_are_left_out_and_a_claim_without_one_is_uncontrasted():
    (trajectory,) = lay_out(*two_step_record(), wording=FOILS)
    assert [[text_of(foil) for foil in t.foils] for t in trajectory.layout.targets] == [["tan van."], ["pink cab."]]
    assert [claim.contrasted for claim in trajectory.claims] == [True, True]
    (bare,) = lay_out(*two_step_record())
    assert [claim.contrasted for claim in bare.claims] == [False, False]


def test_a_swap_from_the_scenario_takes_the_place_of_the_text_at_equal_length():
    swaps = {"a": "van is tan.", "b": "bus is of the colour white", "d": "cab is"}
    (trajectory,) = lay_out(*two_step_record(), wording=Wording({}, swaps))
    shown = [text_of(unit.swap[0]) for unit in trajectory.layout.units]
    assert shown[0] == "van is tan."
    assert shown[1] == "bus is of th"
    assert shown[3][:6] == "cab is"
    for unit, region in zip(trajectory.layout.units, trajectory.layout.regions[1:], strict=False):
        assert len(unit.swap[0]) == region.stop - region.start
        assert unit.swap[0] != trajectory.layout.ids[region.start : region.stop]


def test_a_longer_trajectory_than_the_model_sees_is_refused_with_both_sizes():
    with pytest.raises(ContextWindowError, match=r"54 tokens.* 53"):
        lay_out(*two_step_record(), window=53)
    lay_out(*two_step_record(), window=54)


def test_a_generation_without_ids_is_named():
    first, _ = two_step_record()
    with pytest.raises(LayoutError, match=r"r-g0 .*foreign_trajectory"):
        lay_out(without_ids(first))


def test_a_region_without_token_bounds_is_named():
    first, _ = two_step_record()
    loose = replace(first.context[1], token_start=None)
    with pytest.raises(LayoutError, match="entry a has no token bounds"):
        lay_out(replace(first, context=(first.context[0], loose, first.context[2])))


def test_an_empty_context_has_no_units():
    generation = exact_generation("r", 0, [(None, "N:")], "red.", [("c", 0, 4)])
    (trajectory,) = lay_out(generation)
    assert trajectory.units == ()
    assert trajectory.claims[0].units == 0
    assert trajectory.layout.regions == (Region(0, 2, None), Region(2, 6, None))
