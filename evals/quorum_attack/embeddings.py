"""Embeddings kept by digest, so that the same texts are embedded once, whoever asks and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evals.errors import CorpusError
from ledger_core.stores.files import write_whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from ledger_core.providers import EmbeddingProvider

_BATCH = 256


class KeptEmbeddings:
    """An embedding provider that asks another one only for texts it has not seen."""

    def __init__(self, inner: EmbeddingProvider, folder: Path | None = None) -> None:
        """In front of ``inner``; vectors are kept below ``folder``, one file a model, or in memory only."""
        self._inner = inner
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}
        self._file: Path | None = None
        if folder is not None:
            name = hashlib.sha256(inner.model.encode()).hexdigest()[:16]
            self._file = folder / f"{name}.npz"
            self._load(self._file)

    @property
    def model(self) -> str:
        """The model of the provider behind it."""
        return self._inner.model

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """``float32[text, dimension]`` of unit rows, in order."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        for start in range(0, len(missing), _BATCH):
            batch = list(missing.items())[start : start + _BATCH]
            rows = self._inner.embed([text for _, text in batch])
            self._vectors.update((key, row) for (key, _), row in zip(batch, rows, strict=True))
        if missing and self._file is not None:
            self._save(self._file)
        return np.stack([self._vectors[key] for key in keys])

    def _load(self, file: Path) -> None:
        if not file.is_file():
            return
        try:
            with np.load(file, allow_pickle=False) as kept:
                self._vectors.update(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
        except (OSError, ValueError, KeyError) as error:
            raise CorpusError(
                f"{file} is no file of kept embeddings ({error}); delete it, it is only a cache"
            ) from error

    def _save(self, file: Path) -> None:
        keys = sorted(self._vectors)
        content = BytesIO()
        np.savez(content, keys=np.array(keys), vectors=np.stack([self._vectors[key] for key in keys]))
        write_whole(file, content.getvalue(), durable=False)
