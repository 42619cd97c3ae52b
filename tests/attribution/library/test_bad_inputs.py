"""Inputs that broke other attribution tools: each has a right answer or an error that names it."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import numpy as np
import pytest
import torch

from attribution import attribute
from attribution.blocks import make_blocks
from attribution.contrast import log_probability
from attribution.errors import ContextWindowError, InputError
from attribution.games.base import DELETED, PRESENT
from attribution.layout import Region, Target, Unit, build_layout
from attribution.models import LanguageModel, load_language_model, resolve_model
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory.swaps import fit_swap
from tests.attribution.library.floors import floors, layouts_seen
from tests.attribution.scorers.sequences import naive_table
from tests.attribution.tiny import make_tiny_model

SAID = "The gate closes at 17."
FAMILY = "👩\u200d👩\u200d👧"


def effects(found):
    return [[verdict.effect_nats for verdict in claim.verdicts] for claim in found.claims]


def difference(language, layout, unit=0):
    """What deleting ``unit`` costs the bare log-probability of the first claim, by two plain passes."""
    states = np.ones((2, len(layout.units)), dtype=np.uint8)
    states[1, unit] = DELETED
    claim = layout.scored[0]
    table = naive_table(language, layout, states)[:, claim.start : claim.stop].sum(axis=1)
    return table[0] - table[1]


def test_an_empty_context_has_no_source_and_says_so(tiny):
    (claim,) = attribute([], "When?", SAID, model=tiny, floors=floors(tiny)).claims
    assert (claim.verdicts, claim.reason) == ((), "no source stands before the claim")
    (claim,) = attribute("", "When?", SAID, model=tiny).claims
    assert claim.verdicts == ()


def test_the_effect_of_one_entry_is_one_difference(tiny):
    with layouts_seen() as seen:
        found = attribute(["Dora steers the."], "When?", "the the the", model=tiny)
    assert effects(found) == [[pytest.approx(difference(tiny, seen[0]), abs=1e-3)]]


def test_identical_entries_are_sources_of_their_own(tiny):
    found = attribute(["same"] * 3, "What?", SAID, model=tiny, floors=floors(tiny))
    assert [source.key for source in found.sources] == ["source-0", "source-1", "source-2"]
    assert len(set(effects(found)[0])) == 3  # the same words at another place act otherwise


def test_an_empty_entry_keeps_its_place_and_is_null(tiny):
    found = attribute(["one", "", "three"], "What?", SAID, model=tiny, floors=floors(tiny))
    assert [source.text for source in found.sources] == ["one", "", "three"]
    empty = found.claims[0].verdicts[1]
    assert (empty.effect_nats, empty.verdict) == (0.0, "null")


def test_a_blank_entry_is_what_its_white_space_does(tiny):
    with layouts_seen() as seen:
        found = attribute([" \n"], "What?", "the the the", model=tiny)
    assert found.sources[0].text == " \n"
    assert effects(found)[0][0] == pytest.approx(difference(tiny, seen[0]), abs=1e-3)
    assert effects(found)[0][0] != 0


@pytest.mark.parametrize(
    "source",
    [
        "nul \x00 here",
        "zero\u200bwidth\ufeff",
        "\u202eright \u202bto left\u202c",
        FAMILY,
        "e\u0301 is not \u00e9",
        "𝕬 \U0010fffd",
    ],
)
def test_unusual_characters_reach_the_model_as_their_own_bytes(tiny, source):
    with layouts_seen() as seen:
        found = attribute([source, "plain"], "What?", f"It is {source} 17.", model=tiny)
    layout = seen[0]
    (region,) = [region for region in layout.regions if region.unit == 0]
    assert tiny.detokenize(layout.ids[region.start : region.stop]) == source.encode()
    assert found.sources[0].text == source
    assert all(np.isfinite(effects(found)[0]))


def test_a_huge_entry_among_thousands_is_refused_with_both_sizes(tiny):
    sources = ["note"] * 2_500 + ["x" * 50_000] + ["note"] * 2_500
    began = time.monotonic()
    with pytest.raises(ContextWindowError) as refused:
        attribute(sources, "What?", SAID, model=tiny)
    needed, window = (int(number) for number in re.findall(r"\d{4,}", str(refused.value)))
    assert needed > 50_000 + 5_000 * 4
    assert window == tiny.context_window
    assert time.monotonic() - began < 60


def test_a_huge_entry_among_thousands_can_be_laid_out():
    """Nothing in a layout is quadratic in its tokens, units or claims."""
    sizes = [4] * 2_500 + [50_000] + [4] * 2_500
    edges = [0, 2]
    for size in sizes:
        edges.append(edges[-1] + size)
    end = edges[-1]
    regions = [Region(0, 2, None), *(Region(low, high, n) for n, (low, high) in enumerate(pairwise(edges[1:])))]
    layout = build_layout(
        ids=range(end + 5),
        regions=[*regions, Region(end, end + 5, None)],
        units=[Unit(str(n), "", ((7,) * size,)) for n, size in enumerate(sizes)],
        targets=[Target("claim", end + 1, end + 5, None)],
        context_window=end + 5,
    )
    assert layout.longest() == end + 5
    assert len(layout.antecedents(0)) == 5_001
    text = "x" * 50_000
    assert len(fit_swap(tuple(text.encode()), text, None, lambda words: tuple(words.encode()))) == 50_000


@pytest.mark.parametrize("prompt", [None, "Context: {context}\n\nQuery: {query}"])
def test_braces_are_text(tiny, prompt):
    sources = ['{"a": {"b": [1, 2]}}', "{context}", "{{query}} {0} {}"]
    with layouts_seen() as seen:
        found = attribute(sources, "What is {context} {0}?", '{"at": 17}', prompt=prompt, model=tiny)
    read = tiny.detokenize(seen[0].ids).decode()
    assert all(source in read for source in sources)
    assert "What is {context} {0}?" in read
    assert [source.text.strip() for source in found.sources] == sources


@pytest.fixture(scope="module")
def certain(tmp_path_factory) -> LanguageModel:
    """A model whose logits lie so far apart that its first choice has probability 1 and all others 0, in float64."""
    folder = make_tiny_model(tmp_path_factory.mktemp("certain") / "certain")
    language = load_language_model(resolve_model(str(folder), folder), threads=1)
    with torch.no_grad():
        language.model.model.norm.weight.mul_(500)
    return language


@pytest.mark.parametrize("text", ["is it", "a note"])
def test_a_response_of_one_certain_token_has_no_infinity(certain, text):
    """log p = 0 has infinite log-odds; its score is 0 and its effect is what deleting the source costs."""
    ids = certain.tokenize(text)
    (token,) = certain.generate(ids, 1)
    end = len(ids)
    layout = build_layout(
        ids=[*ids, token],
        regions=[Region(0, 1, None), Region(1, end, 0), Region(end, end + 1, None)],
        units=[Unit("e", "e")],
        targets=[Target("c", end, end + 1, None)],
        context_window=64,
    )
    scorer = TransformersScorer(certain)
    (block,) = make_blocks(scorer, layout, np.array([[PRESENT], [DELETED]], dtype=np.uint8))
    full, without = log_probability(layout, scorer.score(layout, block))[:, 0]
    assert full == 0.0
    assert np.isfinite(without)
    assert without <= 0.0


def test_probability_zero_is_a_finite_score(certain):
    """Every claim of the test is impossible to the model, by thousands of nats; no score, effect or interval is NaN."""
    found = attribute(["one 4", "two 5"], "What?", "Dora steers at 17.", model=certain, floors=floors(certain))
    (claim,) = found.claims
    assert all(np.isfinite(effects(found)[0]))
    assert abs(claim.verdicts[0].effect_nats) > 100
    assert all(verdict.interval is None or np.isfinite(verdict.interval).all() for verdict in claim.verdicts)


def test_a_span_that_ends_inside_a_character_takes_its_whole_tokens(tiny):
    """The emoji is one token of two bytes and two of one; a span of characters never splits it."""
    response = f"ab {FAMILY} cd"
    start = response.index(FAMILY)
    with layouts_seen() as seen:
        found = attribute(["x"], "", response, start=start, stop=start + 1, model=tiny)
    (target,) = seen[0].targets
    # The space before the emoji ends its own token, which therefore belongs to what is before the span.
    assert tiny.detokenize(seen[0].ids[target.start : target.stop]) == "👩".encode()
    assert found.claims[0].text == "👩"


def test_a_span_inside_one_token_is_refused_by_its_characters(tiny):
    assert len(tiny.tokenize(" the")) == 1
    with pytest.raises(InputError, match=re.escape("the span [3, 4), 'h', lies inside one token")):
        attribute(["x"], "", "a the b", start=3, stop=4, model=tiny)


def test_a_merge_over_the_boundary_of_the_prompt_never_happens(tiny):
    """`t` + `he` would be one token if prompt and response were tokenised together."""
    assert len(tiny.tokenize("the")) == 1
    with layouts_seen() as seen:
        attribute(["x"], "", "he is", model=tiny)
    layout, said = seen[0], tiny.tokenize("he is")
    assert layout.ids[-len(said) :] == said
    (target,) = layout.targets
    assert layout.ids[target.start : target.stop] == said


def test_the_spelling_of_a_special_token_is_text(tiny):
    special = {tiny.special(name) for name in ("<|im_start|>", "<|im_end|>", "<|endoftext|>")}
    response = "It is <|im_end|>\n<|im_start|>user 17."
    with layouts_seen() as seen:
        found = attribute(["<|im_end|>", "<|endoftext|> and on"], "What <|im_start|>?", response, model=tiny)
    layout = seen[0]
    frames = [
        token for r in layout.regions if r.unit is None for token in layout.ids[r.start : r.stop] if token in special
    ]
    assert len(frames) == 2 * 3 + 1  # question and two sources opened and closed, the answer opened
    assert not special & {token for target in layout.targets for token in layout.ids[target.start : target.stop]}
    assert not special & {t for r in layout.regions if r.unit is not None for t in layout.ids[r.start : r.stop]}
    assert found.response == response


@pytest.mark.parametrize("response", ["\nThe gate , it is said , closes .", " 17 , not 18 !", "\n\n\n17"])
def test_white_space_before_words_and_punctuation_is_kept(tiny, response):
    with layouts_seen() as seen:
        found = attribute(["\n\nleading", " , before"], "What ?", response, model=tiny)
    read = tiny.detokenize(seen[0].ids)
    assert read.endswith(response.encode())
    assert b"\n\n\nleading<|im_end|>" in read
    assert "".join(found.response[claim.start : claim.stop] for claim in found.claims) == response


def test_a_claim_of_four_hundred_tokens_is_scored_whole(tiny):
    response = "the " * 399 + "the"
    with layouts_seen() as seen:
        found = attribute(["is a the is"], "What?", response, model=tiny)
    (target,) = seen[0].targets
    assert target.stop - target.start >= 400
    assert effects(found)[0][0] == pytest.approx(difference(tiny, seen[0]), abs=5e-2)


def test_a_prompt_whose_sources_are_all_masked_still_opens_the_answer(tiny):
    with layouts_seen() as seen:
        attribute(["one", "two"], "", "the the the", model=tiny)
    layout = seen[0]
    nothing = np.zeros((1, 2), dtype=np.uint8)
    assert all(np.isfinite(naive_table(tiny, layout, nothing)[0]))
    kept = [token for r in layout.regions if r.unit is None for token in layout.ids[r.start : r.stop]]
    assert tiny.detokenize(kept).startswith(
        b"<|im_start|>tool\n<|im_end|>\n<|im_start|>tool\n<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_masked_prompt_of_one_message_leaves_the_words_around_the_sources(tiny):
    with layouts_seen() as seen:
        attribute("One is. Two is.", "Why?", "the the", prompt="C: {context}\nQ: {query}", model=tiny)
    kept = [token for r in seen[0].regions if r.unit is None for token in seen[0].ids[r.start : r.stop]]
    assert tiny.detokenize(kept).decode() == "<|im_start|>user\nC: \nQ: Why?<|im_end|>\n<|im_start|>assistant\nthe the"
