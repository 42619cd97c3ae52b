"""Origin clusters of hosts and tools."""

from __future__ import annotations

import hashlib
from pathlib import Path

import publicsuffixlist
import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, cluster_of, fold
from ledger_core.belief.origin import HOSTING_PLATFORMS, host_cluster, installed_list_digest
from ledger_core.belief.policies import SUFFIX_LIST_DIGEST
from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.statements.sealing import SealMinted
from tests.ledger_core.belief.book import Book

HOSTS = {
    # registrable domains
    "example.com": "example.com",
    "www.example.com": "example.com",
    "a.b.c.example.com": "example.com",
    "WWW.Example.COM": "example.com",
    "example.com.": "example.com",
    "example.com:443": "example.com",
    "example.com:": "example.com",
    "user:secret@www.example.com:8443": "example.com",
    "a@b@example.com": "example.com",
    "news.bbc.co.uk": "bbc.co.uk",
    "bbc.co.uk": "bbc.co.uk",
    "www.city.kobe.jp": "city.kobe.jp",
    "a.b.c.kobe.jp": "b.c.kobe.jp",
    "my_host.example.com": "example.com",
    "@example.com": "example.com",
    # wildcard rules and their exceptions
    "x.kobe.jp": "x.kobe.jp",
    "city.kobe.jp": "city.kobe.jp",
    "shop.co.ck": "shop.co.ck",
    "a.shop.co.ck": "shop.co.ck",
    "www.ck": "www.ck",
    "shop.www.ck": "www.ck",
    # suffixes that no list knows: the `*` rule
    "one.registry.example": "registry.example",
    "prices.invalid": "prices.invalid",
    "a.b.unknownsuffix": "b.unknownsuffix",
    "abc.onion": "abc.onion",
    "1.example": "1.example",
    # internationalised names in every spelling
    "bücher.example": "xn--bcher-kva.example",
    "BÜCHER.example": "xn--bcher-kva.example",
    "xn--bcher-kva.example": "xn--bcher-kva.example",
    "XN--BCHER-KVA.example": "xn--bcher-kva.example",
    "bu\u0308cher.example": "xn--bcher-kva.example",
    "ｅｘａｍｐｌｅ.com": "example.com",
    "www。example。com": "example.com",
    "ex\u00adample.com": "example.com",
    "www｡example．com。": "example.com",
    "user:p@ss@Bücher.Example.:8080": "xn--bcher-kva.example",
    "ⓔⓧⓐⓜⓟⓛⓔ.com": "example.com",
    "公司.cn": "xn--55qx5d.cn",
    "食狮.公司.cn": "xn--85x722f.xn--55qx5d.cn",
    "www.食狮.公司.cn": "xn--85x722f.xn--55qx5d.cn",
    "faß.de": "xn--fa-hia.de",
    "fass.de": "fass.de",
    "раураl.com": "xn--l-7sba6dbr.com",
    # a public suffix stands for itself
    "co.uk": "co.uk",
    "github.io": "github.io",
    # hosting platforms: a subdomain is a party
    "alice.github.io": "alice.github.io",
    "www.alice.github.io": "alice.github.io",
    "bob.github.io": "bob.github.io",
    "EVE.GitHub.IO.": "eve.github.io",
    "a.b.github.io:8443": "b.github.io",
    "x.y.workers.dev": "y.workers.dev",
    # caches, buckets and whatever else the private section lists: one party each
    "www-bbc-com.translate.goog": "translate.goog",
    "s3.amazonaws.com": "amazonaws.com",
    "bucket.s3.amazonaws.com": "amazonaws.com",
    "bucket.s3.eu-central-1.amazonaws.com": "amazonaws.com",
    "bucket.storage.googleapis.com": "googleapis.com",
    "127.0.0.1.nip.io": "nip.io",
    "d111.cloudfront.net": "cloudfront.net",
    # addresses in every notation
    "127.0.0.1": "address",
    "127.0.0.1:8080": "address",
    "127.1": "address",
    "0x7f.1": "address",
    "0X7F.1": "address",
    "0177.0.0.1": "address",
    "2130706433": "address",
    "0x7f000001": "address",
    "１２７.0.0.1": "address",
    "०१.1.1.1": "address",
    "0300.0250.1.1": "address",
    "192.168.257": "address",
    "1.2.3.0x": "address",
    "1.2.3.4.": "address",
    "1.2.3.4.5": "address",
    "www.example.0x": "address",
    "::1": "address",
    "[::1]": "address",
    "[2001:db8::1]:443": "address",
    "2001:db8::1": "address",
    "::ffff:192.0.2.1": "address",
    "[::ffff:7f00:1]": "address",
    "fe80::1%eth0": "address",
    # names of a machine, not of a party
    "localhost": "address",
    "LOCALHOST.": "address",
    "api.localhost": "address",
    "printer.local": "address",
    "db.internal": "address",
    "nas.home.arpa": "address",
    "intranet": "address",
    # no host name at all
    "": "address",
    ".": "address",
    ".com": "address",
    "a..example.com": "address",
    "example.com..": "address",
    "-a.example.com": "address",
    "a-.example.com": "address",
    "exa mple.com": "address",
    "example.com/path": "address",
    "example.com:port": "address",
    "example.com%00.evil.com": "address",
    "exam\u200dple.com": "address",
    "http://example.com": "address",
    "%65xample.com": "address",
    "xn--abc.example": "address",
    "i❤.example": "address",
    "a" * 64 + ".example": "address",
    ".".join(["a" * 60] * 5) + ".example": "address",
}


