"""Any server that speaks OpenAI's HTTP interface: chat completions and embeddings, through the `openai` client.

The client is used for what it is good at (credentials, URLs, connections). Retrying is ours, because which failures are
tried again is part of our contract; so is reading the answers, because other people's servers answer all sorts of
things. `base_url` and key are handed in; nothing here looks for them. Redirects are not followed: texts go to the
configured server and to no other.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledger_core.kernel.errors import (
    ProviderAnswerError,
    ProviderRefusedError,
    ProviderUnavailableError,
    ProviderUnreachableError,
)
from ledger_core.providers.protocols import Completion, Finish, Message
from ledger_core.providers.retrying import RETRIED_STATUSES, RetryPolicy, retry_after

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from openai import APIStatusError, OpenAI

_QUOTED = 300
"""Characters of a server's own words that a message repeats."""

_SERVER_ERROR = 500
_BATCH = 64

_FINISH: dict[str | None, Finish] = {"stop": "stop", "length": "length"}


class _Answer(BaseModel):
    """Base of what is read of an answer; servers add members of their own, which do not matter."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Said(_Answer):
    content: str | None


class _Choice(_Answer):
    message: _Said
    finish_reason: str | None = None


class _ChatAnswer(_Answer):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None


class _Vector(_Answer):
    embedding: list[float] = Field(min_length=1)
    index: int


class _EmbeddingAnswer(_Answer):
    data: list[_Vector]


_AnswerT = TypeVar("_AnswerT", bound=_Answer)


class OpenAiConnection:
    """One server, asked patiently; several models may share it. Usable as a context manager."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_seconds: float = 60.0,
        retry: RetryPolicy | None = None,
        http_client: Any = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Connect on first use.

        Args:
            base_url: up to and including the version, e.g. ``http://127.0.0.1:8000/v1``.
            api_key: sent as a bearer token and never repeated in a message.
            timeout_seconds: for connecting, and for each wait for the next bytes.
            retry: see :class:`RetryPolicy`.
            http_client: an ``openai.DefaultHttpxClient`` with a transport of its own, in place of the usual one.
            sleep: waits that many seconds.
            now: seconds since the epoch, against which a `Retry-After` date is read.
            jitter: a number in [0, 1).
        """
        self.base_url = base_url
        self._api_key = api_key
        self._timeout = timeout_seconds
        self._retry = retry or RetryPolicy()
        self._http_client = http_client
        self._sleep, self._now, self._jitter = sleep, now, jitter

    @cached_property
    def _client(self) -> OpenAI:
        import openai

        http_client = self._http_client or openai.DefaultHttpxClient(follow_redirects=False, timeout=self._timeout)
        client = openai.OpenAI(
            api_key=self._api_key,
            base_url=self.base_url,
            http_client=http_client,
            max_retries=0,
            timeout=self._timeout,
        )
        client.organization = client.project = None  # otherwise taken from the environment
        return client

    def ask(self, send: Callable[[OpenAI], Any], form: type[_AnswerT]) -> _AnswerT:
        """What ``send`` gets from the server, read as ``form``; ``send`` returns the client's raw response.

        Raises:
            ProviderError: of the class that says what to do.
        """
        import openai

        attempt = 1
        while True:
            try:
                return self._read(send(self._client).content, form)
            except openai.APIStatusError as error:
                wait = self._wait_after(error, attempt)
            except openai.APIConnectionError as error:
                if attempt >= self._retry.attempts:
                    self._unreachable(error, attempt)
                wait = self._retry.backoff(attempt, self._jitter())
            self._sleep(wait)
            attempt += 1

    def _wait_after(self, error: APIStatusError, attempt: int) -> float:
        """Seconds until the next attempt; raises where there is none."""
        status = error.status_code
        if status not in RETRIED_STATUSES or error.code == "insufficient_quota":
            self._refused(error)
        asked = retry_after(error.response.headers.get("retry-after"), self._now())
        if asked is not None and asked > self._retry.longest_wait:
            raise ProviderUnavailableError(
                f"{self.base_url} answered {status} and asks to wait {asked:.0f} s, longer than the "
                f"{self._retry.longest_wait:g} s this client waits; try again after that: {self._words(error)}"
            ) from error
        if attempt >= self._retry.attempts:
            raise ProviderUnavailableError(
                f"{self.base_url} answered {status} to each of {attempt} attempts; try again later, or ask for less "
                f"at once: {self._words(error)}"
            ) from error
        return self._retry.backoff(attempt, self._jitter()) if asked is None else asked

    def _refused(self, error: APIStatusError) -> NoReturn:
        status, words = error.status_code, self._words(error)
        if error.code == "insufficient_quota":
            raise ProviderUnavailableError(f"the quota at {self.base_url} is used up; raise it: {words}") from error
        if status >= _SERVER_ERROR:
            raise ProviderUnavailableError(
                f"{self.base_url} failed with {status}, which no retry mends; see the server's log: {words}"
            ) from error
        advice = {
            401: "check the API key",
            403: "the API key may not use this model",
            404: "check the base URL (it ends in the version, `/v1`) and the model's name",
        }.get(status, "check the model's name and its limits")
        if status < 400:  # noqa: PLR2004 - a redirect, the only status below that is no success
            advice = f"it redirects to {error.response.headers.get('location')}; configure the final base URL"
        raise ProviderRefusedError(f"{self.base_url} answered {status}; {advice}: {words}") from error

    def _unreachable(self, error: Exception, attempts: int) -> NoReturn:
        import openai

        what = (
            f"did not answer within {self._timeout:g} s"
            if isinstance(error, openai.APITimeoutError)
            else "is not reachable"
        )
        cause = error.__cause__ or error
        raise ProviderUnreachableError(
            f"{self.base_url} {what}, {attempts} attempts; check that the server runs and the base URL ({cause})"
        ) from error

    def _read(self, content: bytes, form: type[_AnswerT]) -> _AnswerT:
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the body"
            shown = self._without_key(content[:_QUOTED].decode("utf-8", "replace"))
            raise ProviderAnswerError(
                f"{self.base_url} does not answer in the form of OpenAI's interface: {place}: {first['msg']}; "
                f"check the base URL. It said {shown!r}"
            ) from error

    def _words(self, error: APIStatusError) -> str:
        """What the server says itself, on one line."""
        said = " ".join(str(error.message).split()) or "(nothing)"
        return self._without_key(said)[:_QUOTED]

    def _without_key(self, text: str) -> str:
        return text.replace(self._api_key, "…") if self._api_key else text

    def close(self) -> None:
        """Release the connections."""
        if "_client" in self.__dict__:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
            lambda client: client.chat.completions.with_raw_response.create(
                model=self.model, messages=turns, **options
            ),
            _ChatAnswer,
        )
        choice = answer.choices[0]
        finish = _FINISH.get(choice.finish_reason, "other")
        return Completion(choice.message.content or "", finish, answer.model or self.model)


class OpenAiEmbedder:
    """An embedding model of such a server; an :class:`~ledger_core.providers.protocols.EmbeddingProvider`."""

    def __init__(self, connection: OpenAiConnection, model: str, *, batch: int = _BATCH) -> None:
        """Embed with ``model``, at most ``batch`` texts a request."""
        if batch < 1:
            raise ValueError(f"a request holds at least one text; got a batch of {batch}")
        self._connection = connection
        self.model = model
        self._batch = batch

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See :meth:`EmbeddingProvider.embed`; no texts give an array of shape ``(0, 0)``."""
        import numpy as np

        rows = [
            row for start in range(0, len(texts), self._batch) for row in self._rows(texts[start : start + self._batch])
        ]
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
            lambda client: client.embeddings.with_raw_response.create(
                model=self.model, input=list(texts), encoding_format="float"
            ),
            _EmbeddingAnswer,
        )
        placed = {vector.index: vector.embedding for vector in answer.data}
        if placed.keys() != set(range(len(texts))) or len(answer.data) != len(texts):
            raise ProviderAnswerError(
                f"{self.model} gave {len(answer.data)} vectors with indexes {sorted(placed)[:8]} for {len(texts)} texts; "
                "each text needs exactly one"
            )
        yield from (placed[number] for number in range(len(texts)))
