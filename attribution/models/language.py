"""A causal language model that reads and writes exact token ids."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from attribution.errors import (
    ContextWindowError,
    DeviceMissingError,
    LayoutError,
    ModelNotFoundError,
    UnsupportedModelError,
)
from attribution.models.conversion import converted_folder, quantisation_of
from attribution.models.decoding import Constrained, constrained, generate_many
from attribution.models.files import PACKAGED_MODELS, ModelFiles, local_files, packaged_file, sha256_file
from attribution.models.runtime import offline_transformers
from attribution.models.tokenizer import ExactTokenizer

Dtype = Literal["float32", "bfloat16"]
DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16")
Device = Literal["cpu", "cuda"]
DEVICES: tuple[Device, ...] = ("cpu", "cuda")


@dataclass(frozen=True)
class ChatPieces:
    """Token ids of the ChatML frame around one message: ``start role newline TEXT end newline``."""

    start: int
    """``<|im_start|>``."""
    end: int
    """``<|im_end|>``."""
    newline: tuple[int, ...]
    roles: dict[str, tuple[int, ...]]
    """Ids of each role's name: system, user, assistant, tool."""

    def opening(self, role: str) -> tuple[int, ...]:
        """Ids before a message's text.

        Raises:
            LayoutError: no such role.
        """
        if role not in self.roles:
            raise LayoutError(f"unknown chat role {role!r}; choose one of {', '.join(self.roles)}")
        return (self.start, *self.roles[role], *self.newline)

    @property
    def closing(self) -> tuple[int, ...]:
        """Ids after a message's text."""
        return (self.end, *self.newline)


def chat_pieces(tokenizer: ExactTokenizer) -> ChatPieces:
    """ChatML pieces of a tokenizer.

    Raises:
        UnsupportedModelError: its model does not speak ChatML.
    """
    return ChatPieces(
        start=tokenizer.special("<|im_start|>"),
        end=tokenizer.special("<|im_end|>"),
        newline=tokenizer.tokenize("\n"),
        roles={role: tokenizer.tokenize(role) for role in ("system", "user", "assistant", "tool")},
    )


def resolve_model(spec: str, cache: Path) -> ModelFiles:
    """Find the model called ``spec``, converting it into ``cache`` on first use; never touches a network.

    Args:
        spec: a packaged name (``smollm2-135m``), a folder in Hugging Face's layout, or a ``.gguf`` file.
        cache: folder for converted models.

    Raises:
        ModelNotFoundError: neither a packaged name nor a path, or the package is not installed.
        UnsupportedModelError: the files are of a kind that cannot be read exactly.
        ModelCacheError: the cache cannot be written.
    """
    packaged = PACKAGED_MODELS.get(spec)
    if packaged is not None:
        return _from_gguf(spec, packaged_file(packaged.package, packaged.version, packaged.file_name), cache)
    path = Path(spec).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return _from_gguf(path.stem, path.resolve(), cache)
    if path.is_dir():
        return local_files(path.resolve())
    raise ModelNotFoundError(
        f"no model {spec!r}: it is neither a packaged name ({', '.join(PACKAGED_MODELS)}) nor a folder or .gguf "
        "file on this machine; download it first, nothing is fetched at run time"
    )


def _from_gguf(name: str, gguf: Path, cache: Path) -> ModelFiles:
    folder = converted_folder(gguf, cache)
    return ModelFiles(
        name=name,
        path=folder,
        weights_digest=sha256_file(gguf),
        tokenizer_digest=sha256_file(folder / "tokenizer.json"),
        file_name=gguf.name,
        quantisation=quantisation_of(folder),
    )


def load_language_model(
    files: ModelFiles, *, threads: int, dtype: Dtype = "float32", device: Device = "cpu"
) -> LanguageModel:
    """Load a resolved model for inference.

    Args:
        files: what :func:`resolve_model` returned.
        threads: torch threads of this *process*; one wherever several processes run torch.
        dtype: ``float32`` is the reference; ``bfloat16`` is faster and coarser, and part of every scorer's identity.
        device: ``cuda`` moves weights and passes to the first GPU; it gives other bits, so it is part of a scorer's
            identity too.

    Raises:
        UnsupportedModelError: transformers cannot load the files as a causal language model.
        DeviceMissingError: no GPU that this torch can use.
    """
    import torch

    _require_device(device)
    torch.set_num_threads(threads)
    with offline_transformers() as transformers:
        try:
            model = transformers.AutoModelForCausalLM.from_pretrained(
                files.path, local_files_only=True, dtype=getattr(torch, dtype), attn_implementation="sdpa"
            )
        except (ValueError, KeyError, OSError) as error:
            raise UnsupportedModelError(
                f"{str(files.path)!r} does not load as a causal language model: {error}"
            ) from error
    model.eval()
    model.requires_grad_(requires_grad=False)
    if device != "cpu":
        model.to(device)
    return LanguageModel(files, ExactTokenizer(files.path / "tokenizer.json"), model, dtype, device)


