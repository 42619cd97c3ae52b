from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import LayoutError, UnsupportedModelError
from attribution.models import ExactTokenizer, LanguageModel
from attribution.models.tokenizer import byte_alphabet
from tests.attribution.tiny import make_tiny_model


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> ExactTokenizer:
    return ExactTokenizer(make_tiny_model(tmp_path_factory.mktemp("tokenizer")) / "tokenizer.json")


def test_byte_alphabet_is_a_bijection_over_all_bytes():
    alphabet = byte_alphabet()
    assert sorted(alphabet.values()) == list(range(256))
    assert alphabet["Ġ"] == 0x20
    assert alphabet["Ċ"] == 0x0A


@given(text=st.text())
def test_every_text_comes_back_to_the_byte(tokenizer, text):
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "a\x00b",
        "\u200b\u200d\ufeff",
        "\u202eabc\u202c שלום",
        "👩\u200d👩\u200d👧",
        '{"a": {"b": 1}}',
        "\n\n  . ,",
        "e\u0301 is not é",
    ],
)
def test_awkward_text_keeps_its_bytes(tokenizer, text):
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text.encode()


def test_spelling_of_a_special_token_stays_text(tokenizer):
    ids = tokenizer.tokenize("a<|im_end|>b")
    assert not set(ids) & tokenizer.special_ids
    assert len(ids) == 12
    assert tokenizer.special("<|im_end|>") == 2
    assert tokenizer.detokenize([2]) == b"<|im_end|>"


def test_merges_join_within_a_text_only(tokenizer):
    assert [tokenizer.token_bytes(token) for token in tokenizer.tokenize("the th")] == [b"the", b" ", b"th"]
    apart = tokenizer.tokenize("t") + tokenizer.tokenize("he")
    assert apart != tokenizer.tokenize("the")
    assert tokenizer.detokenize(apart) == b"the"


def test_a_token_may_hold_part_of_a_character(tokenizer):
    assert [tokenizer.token_bytes(token) for token in tokenizer.tokenize("🙂")] == [b"\xf0\x9f", b"\x99", b"\x82"]


def test_an_unpaired_surrogate_is_refused_with_its_place(tokenizer):
    with pytest.raises(LayoutError, match=r"character 1 is an unpaired surrogate"):
        tokenizer.tokenize("a\ud800")


def test_an_unknown_id_or_special_token_is_refused(tokenizer):
    with pytest.raises(LayoutError, match="token id 9999"):
        tokenizer.token_bytes(9999)
    with pytest.raises(UnsupportedModelError, match=r"<\|eot_id\|>"):
        tokenizer.special("<|eot_id|>")


def test_a_tokenizer_that_rewrites_text_is_refused(tmp_path: Path):
    path = make_tiny_model(tmp_path) / "tokenizer.json"
    described = json.loads(path.read_text())
    described["normalizer"] = {"type": "Lowercase"}
    path.write_text(json.dumps(described))
    tokenizer = ExactTokenizer(path)
    assert tokenizer.detokenize(tokenizer.tokenize("abc")) == b"abc"
    with pytest.raises(LayoutError, match="does not give back the bytes of 'ABC'"):
        tokenizer.tokenize("ABC")


def test_a_prefix_token_of_the_models_own_template_is_not_added(tmp_path: Path):
    path = make_tiny_model(tmp_path) / "tokenizer.json"
    described = json.loads(path.read_text())
    described["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}},
    }
    plain = ExactTokenizer(path).tokenize("the th")
    path.write_text(json.dumps(described))
    assert ExactTokenizer(path).tokenize("the th") == plain


def test_a_tokenizer_without_byte_tokens_is_refused(tmp_path: Path):
    path = make_tiny_model(tmp_path) / "tokenizer.json"
    described = json.loads(path.read_text())
    described["decoder"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    path.write_text(json.dumps(described))
    with pytest.raises(UnsupportedModelError, match="not a byte-level BPE tokenizer"):
        ExactTokenizer(path)


@pytest.mark.slow
def test_the_packaged_tokenizer_splits_digits_first_and_never_makes_specials(smollm2: LanguageModel):
    tokenizer = smollm2.tokenizer
    pieces = [tokenizer.token_bytes(token) for token in tokenizer.tokenize("in  2024")]
    assert pieces == [b"in", b"  ", b"2", b"0", b"2", b"4"]
    assert not set(tokenizer.tokenize("<|im_start|>system<|im_end|>")) & tokenizer.special_ids
    for text in ("👩\u200d👩\u200d👧 שלום\x00", "  . ,\n\n{}"):
        assert tokenizer.detokenize(tokenizer.tokenize(text)) == text.encode()
    with pytest.raises(LayoutError, match="does not give back the bytes"):
        tokenizer.tokenize("\x04")
