"""A tool that reads pages over HTTP and knows who answered: the final peer, after redirects.

Every redirect is followed by hand, so that a secret goes only to the host it is registered for and the host that
answers last is the one that is recorded. The environment has no say: no proxies, no netrc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from ledger_core.kernel.timestamps import from_datetime
from ledger_core.sealing.peers import origin_of
from ledger_core.sealing.registry import Determinism, RegisteredTool, register
from ledger_core.sealing.results import OCTETS, Returned

MAX_BYTES: Final = 16 << 20
MAX_REDIRECTS: Final = 10
SECONDS: Final = 30.0
_AGENT = "veritas-shim/1"
_FAILED = 400
_MAX_TYPE = 256


class FetchError(Exception):
    """A page that could not be fetched; sealed as the call's error."""


@dataclass(frozen=True, slots=True)
class SecretHeader:
    """A header whose value is a secret, for one web origin only."""

    header: str
    origin: str
    """Scheme, host and port, such as ``https://api.example.org``: a request to any other goes without the header."""
    reference: str
    """Name of the secret, such as ``env:API_TOKEN``; its value never leaves the call."""


@dataclass(frozen=True)
class HttpGet:
    """Fetches ``url``: the function of :func:`http_get`."""

    client: httpx.Client
    hosts: frozenset[str] | None
    max_bytes: int
    header: SecretHeader | None = None

    def __call__(self, url: str, secrets: Mapping[str, str] | None = None) -> Returned:
        """The answer of the final peer.

        Raises:
            FetchError: another scheme than HTTP, a host that is not admitted, too many redirects, too large a body.
        """
        address = httpx.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            self._admit(address)
            request = self.client.build_request("GET", address, headers=self._headers(address, secrets or {}))
            response = self.client.send(request, stream=True)
            if not response.has_redirect_location:
                return self._answer(address, response)
            response.close()
            address = address.join(response.headers["location"])
        raise FetchError(f"more than {MAX_REDIRECTS} redirects")

    def _admit(self, address: httpx.URL) -> None:
        if address.scheme not in {"http", "https"} or not address.host:
            raise FetchError(f"{str(address)!r} is no http or https address")
        if self.hosts is not None and address.host not in self.hosts:
            raise FetchError(f"host {address.host!r} is not admitted to this tool")

    def _headers(self, address: httpx.URL, secrets: Mapping[str, str]) -> dict[str, str]:
        headers = {"user-agent": _AGENT}
        if self.header is not None and _web_origin(address) == _web_origin(httpx.URL(self.header.origin)):
            headers[self.header.header] = secrets[self.header.reference]
        return headers

    def _answer(self, address: httpx.URL, response: httpx.Response) -> Returned:
        return Returned(
            value=self._body(response),
            peer=origin_of(_plain(address)),
            media_type=_media_type(response),
            modified_at=_modified_at(response),
            ok=response.status_code < _FAILED,
        )

    def _body(self, response: httpx.Response) -> Iterator[bytes]:
        length = 0
        with closing(response):
            for chunk in response.iter_bytes():
                length += len(chunk)
                if length > self.max_bytes:
                    raise FetchError(f"the body is larger than {self.max_bytes} bytes")
                yield chunk


def http_get(
    name: str,
    *,
    source_id: str,
    determinism: Determinism = "unknown",
    hosts: frozenset[str] | None = None,
    header: SecretHeader | None = None,
    predicate_family: str = "*",
    max_bytes: int = MAX_BYTES,
    seconds: float = SECONDS,
    client: httpx.Client | None = None,
) -> RegisteredTool:
    """A read-only tool whose one argument is ``url`` and whose results are of the peer that answered last.

    ``hosts`` are those it may talk to, all where None: then whoever chooses the address can make it ask inside the
    boundary's own network. The bytes are those of the body, decoded from its transfer encoding.
    """
    own = httpx.Client(follow_redirects=False, trust_env=False, timeout=seconds)
    return register(
        name,
        HttpGet(client or own, hosts, max_bytes, header),
        effect="read_only",
        reach="external_read",
        determinism=determinism,
        source_id=source_id,
        predicate_family=predicate_family,
        secret_refs=() if header is None else (header.reference,),
        procedure="http_get",
        timeout_seconds=seconds,
    )


def _web_origin(address: httpx.URL) -> tuple[str, bytes, int | None]:
    return address.scheme, address.raw_host, address.port


def _plain(address: httpx.URL) -> str:
    """The address with its host in ASCII."""
    return str(address.copy_with(userinfo=b""))


def _media_type(response: httpx.Response) -> str:
    stated = response.headers.get("content-type", "").strip()
    return stated if stated.isascii() and stated.isprintable() and 0 < len(stated) <= _MAX_TYPE else OCTETS


def _modified_at(response: httpx.Response) -> str | None:
    """The origin's own `Last-Modified`, None where it states none that can be read."""
    try:
        return from_datetime(parsedate_to_datetime(response.headers["last-modified"]))
    except Exception:  # noqa: BLE001 - a header that says nothing readable says nothing
        return None
