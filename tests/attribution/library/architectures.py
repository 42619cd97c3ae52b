"""Random models of other families, with the tiny tokenizer and ChatML."""

from __future__ import annotations

from pathlib import Path

from tests.attribution.tiny import make_tiny_model

_SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "initializer_range": 0.25}
FAMILIES = {
    "gpt2": ("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512, "initializer_range": 0.25}),
    "opt": (
        "OPT",
        {**_SMALL, "ffn_dim": 64, "word_embed_proj_dim": 32, "max_position_embeddings": 512, "init_std": 0.25},
    ),
    "gpt_neox": ("GPTNeoX", {**_SMALL, "intermediate_size": 64, "max_position_embeddings": 512}),
    "qwen2": ("Qwen2", {**_SMALL, "intermediate_size": 64, "num_key_value_heads": 2, "max_position_embeddings": 512}),
    "bloom": ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.25}),
}
"""Class and configuration. GPT-2 and OPT learn a vector for each absolute position, OPT counts it from the padding mask,
BLOOM has no positions but a bias by distance that it derives from the mask."""


def make_model(family: str, folder: Path) -> Path:
    """A folder that ``resolve_model`` loads."""
    import torch

    from attribution.models.runtime import offline_transformers

    make_tiny_model(folder)
    name, settings = FAMILIES[family]
    with offline_transformers() as transformers, torch.random.fork_rng():
        config = getattr(transformers, f"{name}Config")(
            vocab_size=268, bos_token_id=1, eos_token_id=2, pad_token_id=None, **settings
        )
        torch.manual_seed(0)
        heads = {"GPT2": "GPT2LMHeadModel"}
        getattr(transformers, heads.get(name, f"{name}ForCausalLM"))(config).save_pretrained(folder)
    return folder
