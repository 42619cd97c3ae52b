"""Whom a fetched page comes from: the host that answered last or, behind a mirror, the host that it mirrors.

A mirror, a reading proxy or a cache shows another party's content. Counted as a party of its own, it would lend one
source a second voice; so it inherits the host inside. Only those listed here are known: an unlisted mirror is the party
that its host says it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import parse_qs, unquote, urlsplit

_DEEPEST = 8
"""Mirrors of mirrors that are followed; what lies deeper is of the last one reached."""


def origin_of(url: str) -> str | None:
    """The host that ``url`` comes from; None where it has none."""
    host = _host(url)
    for _ in range(_DEEPEST):
        inner = None if host is None else _inner_url(host, url)
        shown = None if inner is None else _host(inner)
        if inner is None or shown is None:
            break
        url, host = inner, shown
    return host


def _host(url: str) -> str | None:
    """The host of an address, without a final dot; None for what is no address."""
    try:
        return (urlsplit(url).hostname or "").removesuffix(".") or None
    except ValueError:
        return None


def _inner_url(host: str, url: str) -> str | None:
    """The address that a mirror at ``host`` shows; None where it is no mirror, or shows a page of its own."""
    parts = urlsplit(url)
    for suffix in (".translate.goog", ".cdn.ampproject.org"):
        if host.endswith(suffix):
            return f"https://{_decoded_subdomain(host.removesuffix(suffix))}{parts.path}"
    read = MIRRORS.get(host)
    return None if read is None else read(parts.path, parts.query)


def _decoded_subdomain(label: str) -> str:
    """`www-a--b-example` spells `www.a-b.example`."""
    return label.replace("--", "\0").replace("-", ".").replace("\0", "-")


def _from_path(pattern: str) -> Callable[[str, str], str | None]:
    shape = re.compile(pattern)

    def read(path: str, query: str) -> str | None:
        match = shape.match(path)
        if match is None:
            return None
        rest = unquote(path[match.end() :]) + (f"?{query}" if query else "")
        return rest if "://" in rest else f"https://{rest}" if rest else None

    return read


def _from_cache(path: str, query: str) -> str | None:  # noqa: ARG001 - the path of a cache says nothing
    asked = parse_qs(query).get("q", [""])[0].removeprefix("cache:")
    target = asked.split("+")[0].split(" ")[0]
    target = re.sub(r"^[\w-]{12}:(?!//)", "", target)
    return (target if "://" in target else f"https://{target}") if target else None


MIRRORS: Mapping[str, Callable[[str, str], str | None]] = MappingProxyType(
    {
        "web.archive.org": _from_path(r"/web/[0-9]+(?:[a-z]{2}_)?/"),
        "archive.ph": _from_path(r"/[0-9]+/"),
        "archive.today": _from_path(r"/[0-9]+/"),
        "r.jina.ai": _from_path(r"/"),
        "cdn.ampproject.org": _from_path(r"/[cv]/(?:s/)?"),
        "webcache.googleusercontent.com": _from_cache,
    }
)
"""Host of a mirror -> how the page's own address is read from the mirror's. Hosts below `translate.goog` and
`cdn.ampproject.org` spell it in their first label."""
