from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import ContextWindowError, LayoutError
from attribution.layout import (
    Region,
    ScoredSpan,
    Target,
    Unit,
    admissible_foils,
    build_layout,
    claim_token_span,
    tile,
)

HEAD, FIRST, SECOND, TAIL = (1, 2, 3), (10, 11), (20, 21, 22), (30, 31, 32, 33)


def parts(**changes):
    """Fixed head, two units, a fixed tail that ends with a claim of two tokens and one foil."""
    ids, regions = tile([(HEAD, None), (FIRST, 0), (SECOND, 1), (TAIL, None)])
    made = {
        "ids": ids,
        "regions": regions,
        "units": (Unit("e0", "first", ((12, 13),)), Unit("e1", "second")),
        "targets": (Target("c", 10, 12, None, foils=((32, 99, 98),)),),
        "context_window": 64,
    }
    return made | changes


def test_a_layout_tiles_its_tokens_and_numbers_its_columns():
    layout = build_layout(**parts())
    assert layout.ids == HEAD + FIRST + SECOND + TAIL
    assert [(region.start, region.stop, region.unit) for region in layout.regions] == [
        (0, 3, None),
        (3, 5, 0),
        (5, 8, 1),
        (8, 12, None),
    ]
    assert layout.scored == (ScoredSpan(0, -1, 0, 2), ScoredSpan(0, 0, 2, 5))
    assert layout.columns == 5
    assert layout.variants(0) == ((32, 33), (32, 99, 98))
    assert layout.longest() == 13
    assert layout.window is None
    assert layout.outside() == ()


def test_a_longer_swap_counts_towards_the_longest_sequence():
    units = (Unit("e0", "first", ((12, 13, 14, 15, 16),)), Unit("e1", "second"))
    assert build_layout(**parts(units=units)).longest() == 16


def test_units_after_a_target_and_its_own_are_no_antecedents():
    ids, regions = tile([((1,), None), ((2,), 0), ((3, 4), 1), ((5,), 2), ((6,), None)])
    units = [Unit(key, key) for key in "abc"]
    targets = [Target("t", 2, 4, 1), Target("leaf", 5, 6, None)]
    layout = build_layout(ids, regions, units, targets, context_window=9)
    assert layout.antecedents(0) == (0,)
    assert layout.antecedents(1) == (0, 1, 2)


def test_an_empty_context_and_an_empty_entry_are_layouts():
    ids, regions = tile([(HEAD, None), (TAIL, None)])
    alone = build_layout(ids, regions, (), (Target("c", 5, 7, None),), context_window=9)
    assert (alone.units, alone.antecedents(0)) == ((), ())
    ids, regions = tile([(HEAD, None), ((), 0), (TAIL, None)])
    blank = build_layout(ids, regions, (Unit("e", ""),), (Target("c", 5, 7, None),), context_window=9)
    assert blank.regions[1] == Region(3, 3, 0)
    assert blank.antecedents(0) == (0,)


def test_equal_texts_are_distinct_units_with_own_keys():
    ids, regions = tile([(HEAD, None), (FIRST, 0), (FIRST, 1), (TAIL, None)])
    target = (Target("c", 9, 11, None),)
    layout = build_layout(ids, regions, (Unit("a", "x"), Unit("b", "x")), target, context_window=20)
    assert layout.antecedents(0) == (0, 1)
    with pytest.raises(LayoutError, match="unit key 'a' is used twice"):
        build_layout(ids, regions, (Unit("a", "x"), Unit("a", "x")), target, context_window=20)


