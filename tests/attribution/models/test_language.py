from __future__ import annotations

import pytest
import torch

from attribution.errors import ContextWindowError, DeviceMissingError, LayoutError
from attribution.models import LanguageModel, load_language_model
from attribution.models.decoding import _Answer


def naive_greedy(language: LanguageModel, prompt, steps: int) -> list[int]:
    ids = list(prompt)
    for _ in range(steps):
        with torch.inference_mode():
            ids.append(int(language.model(torch.tensor([ids]), use_cache=False).logits[0, -1].argmax()))
    return ids[len(prompt) :]


@pytest.mark.parametrize("prompt", ["the", "a longer prompt is the one", "\x00"])
def test_greedy_decoding_is_the_naive_loop(tiny, prompt):
    ids = tiny.tokenize(prompt)
    assert list(tiny.generate(ids, 12)) == naive_greedy(tiny, ids, 12)


def test_decoding_side_by_side_changes_no_answer(tiny):
    prompts = [tiny.tokenize(text) for text in ("the", "is it a longer prompt", "er", "the the the")]
    assert tiny.generate_many(prompts, 10) == [tiny.generate(prompt, 10) for prompt in prompts]
    assert tiny.generate_many([], 10) == []
    assert tiny.generate_many(prompts[:2], 0) == [(), ()]


def test_a_stop_id_ends_its_row_only(tiny):
    prompts = [tiny.tokenize(text) for text in ("the", "is it a longer prompt")]
    free = tiny.generate_many(prompts, 10)
    stop = free[0][4]
    expected = [row[: row.index(stop)] if stop in row else row for row in free]
    assert len(expected[0]) < 10
    assert tiny.generate_many(prompts, 10, {stop}) == expected


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        ([b"a", b"\n", b"b"], 1),
        ([b"a.", b".\n\n", b"b"], 2),
        ([b"a", b"b"], 2),
        ([b"\n"], 0),
    ],
)
def test_the_token_that_completes_the_stop_text_stays_only_with_bytes_before_it(pieces, kept):
    answer = _Answer(pieces.__getitem__, frozenset(), b"\n")
    for token in range(len(pieces)):
        if not answer.take(token):
            break
    assert answer.ids == tuple(range(kept))


def test_constrained_decoding_reports_where_free_decoding_parts(tiny):
    prompt = tiny.tokenize("the")
    free = tiny.generate(prompt, 6)
    agreeing = tiny.constrained(prompt, free)
    assert agreeing.first_divergence is None
    assert agreeing.greedy_ids == free
    other = tuple(token + 1 if index == 2 else token for index, token in enumerate(free))
    parted = tiny.constrained(prompt, other)
    assert parted.first_divergence == 2
    assert parted.greedy_ids[2] == free[2]
    assert parted.log_probability < 0


def test_constrained_log_probability_is_that_of_a_plain_pass(tiny):
    prompt, response = tiny.tokenize("the"), tiny.tokenize(" is a")
    logits = tiny.model(torch.tensor([[*prompt, *response]])).logits[0].double().log_softmax(-1)
    expected = sum(float(logits[len(prompt) - 1 + index, token]) for index, token in enumerate(response))
    assert tiny.constrained(prompt, response).log_probability == pytest.approx(expected, abs=1e-5)


def test_what_does_not_fit_is_refused_with_both_sizes(tiny):
    with pytest.raises(ContextWindowError, match=r"1000 tokens and 25 new ones exceed .* 1024"):
        tiny.generate([5] * 1000, 25)
    with pytest.raises(LayoutError, match="at least one token"):
        tiny.generate([], 5)
    with pytest.raises(LayoutError, match="at least one token"):
        tiny.constrained([5], [])


def test_chat_pieces_are_the_ids_of_chatml(tiny):
    pieces = tiny.chat_template_pieces
    assert (pieces.start, pieces.end) == (1, 2)
    assert tiny.detokenize(pieces.opening("assistant")) == b"<|im_start|>assistant\n"
    assert tiny.detokenize(pieces.closing) == b"<|im_end|>\n"
    with pytest.raises(LayoutError, match="unknown chat role 'wizard'"):
        pieces.opening("wizard")


def test_its_cost_is_told_in_bytes_and_seconds(tiny):
    embeddings, norms = 268 * 32, 5 * 32
    layer = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64
    assert tiny.weight_bytes == 4 * (embeddings + norms + 2 * layer)
    short, long = (min(tiny.seconds_per_pass(tokens) for _ in range(5)) for tokens in (1, 1000))
    assert 0 < short < long


@pytest.mark.slow
def test_the_packaged_model_answers_and_repeats_itself(smollm2: LanguageModel):
    chat = smollm2.chat_template_pieces
    asked = smollm2.tokenize("What is the capital of France?")
    prompt = (*chat.opening("user"), *asked, *chat.closing, *chat.opening("assistant"))
    answer = smollm2.generate(prompt, 30, {chat.end}, "\n")
    assert smollm2.detokenize(answer) == b"The capital of France is Paris."
    assert smollm2.generate_many([prompt, prompt[-4:], prompt], 30, {chat.end}, "\n")[::2] == [answer, answer]
    wrong = smollm2.tokenize("The capital of France is Rome.")
    assert smollm2.constrained(prompt, wrong).first_divergence == 5
    assert smollm2.context_window == 8192
    assert smollm2.files.quantisation == "GGUF F32 (61) + Q4_1 (210) + Q8_0 (1), de-quantised to float32"


def test_a_gpu_that_is_not_there_is_refused_before_weights_are_read(tiny_files, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceMissingError, match=r"'cuda' was asked for, and torch .* sees no GPU here; use 'cpu'"):
        load_language_model(tiny_files, threads=1, device="cuda")
    with pytest.raises(DeviceMissingError, match="device 'tpu' is unknown; choose one of cpu, cuda"):
        load_language_model(tiny_files, threads=1, device="tpu")
    assert load_language_model(tiny_files, threads=1, device="cpu").device == "cpu"
