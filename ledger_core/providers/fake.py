"""Deterministic stand-ins for models, for unit tests only: they know nothing and say so by their names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ledger_core.providers.protocols import Completion, Finish, Message

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_WORD = re.compile(r"\w+")


class FakeLlm:
    """Answers by a function of the conversation and remembers what it was asked."""

    def __init__(
        self, answer: Callable[[Sequence[Message]], str], *, model: str = "fake-llm", finish: Finish = "stop"
    ) -> None:
        """Answer with ``answer(messages)``, always ending with ``finish``."""
        self.model = model
        self.asked: list[tuple[Message, ...]] = []
        self._answer = answer
        self._finish: Finish = finish

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> Completion:
        """See :meth:`LlmProvider.complete`; ``max_tokens`` bounds nothing here."""
        del max_tokens
        self.asked.append(tuple(messages))
        return Completion(self._answer(messages), self._finish, self.model)


class FakeEmbedder:
    """Hashes words into a vector: texts that share words are near, paraphrases are not."""

    def __init__(self, *, model: str = "fake-embedder", dimensions: int = 256) -> None:
        """Give vectors of ``dimensions`` parts."""
        self.model = model
        self.dimensions = dimensions
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See :meth:`EmbeddingProvider.embed`."""
        import numpy as np

        self.embedded.extend(texts)
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.casefold()) or [""]:
                row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % self.dimensions] += 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows
