"""Domain-separated SHA-256, as raw bytes: ``H(prefix ‖ 00 ‖ …)``."""

from __future__ import annotations

import hashlib


def domain(prefix: str, data: bytes) -> bytes:
    """``H(prefix ‖ 00 ‖ data)``."""
    return hashlib.sha256(prefix.encode() + b"\x00" + data).digest()


def framed(prefix: str, *parts: bytes) -> bytes:
    """``H(prefix ‖ 00 ‖ Σ u64be(len) ‖ part)``."""
    return domain(prefix, b"".join(len(part).to_bytes(8, "big") + part for part in parts))


def body(data: bytes) -> str:
    """The digest by which content is referred to, in hex: ``H("ostk-body-v1" ‖ u64be(len) ‖ data)``."""
    return hashlib.sha256(b"ostk-body-v1" + len(data).to_bytes(8, "big") + data).hexdigest()