def _require_device(device: Device) -> None:
    import torch

    if device not in DEVICES:
        raise DeviceMissingError(f"device {device!r} is unknown; choose one of {', '.join(DEVICES)}")
    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceMissingError(
            f"device 'cuda' was asked for, and torch {torch.__version__} sees no GPU here; use 'cpu', or install the "
            "CUDA build of torch on a machine with a GPU"
        )


class LanguageModel:
    """A loaded model with its exact tokenizer. Made by :func:`load_language_model`."""

    def __init__(
        self, files: ModelFiles, tokenizer: ExactTokenizer, model: Any, dtype: Dtype, device: Device = "cpu"
    ) -> None:
        self.files = files
        self.tokenizer = tokenizer
        self.model = model
        """The transformers module, for scorers that drive it directly."""
        self.dtype: Dtype = dtype
        self.device: Device = device
        self.tokenize = tokenizer.tokenize
        self.detokenize = tokenizer.detokenize
        self.token_bytes = tokenizer.token_bytes
        self.special = tokenizer.special

    @property
    def context_window(self) -> int:
        """The most tokens a sequence may have."""
        return int(self.model.config.max_position_embeddings)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weights take in memory."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())

    def seconds_per_pass(self, tokens: int) -> float:
        """Wall seconds of one forward pass over ``tokens`` tokens on this machine now, after a pass to warm up."""
        import torch

        probe = torch.zeros((1, tokens), dtype=torch.long, device=self.device)
        with torch.inference_mode():
            self.model(probe, use_cache=False, logits_to_keep=1)
            began = time.perf_counter()
            self.model(probe, use_cache=False, logits_to_keep=1)
            return time.perf_counter() - began

    @cached_property
    def chat_template_pieces(self) -> ChatPieces:
        """ChatML pieces.

        Raises:
            UnsupportedModelError: the model does not speak ChatML.
        """
        return chat_pieces(self.tokenizer)

    def generate(
        self,
        prompt_ids: Sequence[int],
        max_new_tokens: int,
        stop_ids: Collection[int] = (),
        stop_text: str | None = None,
        caches: list[Any] | None = None,
    ) -> tuple[int, ...]:
        """Greedy continuation of one prompt; see :meth:`generate_many`."""
        return self.generate_many([prompt_ids], max_new_tokens, stop_ids, stop_text, caches)[0]

    def generate_many(
        self,
        prompts: Sequence[Sequence[int]],
        max_new_tokens: int,
        stop_ids: Collection[int] = (),
        stop_text: str | None = None,
        caches: list[Any] | None = None,
    ) -> list[tuple[int, ...]]:
        """Greedy continuations of several prompts decoded side by side.

        A continuation ends before the first id in ``stop_ids``, or with the token that completes ``stop_text``
        (kept only when it also carries bytes before the stop text), or after ``max_new_tokens``. The key-value cache of
        what was read and said last is added to ``caches``.
        Shorter prompts are padded on the left under explicit positions and a mask. Batching may move a logit by
        some 1e-5, so the batch belongs to what a run must repeat to get the same bits.

        Raises:
            LayoutError: a prompt without tokens.
            ContextWindowError: a prompt and its continuation do not fit into the context window.
        """
        for prompt in prompts:
            self._check_fits(len(prompt), max_new_tokens)
        return generate_many(
            self.model,
            self.token_bytes,
            prompts,
            max_new_tokens,
            stop_ids=frozenset(stop_ids),
            stop_text=stop_text,
            caches=caches,
        )

    def constrained(self, prompt_ids: Sequence[int], response_ids: Sequence[int]) -> Constrained:
        """Decode constrained to ``response_ids``: how likely they were and where free greedy decoding parts from them.

        Raises:
            LayoutError: an empty prompt or response.
            ContextWindowError: both together do not fit into the context window.
        """
        if not response_ids:
            raise LayoutError("a constrained response needs at least one token")
        self._check_fits(len(prompt_ids), len(response_ids))
        return constrained(self.model, prompt_ids, response_ids)

    def _check_fits(self, prompt: int, new: int) -> None:
        if prompt == 0:
            raise LayoutError("a prompt needs at least one token; begin it with the template's opening tokens")
        if prompt + new > self.context_window:
            raise ContextWindowError(
                f"a prompt of {prompt} tokens and {new} new ones exceed the model's context window of "
                f"{self.context_window} tokens; shorten the context or the answer"
            )
