from __future__ import annotations

import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attribution.blocks import Block, BlockCache, make_blocks, score_blocks
from attribution.errors import BlockError
from attribution.layout import Target, TokenLayout, Unit, build_layout, tile


class SumScorer:
    """Scores a mask by its code, so that every cell of every table is known; counts its runs."""

    id = "5" * 64
    dtype = "float64"
    plan = "sum"

    def __init__(self) -> None:
        self.runs: list[str] = []

    def score(self, layout: TokenLayout, block: Block) -> np.ndarray:
        self.runs.append(block.digest)
        codes = block.states @ (3.0 ** np.arange(block.states.shape[1]))
        return codes[:, None] + np.arange(layout.columns) / 8


@pytest.fixture
def layout() -> TokenLayout:
    ids, regions = tile([((1,), None), ((2,), 0), ((3,), 1), ((4, 5), None)])
    return build_layout(ids, regions, (Unit("a", "a"), Unit("b", "b")), (Target("c", 3, 5, None),), context_window=9)


@pytest.fixture
def states() -> np.ndarray:
    return np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 1]], dtype=np.uint8)


def test_the_digest_is_over_order_masks_and_configuration(layout, states):
    block = make_blocks(SumScorer(), layout, states)[0]
    same = Block(states.copy(), layout.digest, "5" * 64, "float64", "sum")
    assert block.digest == same.digest
    others = [
        replace(same, states=states[::-1]),
        replace(same, states=states[:4]),
        replace(same, states=states.T),
        replace(same, layout_digest="6" * 64),
        replace(same, scorer_id="6" * 64),
        replace(same, dtype="float32"),
        replace(same, plan="other"),
    ]
    assert len({block.digest, *(other.digest for other in others)}) == 8


