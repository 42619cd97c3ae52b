"""Origin clusters: whom a seal's content comes from, as far as independence and reputation are concerned.

A cluster is one of

- a registrable domain: the ICANN section of the public suffix list plus :data:`HOSTING_PLATFORMS`, lower-case
  A-labels, without trailing dot, userinfo or port; a suffix that no list knows follows the list's ``*`` rule;
- ``address``: one pooled cluster for everything that names a machine and not a party (addresses in every notation,
  single labels, local-network names) and for what is no host name at all;
- ``tool:<tool>`` for local tools, and for imported transcripts that say no host. A host holds no colon, so that no
  domain can pass for a tool (`tool.dev` is a domain anybody may register).

The host itself comes from the sealing plane (final peer after redirects), never from a caller.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache
from pathlib import Path

import idna
import publicsuffixlist

from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements.outline import Sealed
from ledger_core.kernel.statements.sealing import SealMintedBody

ADDRESS_CLUSTER = "address"
TOOL_PREFIX = "tool:"

HOSTING_PLATFORMS = (
    "appspot.com",
    "azurewebsites.net",
    "bitbucket.io",
    "blogspot.com",
    "firebaseapp.com",
    "github.io",
    "gitlab.io",
    "herokuapp.com",
    "hf.space",
    "netlify.app",
    "notion.site",
    "pages.dev",
    "readthedocs.io",
    "substack.com",
    "tumblr.com",
    "vercel.app",
    "web.app",
    "wordpress.com",
    "workers.dev",
)
"""Hosts whose subdomains belong to different parties. Part of the recipe `cluster-v1`: another list is another recipe.
Caches and translators (`translate.goog`) are left out on purpose: there a subdomain is a copy, not a party."""

_LOCAL_SUFFIXES = ("localhost", "local", "internal", "home.arpa")
_MAX_HOST = 253
_MAX_TOOL_BYTES = 240
_PORT = re.compile(r":[0-9]*$")
_PLAIN_HOST = re.compile(
    r"(?!xn--)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.(?!xn--)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*"
)
_ASCII_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def cluster_of(seal: SealMintedBody, policy: Policy) -> str:
    """The origin cluster of ``seal``, at most 256 bytes.

    Raises:
        PolicyError: the policy was written for another public suffix list than the one installed.
    """
    check_suffix_list(policy)
    return seal_cluster(seal)


def check_suffix_list(policy: Policy) -> None:
    """Raise :class:`PolicyError` unless ``policy`` clusters origins by the suffix list that is installed."""
    installed = installed_list_digest()
    if policy.suffix_list_digest != installed:
        raise PolicyError(
            f"the policy clusters origins by suffix list {policy.suffix_list_digest}, installed is {installed}; "
            "install the publicsuffixlist release that the policy was written for"
        )


def seal_cluster(seal: SealMintedBody | Sealed) -> str:
    """:func:`cluster_of` by the installed list, whatever a policy says: for grouping, never for judging."""
    if seal.reach == "local" or (seal.origin_host is None and seal.attestation == "imported"):
        return _tool_cluster(seal.tool)
    return ADDRESS_CLUSTER if seal.origin_host is None else host_cluster(seal.origin_host)


@lru_cache(maxsize=65536)
def host_cluster(host: str) -> str:
    """The registrable domain of ``host``, or :data:`ADDRESS_CLUSTER` where it has none."""
    labels = _labels(host)
    if labels is None or len(labels) == 1 or _NUMBER.fullmatch(labels[-1]):
        return ADDRESS_CLUSTER
    name = ".".join(labels)
    if name.endswith(tuple(f".{suffix}" for suffix in _LOCAL_SUFFIXES)) or name in _LOCAL_SUFFIXES:
        return ADDRESS_CLUSTER
    # A name that is itself a public suffix (a platform's own front page) has no registrable part and stands for itself.
    return _suffixes().privatesuffix(name) or name


@cache
def installed_list_digest() -> str:
    """SHA-256 of the public suffix list file of the installed package."""
    return hashlib.sha256(Path(publicsuffixlist.PSLFILE).read_bytes()).hexdigest()


def _labels(host: str) -> list[str] | None:
    """Lower-case A-labels of ``host``; None when it is an IPv6 address or no host name."""
    bare = _PORT.sub("", host.rpartition("@")[2])
    if _PLAIN_HOST.fullmatch(bare):  # what mapping leaves as it is
        return bare.split(".") if len(bare) <= _MAX_HOST else None
    try:
        mapped = idna.uts46_remap(bare, std3_rules=False, transitional=False)
        labels = [_a_label(label) for label in mapped.removesuffix(".").split(".")]
    except (idna.IDNAError, UnicodeError):
        return None
    return labels if len(".".join(labels)) <= _MAX_HOST else None


def _a_label(label: str) -> str:
    """IDNA 2008 form of one mapped label; raises :class:`idna.IDNAError` for what is no label."""
    if label.isascii() and not label.startswith("xn--"):
        if not _ASCII_LABEL.fullmatch(label):
            raise idna.IDNAError(f"{label!r} is no host name label")
        return label
    return idna.alabel(label).decode("ascii")


def _tool_cluster(tool: str) -> str:
    encoded = tool.encode()
    if len(encoded) <= _MAX_TOOL_BYTES:
        return TOOL_PREFIX + tool
    return f"{TOOL_PREFIX}sha256:{hashlib.sha256(encoded).hexdigest()}"


@cache
def _suffixes() -> publicsuffixlist.PublicSuffixList:
    text = Path(publicsuffixlist.PSLFILE).read_text(encoding="utf-8")
    icann = text.partition("// ===BEGIN ICANN DOMAINS===")[2].partition("// ===END ICANN DOMAINS===")[0]
    return publicsuffixlist.PublicSuffixList(icann + "\n" + "\n".join(HOSTING_PLATFORMS))
