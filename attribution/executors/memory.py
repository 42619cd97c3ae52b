"""How much memory a process with a language model takes at most, from the model's shape alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attribution.models import LanguageModel

_RUNTIME = 480 << 20
"""Python, torch and transformers without any weights, and the tree of a block; 440 MiB were measured."""
_CACHE_COPIES = 3
"""Keys and values of the path: kept, cut to the next chunk, and extended."""
_SAME_SIZE = 0.02
"""Share by which a file of weights may differ from the weights of the same dtype: it has a header."""
_LOGIT_ROWS = 64
"""Rows of logits that are normalised in float64 at a time (``transformers_scorer``)."""
_FLOAT64 = 8


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """Sizes that memory follows from; an instance is a :class:`~attribution.executors.budget.MemoryNeed`."""

    weights: int
    """Bytes: the weights, and the file beside them where it holds another dtype and nothing of it can be mapped as it is."""
    layers: int
    hidden: int
    intermediate: int
    heads: int
    key_value_heads: int
    head_size: int
    vocabulary: int
    itemsize: int
    """Bytes of one number of the forward pass."""

    @classmethod
    def of(cls, language: LanguageModel) -> ModelMemory:
        """The sizes of a loaded model; what its configuration does not say is taken as large as it can be."""
        config = language.model.config
        heads = config.num_attention_heads
        return cls(
            weights=_resident(language),
            layers=config.num_hidden_layers,
            hidden=config.hidden_size,
            intermediate=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
            heads=heads,
            key_value_heads=getattr(config, "num_key_value_heads", None) or heads,
            head_size=getattr(config, "head_dim", None) or config.hidden_size // heads,
            vocabulary=config.vocab_size,
            itemsize=next(language.model.parameters()).element_size(),
        )

    @property
    def idle(self) -> int:
        """Bytes of a process that has loaded the model and scores nothing."""
        return _RUNTIME + self.weights

    def __call__(self, *, longest: int, chunk_tokens: int) -> int:
        """Bytes of one process that scores sequences of ``longest`` tokens in passes of ``chunk_tokens``."""
        seen = longest + chunk_tokens
        cache = _CACHE_COPIES * self.layers * 2 * self.key_value_heads * self.head_size * seen * self.itemsize
        repeated = 2 * self.heads * self.head_size * seen * self.itemsize
        mask = chunk_tokens * seen * (self.itemsize + 2)
        inside = chunk_tokens * (4 * self.hidden + 3 * self.intermediate) * self.itemsize
        logits = chunk_tokens * self.vocabulary * self.itemsize + 2 * _LOGIT_ROWS * self.vocabulary * _FLOAT64
        return self.idle + cache + repeated + mask + inside + logits


def _resident(language: LanguageModel) -> int:
    stored = sum(file.stat().st_size for file in language.files.path.glob("*.safetensors"))
    alike = abs(stored - language.weight_bytes) <= _SAME_SIZE * language.weight_bytes
    return language.weight_bytes if alike else stored + language.weight_bytes
