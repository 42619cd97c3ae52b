"""The models of a server that speaks OpenAI's HTTP interface: chat completions and embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ledger_core.kernel.errors import ProviderAnswerError, ProviderError
from ledger_core.providers.openai_connection import Answer, OpenAiConnection
from ledger_core.providers.protocols import Completion, Finish, Message, Usage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BATCH = 64

_FINISH: dict[str | None, Finish] = {"stop": "stop", "length": "length"}


class _Said(Answer):
    content: str | None


class _Choice(Answer):
    message: _Said
    finish_reason: str | None = None


class _ChatAnswer(Answer):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: object = None
    """Read leniently: an answer is not refused because its bill is odd."""


class _Vector(Answer):
    embedding: list[float] = Field(min_length=1)
    index: int


class _EmbeddingAnswer(Answer):
    data: list[_Vector]


class OpenAiLlm:
    """A chat model of an OpenAI-compatible server; an :class:`~ledger_core.providers.protocols.LlmProvider`."""

    def __init__(
        self,
        connection: OpenAiConnection,
        model: str,
        *,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
    ) -> None:
        """Ask ``model``.

        Args:
            connection: the server.
            model: as the server calls it.
            temperature: None for models that refuse one.
            seed: None for models that refuse one.
            limit: how the server calls the limit on tokens; newer models of OpenAI want the second spelling.
        """
        self._connection = connection
        self.model = model
        options = {"temperature": temperature, "seed": seed}
        self._options = {name: value for name, value in options.items() if value is not None}
        self._limit = limit

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> Completion:
        """See :meth:`LlmProvider.complete`."""
        turns: Any = [{"role": message.role, "content": message.content} for message in messages]
        options: dict[str, Any] = {**self._options, self._limit: max_tokens}
        answer = self._connection.ask(
            lambda client: client.chat.completions.with_streaming_response.create(
                model=self.model, messages=turns, **options
            ),
            _ChatAnswer,
        )
        choice = answer.choices[0]
        finish = _FINISH.get(choice.finish_reason, "other")
        return Completion(choice.message.content or "", finish, answer.model or self.model, _usage(answer.usage))


def _usage(reported: object) -> Usage | None:
    """What a server says of the tokens; None where it does not give both counts."""
    if not isinstance(reported, dict):
        return None
    counts = [reported.get(name) for name in ("prompt_tokens", "completion_tokens")]
    read, written = (
        count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None for count in counts
    )
    return None if read is None or written is None else Usage(read, written)


class OpenAiEmbedder:
    """An embedding model of such a server; an :class:`~ledger_core.providers.protocols.EmbeddingProvider`."""

    def __init__(self, connection: OpenAiConnection, model: str, *, batch: int = _BATCH) -> None:
        """Embed with ``model``, at most ``batch`` texts a request; raises :class:`ProviderError` for none."""
        if batch < 1:
            raise ProviderError(f"a request holds at least one text; got a batch of {batch}")
        self._connection = connection
        self.model = model
        self._batch = batch

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See :meth:`EmbeddingProvider.embed`; no texts give an array of shape ``(0, 0)``."""
        import numpy as np

        starts = range(0, len(texts), self._batch)
        rows = [row for start in starts for row in self._rows(texts[start : start + self._batch])]
        if not rows:
            return np.zeros((0, 0), dtype=np.float32)
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise ProviderAnswerError(
                f"{self.model} gave vectors of different lengths: {sorted(widths)}; check the model"
            )
        vectors = np.array(rows, dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise ProviderAnswerError(
                f"{self.model} gave a vector that has no direction; check the model and the texts"
            )
        return np.asarray(vectors / lengths, dtype=np.float32)

    def _rows(self, texts: Sequence[str]) -> Iterator[list[float]]:
        answer = self._connection.ask(
            lambda client: client.embeddings.with_streaming_response.create(
                model=self.model, input=list(texts), encoding_format="float"
            ),
            _EmbeddingAnswer,
        )
        placed = {vector.index: vector.embedding for vector in answer.data}
        if placed.keys() != set(range(len(texts))) or len(answer.data) != len(texts):
            raise ProviderAnswerError(
                f"{self.model} gave {len(answer.data)} vectors with indexes {sorted(placed)[:8]} for {len(texts)} "
                "texts; each text needs exactly one"
            )
        yield from (placed[number] for number in range(len(texts)))
