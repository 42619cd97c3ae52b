"""A language model small enough for fast tests: random weights, two layers, a byte-level vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = (
    ("t", "h"),
    ("th", "e"),
    ("Ġ", "the"),
    ("i", "s"),
    ("Ġ", "is"),
    ("Ġ", "a"),
    ("e", "r"),
    ("Ã", "©"),
    ("ð", "Ł"),
)


def make_tiny_model(folder: Path, *, seed: int = 0, context_window: int = 1024) -> Path:
    """Write a random LlamaForCausalLM and its tokenizer into ``folder``, for ``resolve_model(str(folder))`` to load.

    Same seed, same bytes. Its vocabulary is three ChatML specials, the 256 bytes and a handful of merges.
    Weights are wide enough that every context token moves the next token's probabilities.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    from attribution.models.runtime import offline_transformers
    from attribution.models.tokenizer import byte_alphabet

    pieces = [*SPECIAL, *sorted(byte_alphabet()), *("".join(pair) for pair in MERGES)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(MERGES)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"})
    )
    with offline_transformers() as transformers, torch.random.fork_rng():
        config = transformers.LlamaConfig(
            vocab_size=len(pieces),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=context_window,
            initializer_range=0.25,
            tie_word_embeddings=True,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=None,
        )
        torch.manual_seed(seed)
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder
