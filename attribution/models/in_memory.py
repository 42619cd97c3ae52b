"""A transformers model that a caller has in memory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from attribution.errors import UnsupportedModelError
from attribution.models.files import ModelFiles, sha256_file
from attribution.models.language import LanguageModel
from attribution.models.tokenizer import ExactTokenizer
from ledger_core.kernel.digests import DigestHex

_DTYPES = ("float32", "bfloat16")


def in_memory(model: Any, tokenizer: Any) -> LanguageModel:
    """A transformers model and its fast tokenizer as they stand in memory, unchanged.

    Its identity is a digest over its tensors, so floors that were calibrated for a file do not apply to it.

    Raises:
        UnsupportedModelError: a model that is not on the CPU, in training mode or of another dtype, or a slow tokenizer.
    """
    name = str(getattr(model.config, "name_or_path", "") or type(model).__name__)
    dtype = str(model.dtype).removeprefix("torch.")
    if model.training:
        raise UnsupportedModelError(f"{name} is in training mode, so its dropout would move scores; call model.eval()")
    if model.device.type != "cpu":
        raise UnsupportedModelError(f"{name} is on {model.device}; move it with model.to('cpu')")
    if dtype not in _DTYPES:
        raise UnsupportedModelError(f"{name} is {dtype}; load it with one of {', '.join(_DTYPES)}")
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UnsupportedModelError(
            f"{type(tokenizer).__name__} is no fast tokenizer, so its tokens are not exact bytes; load it with AutoTokenizer"
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        backend.save(str(path))
        exact, tokenizer_digest = ExactTokenizer(path), sha256_file(path)
    files = ModelFiles(
        name=Path(name).name,
        path=Path(name),
        weights_digest=_tensor_digest(model),
        tokenizer_digest=tokenizer_digest,
        file_name="in memory",
        quantisation=dtype,
    )
    return LanguageModel(files, exact, model, "bfloat16" if dtype == "bfloat16" else "float32")


def _tensor_digest(model: Any) -> DigestHex:
    """SHA-256 over configuration, names, dtypes, shapes and bytes of all tensors, in the order of their names."""
    digest = hashlib.sha256(model.config.to_json_string(use_diff=False).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return DigestHex(digest.hexdigest())
