"""What the ledger asks of a language model and of an embedding model; anything that does this may be injected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Finish = Literal["stop", "length", "other"]
"""Why an answer ended: by itself, at the token limit, or for a reason of the provider's (a content filter, a tool call)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a provider says it read and wrote."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a language model."""

    text: str
    finish: Finish
    model: str
    """The model that answered, as the provider reports it: often more precise than the name that was asked for."""
    usage: Usage | None = None
    """None where the provider does not report it, or not as two counts."""


class LlmProvider(Protocol):
    """A language model that answers a conversation."""

    @property
    def model(self) -> str:
        """Which model is asked; part of every recipe that uses it."""
        ...

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> Completion:
        """The answer to ``messages``, of at most ``max_tokens`` tokens, decoded as deterministically as it can be.

        Raises:
            ProviderError: there is no answer; the message says what to do.
        """
        ...


class EmbeddingProvider(Protocol):
    """A model that puts texts into one vector space."""

    @property
    def model(self) -> str:
        """Which model embeds, with its weights where they are known; part of every recipe that uses it."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """``float32[text, dimension]`` of unit rows, in order; the dot product of two rows is their cosine.

        Raises:
            ProviderError: there is no answer; the message says what to do.
        """
        ...
