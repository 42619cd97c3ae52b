"""One server that speaks OpenAI's HTTP interface, asked patiently through the `openai` client.

The client is used for what it is good at (credentials, URLs, connections). Retrying is ours, because which failures are
tried again is part of our contract; so is reading the answers, because other people's servers answer all sorts of
things, at all sorts of length and speed. Base URL and key are handed in; nothing here looks for them. Redirects are not
followed: texts go to the configured server and to no other.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ledger_core.kernel.errors import (
    ProviderAnswerError,
    ProviderRefusedError,
    ProviderUnavailableError,
    ProviderUnreachableError,
)
from ledger_core.providers.retrying import RETRIED_STATUSES, RetryPolicy, retry_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openai import APIStatusError, OpenAI

MAX_ANSWER_BYTES = 64 << 20
"""Longest answer that is read: 64 texts as 4,096 decimal numbers each are a tenth of it."""

_QUOTED = 300
"""Characters of a server's own words that a message repeats."""

_SERVER_ERROR = 500


class Answer(BaseModel):
    """Base of what is read of an answer; servers add members of their own, which do not matter."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


AnswerT = TypeVar("AnswerT", bound=Answer)


class Streamed(Protocol):
    """What the client gives for an answer whose body is still to be read."""

    def iter_bytes(self) -> Iterator[bytes]:
        """The body in pieces."""
        ...


class _InterruptedError(Exception):
    """The body of an answer did not come to its end."""


class OpenAiConnection:
    """One server; several models may share it. Usable as a context manager."""

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
            timeout_seconds: for connecting, for each wait for the next bytes, and for the whole answer.
            retry: see :class:`RetryPolicy`.
            http_client: an ``openai.DefaultHttpxClient`` with a transport of its own, in place of the usual one.
            sleep: waits that many seconds.
            now: seconds since the epoch, against which a `Retry-After` date is read.
            jitter: a number in [0, 1).
        """
        self.base_url = base_url
        self.retries = 0
        """Requests that were sent again so far."""
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

    def ask(self, send: Callable[[OpenAI], AbstractContextManager[Streamed]], form: type[AnswerT]) -> AnswerT:
        """The answer to what ``send`` sends, read as ``form``.

        Raises:
            ProviderError: of the class that says what to do.
        """
        import openai

        attempt = 1
        while True:
            try:
                return self._read(self._fetch(send), form)
            except openai.APIStatusError as error:
                wait = self._wait_after(error, attempt)
            except (openai.APIConnectionError, _InterruptedError) as error:
                if attempt >= self._retry.attempts:
                    self._unreachable(error, attempt)
                wait = self._retry.backoff(attempt, self._jitter())
            self._sleep(wait)
            attempt += 1
            self.retries += 1

    def _fetch(self, send: Callable[[OpenAI], AbstractContextManager[Streamed]]) -> bytes:
        """The whole body of an answer, within the time and the size allowed."""
        give_up = time.monotonic() + self._timeout
        body = bytearray()
        with send(self._client) as response:
            pieces = iter(response.iter_bytes())
            while (piece := _next(pieces)) is not None:
                body += piece
                if len(body) > MAX_ANSWER_BYTES:
                    raise ProviderAnswerError(
                        f"{self.base_url} answers with more than {MAX_ANSWER_BYTES} bytes; ask for less at once"
                    )
                if time.monotonic() > give_up:
                    raise _InterruptedError(f"{len(body)} bytes after {self._timeout:g} s, and no end")
        return bytes(body)

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

        late = isinstance(error, openai.APITimeoutError)
        what = f"did not answer within {self._timeout:g} s" if late else "is not reachable"
        if isinstance(error, _InterruptedError):
            what = "did not answer to the end"
        raise ProviderUnreachableError(
            f"{self.base_url} {what}, {attempts} attempts; check that the server runs and the base URL "
            f"({error.__cause__ or error})"
        ) from error

    def _read(self, content: bytes, form: type[AnswerT]) -> AnswerT:
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the body"
            shown = self._without_key(content.decode("utf-8", "replace"))[:_QUOTED]
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


def _next(pieces: Iterator[bytes]) -> bytes | None:
    """The next piece of a body, None at its end; raises :class:`_InterruptedError` where the transport breaks."""
    try:
        return next(pieces, None)
    except Exception as error:
        # Whatever HTTP package the client is built on, all that happens here is reading from the connection.
        raise _InterruptedError(str(error)) from error