def test_states_cannot_change_under_a_digest(states, layout):
    block = make_blocks(SumScorer(), layout, states)[0]
    states[0, 0] = 1
    assert block.states[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        block.states[0, 0] = 1


@pytest.mark.parametrize(
    "bad",
    [np.ones((2, 2)), np.full((2, 2), 3, dtype=np.uint8), np.ones(4, dtype=np.uint8), np.ones((1, 2), dtype=bool)],
)
def test_states_of_another_kind_are_refused(bad):
    with pytest.raises(BlockError, match="0 deleted, 1 present, 2 swapped"):
        Block(bad, "a" * 64, "b" * 64, "float32", "x")


def test_blocks_cut_masks_in_order(layout, states):
    blocks = make_blocks(SumScorer(), layout, states, masks_per_block=2)
    assert [len(block.states) for block in blocks] == [2, 2, 1]
    assert np.concatenate([block.states for block in blocks]).tolist() == states.tolist()
    with pytest.raises(BlockError, match="do not fit a layout of 2 units"):
        make_blocks(SumScorer(), layout, states[:, :1])


def test_only_what_is_missing_is_computed_and_progress_counts_blocks(layout, states, tmp_path):
    scorer, cache = SumScorer(), BlockCache(tmp_path)
    blocks = make_blocks(scorer, layout, states, masks_per_block=2)
    first = score_blocks(scorer, layout, blocks[:1], cache)
    assert first[0].tolist() == [[0.0, 0.125], [1.0, 1.125]]
    seen: list[tuple[int, int]] = []
    tables = score_blocks(scorer, layout, blocks, cache, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert scorer.runs == [block.digest for block in blocks]
    assert np.concatenate(tables)[:, 0].tolist() == [0.0, 1.0, 3.0, 4.0, 5.0]
    again = score_blocks(scorer, layout, blocks, cache)
    assert len(scorer.runs) == 3
    assert all(np.array_equal(one, other) for one, other in zip(tables, again, strict=True))


def test_a_stored_table_is_an_ordinary_npy_file(layout, states, tmp_path):
    scorer, cache = SumScorer(), BlockCache(tmp_path)
    block = make_blocks(scorer, layout, states)[0]
    score_blocks(scorer, layout, [block], cache)
    assert np.load(cache.path(block)).tolist() == scorer.score(layout, block).tolist()
    assert [path.name for path in cache.path(block).parent.iterdir()] == [f"{block.digest}.npy"]


@pytest.mark.parametrize("cut", [0, 1, 40, 130, -1, -33])
def test_a_cut_off_table_is_absent_and_computed_again(layout, states, tmp_path, cut):
    scorer, cache = SumScorer(), BlockCache(tmp_path)
    block = make_blocks(scorer, layout, states)[0]
    table = score_blocks(scorer, layout, [block], cache)[0]
    path = cache.path(block)
    path.write_bytes(path.read_bytes()[:cut])
    assert cache.get(block) is None
    assert np.array_equal(score_blocks(scorer, layout, [block], cache)[0], table)
    assert len(scorer.runs) == 2
    assert np.array_equal(cache.get(block), table)


def test_one_flipped_bit_is_noticed(layout, states, tmp_path):
    scorer, cache = SumScorer(), BlockCache(tmp_path)
    block = make_blocks(scorer, layout, states)[0]
    score_blocks(scorer, layout, [block], cache)
    data = bytearray(cache.path(block).read_bytes())
    data[140] ^= 1
    cache.path(block).write_bytes(bytes(data))
    assert cache.get(block) is None


def test_a_table_under_the_wrong_name_is_absent(layout, states, tmp_path):
    scorer, cache = SumScorer(), BlockCache(tmp_path)
    long, short = make_blocks(scorer, layout, states)[0], make_blocks(scorer, layout, states[:2])[0]
    score_blocks(scorer, layout, [long], cache)
    cache.path(short).parent.mkdir(exist_ok=True)
    cache.path(short).write_bytes(cache.path(long).read_bytes())
    assert cache.get(short) is None


@pytest.mark.parametrize(
    "table", [np.zeros((4, 2)), np.zeros((5, 2), np.float32), np.full((5, 2), np.nan), np.zeros(5)]
)
def test_scores_that_cannot_be_the_blocks_are_not_stored(layout, states, tmp_path, table):
    cache, block = BlockCache(tmp_path), make_blocks(SumScorer(), layout, states)[0]
    with pytest.raises(BlockError, match="cannot be the scores of 5 masks"):
        cache.put(block, table)
    assert cache.get(block) is None


def test_a_block_for_another_layout_or_scorer_is_refused(layout, states):
    scorer = SumScorer()
    block = make_blocks(scorer, layout, states)[0]
    with pytest.raises(BlockError, match="not for"):
        score_blocks(scorer, replace(layout, window=3), [block])
    scorer.plan = "other"
    with pytest.raises(BlockError, match="make it anew"):
        score_blocks(scorer, layout, [block])
    assert scorer.runs == []


def test_a_folder_that_cannot_be_written_names_the_way_out(layout, states, tmp_path):
    (tmp_path / "scores").write_text("a file")
    block = make_blocks(SumScorer(), layout, states)[0]
    with pytest.raises(BlockError, match=r"cannot write scores to .*scores.*--home"):
        BlockCache(tmp_path / "scores").put(block, np.zeros((5, 2)))


def _die_before_the_rename(folder: Path, block: Block, table: np.ndarray) -> None:
    Path.replace = lambda *_: os._exit(9)  # type: ignore[method-assign]
    BlockCache(folder).put(block, table)


def test_a_kill_before_the_rename_leaves_no_table(layout, states, tmp_path):
    block = make_blocks(SumScorer(), layout, states)[0]
    child = multiprocessing.get_context("fork").Process(
        target=_die_before_the_rename, args=(tmp_path, block, np.zeros((5, 2)))
    )
    child.start()
    child.join()
    assert child.exitcode == 9
    assert BlockCache(tmp_path).get(block) is None
    assert not BlockCache(tmp_path).path(block).exists()
