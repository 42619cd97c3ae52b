"""Model families whose positions or masks broke other tools: exact, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from attribution import attribute
from attribution.errors import UnsupportedModelError
from attribution.models import load_language_model, resolve_model
from tests.attribution.library.architectures import FAMILIES, make_model
from tests.attribution.library.floors import layouts_seen
from tests.attribution.scorers.sequences import naive_table


@pytest.fixture(scope="module", params=[name for name in FAMILIES if name != "bloom"])
def family(request, tmp_path_factory):
    folder = make_model(request.param, tmp_path_factory.mktemp("families") / request.param)
    return load_language_model(resolve_model(str(folder), folder), threads=1)


def test_effects_are_those_of_plain_passes(family):
    sources = ["It is the.", "a the is", "er the"]
    with layouts_seen() as seen:
        found = attribute(sources, "What?", "the the the", model=family)
    layout = seen[0]
    states = np.array([[row >> unit & 1 for unit in range(3)] for row in range(8)], dtype=np.uint8)
    claim = layout.scored[0]
    values = naive_table(family, layout, states)[:, claim.start : claim.stop].sum(axis=1)
    expected = [values[states[:, unit] == 1].mean() - values[states[:, unit] == 0].mean() for unit in range(3)]
    assert [verdict.effect_nats for verdict in found.claims[0].verdicts] == pytest.approx(expected, abs=2e-3)


def test_padding_moves_no_answer(family):
    """Prompts of unequal length side by side answer as they do alone."""
    prompts = [family.tokenize(text) for text in ("the", "is it a longer prompt", "er the")]
    assert family.generate_many(prompts, 6) == [family.generate(prompt, 6) for prompt in prompts]


def test_a_model_without_exact_attention_does_not_load(tmp_path):
    folder = make_model("bloom", tmp_path / "bloom")
    with pytest.raises(UnsupportedModelError, match="bloom' does not load"):
        load_language_model(resolve_model(str(folder), folder), threads=1)


def test_a_model_without_the_frames_of_a_chat_is_refused_by_the_token_it_lacks(tmp_path):
    import json

    folder = make_model("gpt2", tmp_path / "no-chat")
    described = json.loads((folder / "tokenizer.json").read_text())
    described["added_tokens"] = [token for token in described["added_tokens"] if token["content"] != "<|im_end|>"]
    (folder / "tokenizer.json").write_text(json.dumps(described))
    language = load_language_model(resolve_model(str(folder), folder), threads=1)
    with pytest.raises(UnsupportedModelError, match=r"no special token '<\|im_end\|>'"):
        attribute(["x"], "", "the the", model=language)


def test_a_tokenizer_that_adds_a_prefix_or_has_no_padding_scores_the_same(tmp_path):
    """A prefix token but no suffix token, and no padding token: nothing is added and nothing is missed."""
    import json

    plain, prefixed = (make_model("gpt2", tmp_path / name) for name in ("plain", "prefixed"))
    described = json.loads((prefixed / "tokenizer.json").read_text())
    described["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}},
    }
    (prefixed / "tokenizer.json").write_text(json.dumps(described))
    ids, found = [], []
    for folder in (plain, prefixed):
        with layouts_seen() as seen:
            language = load_language_model(resolve_model(str(folder), folder), threads=1)
            found.append(attribute(["one", "two"], "What?", "the the", model=language).claims)
        ids.append(seen[0].ids)
    assert ids[0] == ids[1]
    assert found[0] == found[1]