def test_the_digest_is_over_what_moves_a_score_and_nothing_else():
    layout = build_layout(**parts())
    assert layout.digest == build_layout(**parts()).digest
    renamed = replace(layout, units=(replace(layout.units[0], key="z", label="other"), layout.units[1]))
    assert renamed.digest == layout.digest
    changed = [
        replace(layout, ids=(7, *layout.ids[1:])),
        replace(layout, regions=(*layout.regions[:2], replace(layout.regions[2], unit=0), layout.regions[3])),
        replace(layout, units=(replace(layout.units[0], swap=((12, 14),)), layout.units[1])),
        replace(layout, units=(replace(layout.units[0], swap=None), layout.units[1])),
        replace(layout, targets=(replace(layout.targets[0], start=9),)),
        replace(layout, targets=(replace(layout.targets[0], foils=()),)),
        replace(layout, window=5),
    ]
    assert len({layout.digest, *(other.digest for other in changed)}) == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"regions": (Region(0, 3, None), Region(4, 12, None))}, "one ends at 3, the next begins at 4"),
        ({"regions": (Region(0, 11, None),)}, "one ends at 11, the next begins at 12"),
        ({"regions": (Region(0, 5, None), Region(5, 3, 0), Region(3, 12, 1))}, r"\[5, 3\) runs backwards"),
        ({"units": (Unit("e0", "x"),)}, r"names unit 1, there are 1"),
        ({"units": (Unit("e0", "x"), Unit("e1", "y"), Unit("e2", "z"))}, "unit 'e2' has no region"),
        ({"units": (Unit("e0", "x", ((1,), (2,))), Unit("e1", "y"))}, "has 1 regions and 2 swap texts"),
        ({"units": (Unit("e0", "x", ((),)), Unit("e1", "y"))}, "a deletion, not a swap"),
        ({"targets": (Target("c", 10, 13, None),)}, r"\[10, 13\), no span of 12 tokens"),
        ({"targets": (Target("c", 10, 10, None),)}, r"\[10, 10\), no span"),
        ({"targets": (Target("c", 7, 9, 1),)}, "a claim lies within one region of its own unit"),
        ({"targets": (Target("c", 5, 7, None),)}, "a claim lies within one region of its own unit"),
        ({"targets": (Target("c", 8, 9, None), Target("c", 9, 10, None))}, "target key 'c' is used twice"),
        ({"targets": (Target("c", 0, 1, None),)}, "no fixed token before it"),
        ({"targets": (Target("c", 10, 12, None, foils=((32, 33),)),)}, "a foil that is repeated, equals its claim"),
        ({"targets": (Target("c", 10, 12, None, foils=((32,),)),)}, "begins it or begins with it"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(LayoutError, match=message):
        build_layout(**parts(**changes))


def test_a_mask_may_never_leave_an_empty_prompt():
    ids, regions = tile([((), None), (FIRST, 0), (TAIL, None)])
    with pytest.raises(LayoutError, match="could leave the model an empty prompt"):
        build_layout(ids, regions, (Unit("e", "x"),), (Target("c", 2, 4, None),), context_window=9)


def test_beyond_the_context_window_is_refused_with_both_sizes():
    build_layout(**parts(context_window=13))
    with pytest.raises(ContextWindowError, match="needs 13 tokens and the model sees 12"):
        build_layout(**parts(context_window=12))


def test_a_window_keeps_the_head_and_the_end_and_is_recorded():
    layout = build_layout(**parts(window=9, context_window=10))
    assert layout.ids == (*HEAD, *SECOND[1:], *TAIL)
    assert layout.regions == (Region(0, 3, None), Region(3, 5, 1), Region(5, 9, None))
    assert layout.window == 9
    assert layout.outside() == (0,)
    assert layout.units[0].swap == ()
    assert layout.variants(0) == ((32, 33), (32, 99, 98))


def test_a_window_cuts_a_swap_like_the_text_it_replaces():
    layout = build_layout(**parts(window=11))
    assert layout.ids == (*HEAD, *FIRST[1:], *SECOND, *TAIL)
    assert layout.units[0].swap == ((13,),)
    assert layout.outside() == ()


def test_a_window_wider_than_the_trajectory_changes_nothing():
    assert build_layout(**parts(window=12)) == build_layout(**parts())


@pytest.mark.parametrize("window", [2, 3, 4])
def test_a_window_that_would_cut_a_claim_is_refused(window):
    with pytest.raises(ContextWindowError, match=rf"a window of {window} tokens .* \(5 tokens together\)"):
        build_layout(**parts(window=window))


def test_five_thousand_entries_one_of_them_huge_are_refused_at_once():
    pieces = [((1, 2), None), *(((3, 4), number) for number in range(5000)), (tuple(range(50_000)), 5000), (TAIL, None)]
    ids, regions = tile(pieces)
    units = [Unit(f"e{number}", "", ((3, 4, 5),) if number == 7 else None) for number in range(5001)]
    targets = [Target(f"c{number}", len(ids) - 4 + number, len(ids) - 3 + number, None) for number in range(4)]
    with pytest.raises(ContextWindowError, match="needs 60007 tokens and the model sees 8192"):
        build_layout(ids, regions, units, targets, context_window=8192)
    layout = build_layout(ids, regions, units, targets, context_window=8192, window=8000)
    assert len(layout.ids) == 8000
    assert layout.outside() == tuple(range(5000))


def test_a_claims_own_unit_never_counts_as_swapped_for_it():
    ids, regions = tile([((1,), None), ((2,), 0), ((3, 4), 0)])
    units = (Unit("a", "a", ((9,) * 30, (3, 5))),)
    assert build_layout(ids, regions, units, (Target("t", 2, 4, 0),), context_window=9).longest() == 4


def test_tile_keeps_neighbouring_pieces_of_one_unit_apart():
    ids, regions = tile([((1,), 0), ((2, 3), 0)])
    assert ids == (1, 2, 3)
    assert regions == (Region(0, 1, 0), Region(1, 3, 0))
    assert tile([]) == ((), ())


@pytest.mark.parametrize(
    ("tokens", "claim", "expected"),
    [
        ([b"The", b" cat", b".", b" It", b" ran", b"."], b"It ran.", (3, 6)),
        ([b"The", b" cat", b".", b" It", b" ran", b"."], b"The cat.", (0, 3)),
        ([b"\n", b"Yes", b" ,", b" no"], b", no", (2, 4)),
        ([b"a ", b"\xf0\x9f", b"\x99\x82", b"!"], "🙂".encode(), (1, 3)),
        ([b"ok\xc3", b"\xa9", b" end"], "é".encode(), (0, 2)),
        ([b"a?!", b"b"], b"!b", (0, 2)),
        ([b"x", b"", b"y"], b"y", (2, 3)),
        ([b"0", b"1"], b"01", (0, 2)),
    ],
)
def test_a_token_belongs_to_the_claim_that_holds_its_last_byte(tokens, claim, expected):
    text = b"".join(tokens)
    start = text.index(claim)
    assert claim_token_span([len(token) for token in tokens], start, start + len(claim)) == expected


def test_a_claim_that_ends_inside_a_token_leaves_it_to_what_follows():
    lengths = [3, 4, 2]
    assert claim_token_span(lengths, 0, 5) == (0, 1)
    assert claim_token_span(lengths, 5, 9) == (1, 3)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 10)])
def test_a_range_outside_the_response_is_refused(start, end):
    with pytest.raises(LayoutError, match="no range of a response of 9 bytes"):
        claim_token_span([3, 4, 2], start, end)


def test_a_claim_inside_one_token_is_refused():
    with pytest.raises(LayoutError, match="lies inside one token"):
        claim_token_span([3, 4, 2], 4, 6)


@given(
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=12),
    cuts=st.sets(st.integers(1, 40), max_size=4),
)
def test_adjacent_claims_share_no_token_and_lose_none(lengths, cuts):
    total = sum(lengths)
    edges = sorted({0, total, *(cut for cut in cuts if cut < total)})
    owned: list[int] = []
    for start, end in pairwise(edges):
        try:
            first, stop = claim_token_span(lengths, start, end)
        except LayoutError:
            continue
        owned.extend(range(first, stop))
    assert owned == list(range(len(lengths)))


def test_foils_that_contain_or_are_contained_in_the_claim_are_left_out():
    claim = (1, 2, 3)
    foils = [(1, 2, 4), claim, (1, 2), (1, 2, 3, 4), (), (1, 2, 4), (5,)]
    assert admissible_foils(claim, foils) == ((1, 2, 4), (5,))
