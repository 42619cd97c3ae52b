"""A client that repeats what did not get through, which is safe by construction: the same request is a replay.

A request that was cut off may or may not have been appended. Sent again it is answered with the same event at the same
place, so that a client need not know; the one call that is different, making a token, is never repeated.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Self, TypeVar

import httpx

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import NoteError
from ledger_core.service.answers import Appended, AppendedEvent
from ledger_core.service.calls import Call
from ledger_core.service.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    Refused,
    Unauthorized,
    Unavailable,
)
from ledger_core.signing import SignedNote, VerifierKey, check_receipt

AnswerT = TypeVar("AnswerT")

_ERRORS: Final[Mapping[int, type[ApiError]]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict}
_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed. 507 is not among them: somebody has to make room first."""
_SERVER_ERRORS: Final = 500
_LONGEST_WAIT: Final = 30.0


_Result = httpx.Response | Unavailable
"""What an attempt came to: an answer, or none."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often, and how long in between."""

    attempts: int = 5
    first_wait: float = 0.1
    """Seconds; doubles each time, unless the answer says `Retry-After`."""

    def wait(self, attempt: int, result: _Result) -> float | None:
        """Seconds before attempt ``attempt + 1``; None where there is none."""
        response = result if isinstance(result, httpx.Response) else None
        if attempt >= self.attempts or (response is not None and response.status_code not in _AGAIN):
            return None
        asked = "" if response is None else response.headers.get("retry-after", "")
        waited = self.first_wait * 2.0 ** (attempt - 1)
        return min(max(waited, float(asked)) if asked.isdigit() else waited, _LONGEST_WAIT)


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": "application/json, application/problem+json"}


def _request(http: httpx.Client | httpx.AsyncClient, call: Call[AnswerT]) -> httpx.Request:
    headers = {} if call.media_type is None else {"Content-Type": call.media_type}
    return http.build_request(call.method, call.path, params=call.params, content=call.content, headers=headers)


def _read(call: Call[AnswerT], response: _Result, trusted: tuple[VerifierKey, ...]) -> AnswerT:
    if isinstance(response, Unavailable):
        raise response
    if not response.is_success:
        raise _error(response)
    if call.answer is None:
        return response.content  # type: ignore[return-value] # a call without a form is a Call[bytes]
    answer = call.answer.validate_json(response.content)
    if trusted and isinstance(answer, Appended):
        for event in answer.events:
            require_receipt(event, trusted)
    return answer


def require_receipt(event: AppendedEvent, trusted: Iterable[VerifierKey]) -> None:
    """Return if a trusted key acknowledged ``event`` at its position.

    Raises:
        SignatureError: no trusted key signed the receipt.
        NoteError: it acknowledges something else.
    """
    leaf = check_receipt(SignedNote.parse(event.receipt), trusted)
    if (leaf.event_id, leaf.family, leaf.position) != (event.event_id, event.family, event.position):
        raise NoteError(f"the receipt of {event.event_id} acknowledges {leaf.event_id} at another place; keep both")


def _error(response: httpx.Response) -> ApiError:
    try:
        problem: dict[str, Any] = response.json()
        detail = str(problem["detail"])
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        problem, detail = {}, response.text[:200]
    fallback = Unavailable if response.status_code >= _SERVER_ERRORS else Refused
    kind = _ERRORS.get(response.status_code, fallback)
    return kind(f"{response.status_code}: {detail}", status=response.status_code, problem=problem)


def _unreachable(url: httpx.URL, error: httpx.HTTPError) -> Unavailable:
    return Unavailable(
        f"no answer from {url.host}:{url.port or ''} ({type(error).__name__}: {error}); send the same request again",
        status=None,
        problem={},
    )


class Client:
    """Sends calls and waits for their answers. May be shared by threads."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        trusted: Iterable[VerifierKey] = (),
        timeout: float = 30.0,
        retries: Retries = Retries(),
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``trusted`` keys, where given, must have signed the receipt of everything that is appended."""
        self._http = httpx.Client(base_url=url, headers=_headers(token), timeout=timeout, transport=transport)
        self._trusted = tuple(trusted)
        self._retries = retries
        self._sleep = sleep

    def send(self, call: Call[AnswerT]) -> AnswerT:
        """The answer to ``call``.

        Raises:
            ApiError: the service's problem, by status; :class:`Unavailable` where none came.
            SignatureError, NoteError: a receipt that no trusted key signed, or of something else.
        """
        for attempt in count(1):
            result = self._attempt(call)
            wait = self._retries.wait(attempt, result) if call.repeatable else None
            if wait is None:
                return _read(call, result, self._trusted)
            self._sleep(wait)
        raise AssertionError("the count has no end")

    def _attempt(self, call: Call[AnswerT]) -> _Result:
        try:
            return self._http.send(_request(self._http, call))
        except httpx.TransportError as error:
            return _unreachable(self._http.base_url, error)

    def put_stream(self, chunks: Iterable[bytes], media_type: str) -> ContentRef:
        """Store content that comes in pieces, sent once: what was read from ``chunks`` cannot be sent again."""
        try:
            response = self._http.put("/blob", content=iter(chunks), headers={"Content-Type": media_type})
        except httpx.TransportError as error:
            raise _unreachable(self._http.base_url, error) from error
        if not response.is_success:
            raise _error(response)
        return ContentRef.model_validate_json(response.content)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
    """As :class:`Client`, in an event loop."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        trusted: Iterable[VerifierKey] = (),
        timeout: float = 30.0,
        retries: Retries = Retries(),
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """See :class:`Client`."""
        self._http = httpx.AsyncClient(base_url=url, headers=_headers(token), timeout=timeout, transport=transport)
        self._trusted = tuple(trusted)
        self._retries = retries

    async def send(self, call: Call[AnswerT]) -> AnswerT:
        """See :meth:`Client.send`."""
        for attempt in count(1):
            result = await self._attempt(call)
            wait = self._retries.wait(attempt, result) if call.repeatable else None
            if wait is None:
                return _read(call, result, self._trusted)
            await asyncio.sleep(wait)
        raise AssertionError("the count has no end")

    async def _attempt(self, call: Call[AnswerT]) -> _Result:
        try:
            return await self._http.send(_request(self._http, call))
        except httpx.TransportError as error:
            return _unreachable(self._http.base_url, error)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
