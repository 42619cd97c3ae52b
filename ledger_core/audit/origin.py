"""Origin clusters: whom a seal's content comes from (``docs/belief.md``), from a public suffix list that lies in a file.

The list is data and is read as data. Of internationalised hosts those are judged that need no table beyond the standard
library's: lower-case letters and digits written from left to right. Others are said not to be judged.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import unicodedata
from pathlib import Path
from typing import Any

PLATFORMS = frozenset(
    "appspot.com azurewebsites.net bitbucket.io blogspot.com firebaseapp.com github.io gitlab.io herokuapp.com hf.space"
    " netlify.app notion.site pages.dev readthedocs.io substack.com tumblr.com vercel.app web.app wordpress.com"
    " workers.dev".split()
)
"""Hosting platforms of the recipe, whose subdomains belong to different parties."""

_LOCAL = ("localhost", "local", "internal", "home.arpa")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_EXCEPTED = frozenset("\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b")
"""Letters that RFC 5892 §2.6 forbids by name."""
_ICANN = ("// ===BEGIN ICANN DOMAINS===", "// ===END ICANN DOMAINS===")


class OriginError(Exception):
    """Something that this implementation cannot judge; it says so and is no finding."""


class SuffixList:
    """The ICANN section of a public suffix list, and the platforms."""

    def __init__(self, data: bytes) -> None:
        self.digest = hashlib.sha256(data).hexdigest()
        section = data.decode("utf-8").partition(_ICANN[0])[2].partition(_ICANN[1])[0]
        lines = (line.strip() for line in section.splitlines())
        rules = {_ascii(line.split()[0]) for line in lines if line and not line.startswith("//")} | PLATFORMS
        self._exceptions = {rule[1:] for rule in rules if rule.startswith("!")}
        self._wild = {rule[2:] for rule in rules if rule.startswith("*.")}
        self._plain = {rule for rule in rules if rule[0] not in "!*"}

    def registrable(self, labels: list[str]) -> str:
        """The public suffix of ``labels`` and one label more; the whole name where it is a suffix itself."""
        longest = 1  # the list's own default rule, `*`
        for length in range(1, len(labels) + 1):
            name = ".".join(labels[-length:])
            if name in self._exceptions:
                longest = length - 1
                break
            if name in self._plain or ".".join(labels[-length + 1 :] if length > 1 else []) in self._wild:
                longest = length
        return ".".join(labels[-longest - 1 :])


def installed_list() -> Path | None:
    """The list inside an installed `publicsuffixlist`, whose code is not run; None where there is none."""
    found = importlib.util.find_spec("publicsuffixlist")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    files = [Path(folder) / "public_suffix_list.dat" for folder in folders]
    return next((file for file in files if file.is_file()), None)


def cluster(seal: dict[str, Any], suffixes: SuffixList | None) -> str:
    """The origin cluster of a seal's body; raises :class:`OriginError` where it cannot be judged here."""
    host, tool = seal["origin_host"], seal["tool"].encode("utf-8")
    if seal["reach"] == "local" or (host is None and seal["attestation"] == "imported"):
        return f"tool:{seal['tool']}" if len(tool) <= 240 else f"tool:sha256:{hashlib.sha256(tool).hexdigest()}"  # noqa: PLR2004
    if host is None:
        return "address"
    labels = [_label(label) for label in _dotted(re.sub(r":[0-9]*$", "", host.rpartition("@")[2]))]
    name = ".".join(labels)
    if not all(_LABEL.fullmatch(label) for label in labels) or len(name) > 253:  # noqa: PLR2004 - RFC 1035
        return "address"
    local = name in _LOCAL or any(name.endswith(f".{suffix}") for suffix in _LOCAL)
    if len(labels) == 1 or local or _NUMBER.fullmatch(labels[-1]):
        return "address"
    if suffixes is None:
        raise OriginError(f"host {host!r} needs the public suffix list that the policy names; give it by --suffix-list")
    return suffixes.registrable(labels)


def _dotted(host: str) -> list[str]:
    """The labels of a host in lower case; every full stop of the mapping separates."""
    bare = host.lower() if host.isascii() else unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower()
    return bare.removesuffix(".").split(".")


def _label(label: str) -> str:
    """A label as it is looked up; raises :class:`OriginError` for an international one that is not plain."""
    if label.isascii() and not label.startswith("xn--"):
        return label
    try:
        text = label[4:].encode().decode("punycode") if label.isascii() else label
    except UnicodeError:
        text = ""
    encoded = f"xn--{text.encode('punycode').decode()}"
    if text.isascii() or (label.isascii() and encoded != label) or not _is_plain(text):
        raise OriginError(f"host label {label!r} needs the tables of IDNA, which this implementation does not have")
    return encoded


def _is_plain(text: str) -> bool:
    """Whether IDNA 2008 surely takes ``text`` as it is: letters and digits that no mapping changes, left to right."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return (
        folded == text
        and not unicodedata.combining(text[0])
        and not (text.startswith("-") or text.endswith("-") or text[2:4] == "--")
        and not _EXCEPTED.intersection(text)
        and all(
            char == "-"
            or (
                unicodedata.category(char) in {"Ll", "Lo", "Lm", "Mn", "Mc", "Nd"}
                and unicodedata.bidirectional(char) in {"L", "EN", "NSM"}
            )
            for char in text
        )
    )


def _ascii(rule: str) -> str:
    """The A-labels of a rule; the list spells its names as they are looked up."""
    return ".".join(
        label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in rule.split(".")
    )
