"""The model to score with: a name, a path, or what a caller has in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attribution.errors import InputError

if TYPE_CHECKING:
    from attribution.models import LanguageModel


def load(model: Any, threads: int, cache: Path | None) -> LanguageModel:
    """A loaded model from a packaged name, a path, a transformers model with its tokenizer, or a loaded model.

    Raises:
        InputError: none of these.
        ModelNotFoundError: no such model on this machine.
        UnsupportedModelError: a model or tokenizer outside the exact-token contract.
    """
    from attribution.models import LanguageModel, load_language_model, resolve_model

    if isinstance(model, LanguageModel):
        return model
    if isinstance(model, tuple) and len(model) == 2:  # noqa: PLR2004 - model and tokenizer
        from attribution.models.in_memory import in_memory

        return in_memory(*model)
    if not isinstance(model, str | Path):
        raise InputError(
            f"model is {type(model).__name__}; give a name, a path, or a pair of a transformers model and its tokenizer"
        )
    if cache is None:
        from platformdirs import user_cache_path

        cache = user_cache_path("veritas") / "models"
    return load_language_model(resolve_model(str(model), cache), threads=threads)
