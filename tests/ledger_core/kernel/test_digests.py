"""The three constructions by hand, and the domains that they are kept apart by."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def test_the_constructions() -> None:
    assert digests.domain(Prefix.SOURCE_FACT, b"xyz") == sha256(b"veritas-source-fact-v1", b"\0", b"xyz")
    assert digests.domain_hex(Prefix.SOURCE_FACT, b"xyz") == sha256(b"veritas-source-fact-v1", b"\0", b"xyz").hex()
    framed = sha256(b"ostk-log-partition-v1", b"\0", b"\0" * 7, b"\2ab", b"\0" * 6, b"\1\0", b"c" * 256)
    assert digests.framed(Prefix.OSTK_LOG_PARTITION, [b"ab", b"c" * 256]) == framed
    assert digests.framed(Prefix.OSTK_LOG_PARTITION, iter([b"ab", b"c" * 256])) == framed
    assert digests.framed(Prefix.RUN, []) == sha256(b"veritas-run-v1", b"\0")
    assert digests.body(b"abc") == sha256(b"ostk-body-v1", b"\0" * 7, b"\3abc")
    assert digests.body(b"d" * 256) == sha256(b"ostk-body-v1", b"\0" * 6, b"\1\0", b"d" * 256)


@given(st.lists(st.binary(max_size=9), max_size=5))
def test_a_body_in_pieces_has_the_digest_of_the_whole(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert digests.body_hex_of(pieces, len(whole)) == digests.body(whole).hex()
    assert digests.body_hex_of(pieces, len(whole) + 1) != digests.body(whole).hex()


def test_every_domain_is_spelled_as_it_was() -> None:
    """Another spelling is another digest of everything that was ever written in the domain."""
    spelled = "\n".join(f"{prefix.name} {prefix.value}" for prefix in Prefix)
    assert sha256(spelled.encode()).hex() == "c2553609157bcef855c581928e89c5955d5357f702649186bb77e94db0a5489b"
    assert all(prefix.separated == prefix.value.encode() + b"\0" for prefix in Prefix)
