"""A scorer out of process: a server of OpenAI's completions interface, over the tokens of the model that it serves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attribution.errors import InputError
from attribution.models import ChatPieces, ExactTokenizer, LanguageModel, resolve_model
from attribution.models.files import sha256_file
from attribution.models.language import chat_pieces
from attribution.scorers.completions_scorer import CompletionsScorer, Dialect

if TYPE_CHECKING:
    from ledger_core.providers import OpenAiConnection

UNKNOWN_WEIGHTS = "unknown"
"""In place of the digest of weights that are not on this machine; no floor is known for them."""


@dataclass(frozen=True)
class Completions:
    """Score with a server that gives the log-probabilities of a prompt: vLLM, SGLang.

    ``model`` of :func:`attribution.attribute` then says which model it serves, as it lies on this machine: its tokenizer and the
    digest of its weights are read, and no weights are loaded. A folder with ``tokenizer.json`` and ``config.json`` alone does too.
    """

    connection: OpenAiConnection = field(repr=False)
    name: str
    """As the server calls the model."""
    dtype: str
    """Arithmetic that the server was started with: nobody else knows."""
    dialect: Dialect = "prompt-logprobs"
    context_window: int | None = None
    """Most tokens of a sequence on that server; None: what the model's configuration says."""

    def reader(self, model: Any, cache: Path | None) -> ServedModel:
        """What laying out needs of the served model.

        Raises:
            InputError: no name, path or loaded model, or a context window that nobody states.
            ModelNotFoundError: no such model on this machine.
            UnsupportedModelError: a tokenizer whose tokens are not exact bytes.
        """
        if isinstance(model, LanguageModel):
            window = self.context_window or model.context_window
            return ServedModel(
                model.files.name, model.tokenizer, model.files.tokenizer_digest, model.files.weights_digest, window
            )
        if not isinstance(model, str | Path):
            raise InputError(
                f"model is {type(model).__name__}; with a server give the name or path of the model it serves"
            )
        folder, name, weights = _found(str(model), cache)
        tokenizer = folder / "tokenizer.json"
        window = self.context_window or _window(folder / "config.json")
        return ServedModel(name, ExactTokenizer(tokenizer), sha256_file(tokenizer), weights, window)

    def scorer(self, served: ServedModel) -> CompletionsScorer:
        """The scorer; a trial request finds a server that serves another model.

        Raises:
            ScoringServerError: another model, another tokenizer, or no log-probabilities.
            ProviderError: the server does not answer.
        """
        return CompletionsScorer(
            self.connection,
            self.name,
            tokenizer=served.tokenizer,
            weights_digest=served.weights_digest,
            tokenizer_digest=served.tokenizer_digest,
            dtype=self.dtype,
            context_window=served.context_window,
            dialect=self.dialect,
        )


class ServedModel:
    """The tokens of a model whose weights are elsewhere."""

    def __init__(
        self, name: str, tokenizer: ExactTokenizer, tokenizer_digest: str, weights_digest: str, context_window: int
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.tokenizer_digest = tokenizer_digest
        self.weights_digest = weights_digest
        self.context_window = context_window
        self.tokenize = tokenizer.tokenize
        self.token_bytes = tokenizer.token_bytes

    @property
    def chat_template_pieces(self) -> ChatPieces:
        """ChatML pieces; raises :class:`UnsupportedModelError` for a model that does not speak it."""
        return chat_pieces(self.tokenizer)


def _found(spec: str, cache: Path | None) -> tuple[Path, str, str]:
    """Folder, name and weights digest of a model; a folder may do without weights."""
    folder = Path(spec).expanduser()
    if folder.is_dir() and (folder / "tokenizer.json").is_file() and not any(folder.glob("*.safetensors")):
        return folder, folder.resolve().name, UNKNOWN_WEIGHTS
    if cache is None:
        from platformdirs import user_cache_path

        cache = user_cache_path("veritas") / "models"
    files = resolve_model(spec, cache)
    return files.path, files.name, files.weights_digest


def _window(config: Path) -> int:
    try:
        window = json.loads(config.read_bytes()).get("max_position_embeddings")
    except (OSError, ValueError) as error:
        raise InputError(f"{config} does not say how much the model sees ({error}); give context_window") from error
    if not isinstance(window, int) or window < 1:
        raise InputError(f"{config} states the window {window!r}; give context_window")
    return window