@pytest.mark.parametrize(("host", "cluster"), HOSTS.items())
def test_the_cluster_of_a_host(host, cluster):
    assert host_cluster(host) == cluster


LONGEST = ".".join(["a" * 61, "a" * 61, "a" * 61, "b" * 59, "example"])
"""As long as a host name may be: 253 characters."""


@pytest.mark.parametrize(
    ("host", "cluster"),
    [
        (LONGEST, "b" * 59 + ".example"),
        (LONGEST.upper(), "b" * 59 + ".example"),
        (f"{LONGEST}.", "b" * 59 + ".example"),
        (f"a{LONGEST}", "address"),
        (f"a{LONGEST}".upper(), "address"),
        (f"{'a' * 63}.example", f"{'a' * 63}.example"),
        (f"{'A' * 63}.example", f"{'a' * 63}.example"),
        (f"{'A' * 64}.example", "address"),
        ("a.b", "a.b"),
        ("A.B", "a.b"),
        ("a_.example", "a_.example"),
        ("A_.example", "a_.example"),
        ("0.0x", "address"),
        ("0.0xg", "0.0xg"),
        ("x.home.arpa", "address"),
        ("home.arpa", "address"),
        ("arpa.example", "arpa.example"),
        ("xlocal.example", "xlocal.example"),
        ("a.xlocal", "a.xlocal"),
    ],
)
def test_the_bounds_of_a_host_name(host, cluster):
    assert len(LONGEST) == 253
    assert host_cluster(host) == cluster


def cluster(**fields):
    book = Book()
    book.seal(fields.pop("host", None), **fields)
    (seal,) = (s for s in book.statements if isinstance(s, SealMinted))
    return cluster_of(seal.body, SEED_V4_CLUSTERS)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"host": "www.example.com"}, "example.com"),
        ({"reach": "local", "tool": "notes"}, "tool:notes"),
        ({"reach": "local", "tool": "notes", "host": "www.example.com"}, "tool:notes"),
        ({"attestation": "imported", "tool": "get_user"}, "tool:get_user"),
        ({"attestation": "imported", "tool": "get_user", "host": "api.example.com"}, "example.com"),
        ({"host": None}, "address"),
        ({"reach": "local", "tool": "x" * 240}, "tool:" + "x" * 240),
        ({"reach": "local", "tool": "x" * 241}, "tool:sha256:" + hashlib.sha256(b"x" * 241).hexdigest()),
        ({"reach": "local", "tool": "x" * 256}, "tool:sha256:" + hashlib.sha256(b"x" * 256).hexdigest()),
    ],
)
def test_the_cluster_of_a_seal(fields, expected):
    assert cluster(**fields) == expected
    assert len(expected.encode()) <= 256


def test_no_domain_passes_for_a_tool():
    assert cluster(host="tool.dev") != cluster(reach="local", tool="dev")
    assert host_cluster("tool:dev") == "address"


def test_the_installed_list_is_the_one_the_policies_name():
    data = Path(publicsuffixlist.PSLFILE).read_bytes()
    assert hashlib.sha256(data).hexdigest() == SUFFIX_LIST_DIGEST == installed_list_digest()


def test_a_policy_of_another_list_is_refused():
    book = Book()
    book.seal("a.example")
    policy = SEED_V4_CLUSTERS.model_copy(update={"suffix_list_digest": "00" * 32})
    with pytest.raises(PolicyError, match=r"0000.* installed is 0232f4df"):
        fold(book.statements, policy)


def test_the_recipe_pins_its_hosting_platforms():
    """Another list would silently move recorded state; it has to become another recipe instead."""
    joined = "\n".join(HOSTING_PLATFORMS).encode()
    assert list(HOSTING_PLATFORMS) == sorted(set(HOSTING_PLATFORMS))
    assert hashlib.sha256(joined).hexdigest() == "507d74468cec7e6e3feff3b2796b5de4576041031be9393235f2f97e5701a833"
