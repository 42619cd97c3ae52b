"""MiniLM sentence embeddings (all-MiniLM-L6-v2: mean pooling over tokens, then unit length)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from attribution.models.files import EMBEDDER_PACKAGE, packaged_file, sha256_file
from attribution.models.runtime import offline_transformers
from ledger_core.kernel.digests import DigestHex

EMBEDDER_VERSION = "0.1.0"
DIMENSIONS = 384
MAX_TOKENS = 256
"""The model was trained on at most 256 word pieces; longer texts are cut there, as its authors do."""

_BATCH = 32


class Embedder:
    """Texts to unit vectors. Made by :func:`load_embedder`."""

    def __init__(self, tokenizer: Any, model: Any, weights_digest: DigestHex) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self.weights_digest = weights_digest
        """SHA-256 of ``model.safetensors``."""
        self.model = f"all-MiniLM-L6-v2@{weights_digest}"
        """Which model embeds, for recipes."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """``float32[text, 384]`` of unit rows, in order; their dot product is the cosine similarity."""
        import torch

        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            encodings = self._tokenizer.encode_batch(list(texts[start : start + _BATCH]))
            ids = torch.tensor([encoding.ids for encoding in encodings])
            mask = torch.tensor([encoding.attention_mask for encoding in encodings])
            with torch.inference_mode():
                states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask[:, :, None].to(states.dtype)
            mean = (states * weights).sum(dim=1) / weights.sum(dim=1)
            rows[start : start + len(encodings)] = torch.nn.functional.normalize(mean, dim=1).numpy()
        return rows


def load_embedder(cache: Path) -> Embedder:
    """Load the packaged MiniLM; its files are already in the layout transformers reads, so ``cache`` stays unused.

    Args:
        cache: the models' cache folder, kept in the signature so that a packaged embedder of another format can
            be converted there without changing callers.

    Raises:
        ModelNotFoundError: the package is not installed.
    """
    del cache
    weights = packaged_file(EMBEDDER_PACKAGE, EMBEDDER_VERSION, "model.safetensors")
    with offline_transformers() as transformers:
        from tokenizers import Tokenizer

        model = transformers.AutoModel.from_pretrained(weights.parent, local_files_only=True)
    model.eval()
    tokenizer = Tokenizer.from_file(str(weights.parent / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # noqa: S106 - a vocabulary entry, not a secret
    return Embedder(tokenizer, model, sha256_file(weights))
