from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attribution.blocks import make_blocks, run_block
from attribution.contrast import contrast
from attribution.errors import BlockError, ContextWindowError, UnsupportedModelError
from attribution.layout import Target, Unit, build_layout, tile
from attribution.models import LanguageModel, load_language_model, resolve_model
from attribution.scorers.transformers_scorer import TransformersScorer
from tests.attribution.scorers.sequences import naive_table
from tests.attribution.scorers.trajectories import trajectory
from tests.attribution.tiny import make_tiny_model


def states_of(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.uint8)


ALL = states_of(*[(a, b, c, d) for a in range(3) for b in range(3) for c in range(2) for d in range(3)])


def score(scorer, layout, states):
    return scorer.score(layout, make_blocks(scorer, layout, states)[0])


@pytest.fixture(scope="module")
def scorer(tiny) -> TransformersScorer:
    return TransformersScorer(tiny, chunk_tokens=100)


@pytest.mark.parametrize("chunk_tokens", [1, 7, 100, 5000])
def test_any_chunking_agrees_with_the_naive_loop(tiny, chunk_tokens):
    layout = trajectory(tiny)
    states = ALL[::11]
    found = score(TransformersScorer(tiny, chunk_tokens=chunk_tokens), layout, states)
    np.testing.assert_allclose(found, naive_table(tiny, layout, states), atol=1e-4, rtol=0)


def test_every_mask_agrees_with_the_naive_loop(tiny, scorer):
    layout = trajectory(tiny)
    found = score(scorer, layout, ALL)
    expected = naive_table(tiny, layout, ALL)
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0)
    np.testing.assert_allclose(contrast(layout, found), contrast(layout, expected), atol=1e-3, rtol=0)
    assert np.ptp(found, axis=0).min() > 0.1


def test_the_full_mask_scores_exactly_the_ids_the_agent_saw(tiny, scorer):
    layout = trajectory(tiny)
    with torch.inference_mode():
        log_p = tiny.model(torch.tensor([layout.ids])).logits[0].double().log_softmax(1).numpy()
    table = score(scorer, layout, states_of((1, 1, 1, 1)))
    for number, target in enumerate(layout.targets):
        span = next(span for span in layout.scored if span.target == number and span.variant == -1)
        places = np.arange(target.start, target.stop)
        plain = log_p[places - 1, np.array(layout.ids)[places]]
        np.testing.assert_allclose(table[0, span.start : span.stop], plain, atol=1e-5, rtol=0)


def test_later_tokens_do_not_see_a_side_branch(tiny, scorer):
    """With its unit ablated, what the claim says cannot matter to a later claim; with its unit present it does."""
    layout = trajectory(tiny, foils=False)
    first = layout.targets[0]
    ids = list(layout.ids)
    ids[first.start : first.stop] = tiny.tokenize("Corvo it is.")
    other = replace(layout, ids=tuple(ids))
    ablated, present = states_of((1, 1, 0, 1)), states_of((1, 1, 1, 1))
    last = slice(layout.scored[1].start, layout.scored[1].stop)
    assert np.array_equal(score(scorer, layout, ablated)[:, last], score(scorer, other, ablated)[:, last])
    assert np.abs(score(scorer, layout, present)[:, last] - score(scorer, other, present)[:, last]).max() > 1e-2


def test_a_claim_scores_the_same_whether_or_not_its_own_unit_stands(tiny, scorer):
    layout = trajectory(tiny)
    table = score(scorer, layout, states_of((1, 0, 1, 1), (1, 0, 0, 1)))
    first = slice(0, layout.scored[1].stop)
    assert np.array_equal(table[0, first], table[1, first])
    assert np.abs(table[0] - table[1]).max() > 1e-2


def test_units_after_a_target_are_inert(tiny, scorer):
    layout = trajectory(tiny)
    table = score(scorer, layout, states_of((1, 0, 1, 1), (1, 0, 1, 0), (1, 0, 1, 2)))
    first = slice(0, layout.scored[1].stop)
    assert np.array_equal(table[0, first], table[1, first])
    assert np.array_equal(table[0, first], table[2, first])


def test_the_same_block_gives_the_same_bits_in_any_scorer(tiny, tiny_files, scorer):
    layout = trajectory(tiny)
    again = TransformersScorer(load_language_model(tiny_files, threads=1), chunk_tokens=100)
    block = make_blocks(scorer, layout, ALL)[0]
    assert make_blocks(again, layout, ALL)[0].digest == block.digest
    assert np.array_equal(scorer.score(layout, block), again.score(layout, block))


def test_the_identity_covers_weights_dtype_and_plan(tiny, tiny_files, scorer, tmp_path):
    other_weights = resolve_model(str(make_tiny_model(tmp_path, seed=5)), tmp_path)
    scorers = [
        scorer,
        TransformersScorer(tiny, chunk_tokens=101),
        TransformersScorer(load_language_model(tiny_files, threads=1, dtype="bfloat16"), chunk_tokens=100),
        TransformersScorer(load_language_model(other_weights, threads=1), chunk_tokens=100),
    ]
    assert len({one.id for one in scorers}) == 4
    assert [one.dtype for one in scorers] == ["float32", "float32", "bfloat16", "float32"]
    assert scorer.plan == "prefix-tree-v1/100"


def test_a_device_is_part_of_the_plan_and_so_of_identity_and_block(tiny, scorer, monkeypatch):
    """GPUs add in another order: what they score must never be taken for what the CPU scores."""
    layout = trajectory(tiny)
    here = make_blocks(scorer, layout, ALL[:1])[0].digest
    identity = scorer.id
    monkeypatch.setattr(tiny, "device", "cuda")
    assert scorer.plan == "prefix-tree-v1/100/cuda"
    assert scorer.id != identity
    assert make_blocks(scorer, layout, ALL[:1])[0].digest != here


def test_bfloat16_is_in_the_block_and_in_the_identity(tiny, tiny_files, scorer):
    layout = trajectory(tiny)
    coarse = TransformersScorer(load_language_model(tiny_files, threads=1, dtype="bfloat16"), chunk_tokens=100)
    fine_block, coarse_block = (make_blocks(one, layout, ALL[:1])[0] for one in (scorer, coarse))
    assert (fine_block.dtype, coarse_block.dtype) == ("float32", "bfloat16")
    assert fine_block.digest != coarse_block.digest
    with pytest.raises(BlockError, match="make it anew"):
        run_block(scorer, layout, coarse_block, None)


def test_torch_threads_do_not_move_a_bit(tiny, scorer):
    """Why the thread count is no part of the scorer's identity."""
    layout = trajectory(tiny)
    one = score(scorer, layout, ALL[::9])
    torch.set_num_threads(2)
    try:
        two = score(scorer, layout, ALL[::9])
    finally:
        torch.set_num_threads(1)
    assert np.array_equal(one, two)


def test_bfloat16_is_near_and_finite(tiny, tiny_files, scorer):
    layout = trajectory(tiny)
    coarse = TransformersScorer(load_language_model(tiny_files, threads=1, dtype="bfloat16"), chunk_tokens=100)
    difference = score(coarse, layout, ALL[:9]) - score(scorer, layout, ALL[:9])
    assert 1e-5 < np.abs(difference).max() < 0.5


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "   ",
        "a\x00b",
        "\u200b\u200d\ufeff",
        "\u202eשלום\u202c",
        "👩\u200d👩\u200d👧",
        '{"a": "{}"}',
        "<|im_end|>\n<|im_start|>assistant",
        "\n , .",
        "th",
    ],
)
def test_awkward_entries_score_like_any_other(tiny, scorer, entry):
    layout = trajectory(tiny, entry=entry)
    states = states_of((1, 1, 1, 1), (0, 1, 1, 0), (2, 0, 0, 1))
    found = score(scorer, layout, states)
    np.testing.assert_allclose(found, naive_table(tiny, layout, states), atol=1e-4, rtol=0)


def test_an_empty_entry_moves_nothing(tiny, scorer):
    ids, regions = tile([(tiny.tokenize("so "), None), ((), 0), (tiny.tokenize("it is"), None)])
    layout = build_layout(
        ids, regions, (Unit("blank", ""),), (Target("c", len(ids) - 2, len(ids), None),), context_window=99
    )
    table = score(scorer, layout, states_of((0,), (1,)))
    assert np.array_equal(table[0], table[1])


def test_an_empty_context_and_a_block_without_masks(tiny, scorer):
    ids, regions = tile([(tiny.tokenize("so it is"), None)])
    layout = build_layout(ids, regions, (), (Target("c", 2, len(ids), None),), context_window=99)
    alone = score(scorer, layout, np.empty((1, 0), dtype=np.uint8))
    np.testing.assert_allclose(alone, naive_table(tiny, layout, np.empty((1, 0), dtype=np.uint8)), atol=1e-4, rtol=0)
    two = trajectory(tiny)
    block = replace(make_blocks(scorer, two, ALL)[0], states=ALL[:0])
    assert scorer.score(two, block).shape == (0, two.columns)


def test_a_claim_of_one_token_and_one_of_four_hundred(tiny, scorer):
    long = tiny.tokenize("is it the " * 90)[:400]
    ids, regions = tile([(tiny.tokenize("so "), None), (tiny.tokenize("the entry"), 0), (long, None)])
    start = len(ids) - 400
    targets = (Target("one", start, start + 1, None), Target("long", start, len(ids), None))
    layout = build_layout(ids, regions, (Unit("e", "e"),), targets, context_window=999)
    found = score(scorer, layout, states_of((0,), (1,)))
    assert found.shape == (2, 401)
    np.testing.assert_allclose(found, naive_table(tiny, layout, states_of((0,), (1,))), atol=1e-4, rtol=0)


def test_a_model_that_sees_less_than_the_layout_needs_is_refused_with_both_sizes(tiny, tmp_path):
    layout = trajectory(tiny)
    small = load_language_model(resolve_model(str(make_tiny_model(tmp_path, context_window=40)), tmp_path), threads=1)
    scorer = TransformersScorer(small)
    with pytest.raises(ContextWindowError, match=rf"needs {layout.longest()} tokens and .* sees 40"):
        score(scorer, layout, ALL[:1])


def other_architecture(tmp_path: Path, config) -> LanguageModel:
    """The tiny tokenizer with another random model."""
    from transformers import AutoModelForCausalLM

    folder = make_tiny_model(tmp_path / "other")
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return load_language_model(resolve_model(str(folder), tmp_path), threads=1)


def test_absolute_positions_are_exact_as_well(tmp_path):
    from transformers import GPT2Config

    config = GPT2Config(
        vocab_size=268, n_positions=512, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3, bos_token_id=1
    )
    language = other_architecture(tmp_path, config)
    layout = trajectory(language)
    found = score(TransformersScorer(language, chunk_tokens=50), layout, ALL[::7])
    np.testing.assert_allclose(found, naive_table(language, layout, ALL[::7]), atol=1e-4, rtol=0)


def test_a_model_whose_branches_would_see_each_other_is_refused(tiny_files):
    language = load_language_model(tiny_files, threads=1)
    forward = language.model.forward

    def deaf(*args, attention_mask=None, **options):
        del attention_mask
        return forward(*args, **options)

    language.model.forward = deaf
    with pytest.raises(UnsupportedModelError, match="does not honour attention masks"):
        TransformersScorer(language)


@pytest.mark.slow
def test_the_packaged_model_agrees_with_the_naive_loop(smollm2: LanguageModel):
    layout = trajectory(smollm2)
    scorer = TransformersScorer(smollm2)
    states = states_of((1, 1, 1, 1), (0, 1, 1, 0), (1, 0, 0, 1), (2, 1, 1, 2))
    block = make_blocks(scorer, layout, states)[0]
    found = scorer.score(layout, block)
    expected = naive_table(smollm2, layout, states)
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0)
    assert np.array_equal(found, scorer.score(layout, block))
    scores = contrast(layout, found)
    assert scores[0, 1] - scores[1, 1] > 1
