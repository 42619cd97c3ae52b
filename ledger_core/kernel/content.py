"""References to content-addressed bytes: all text, arguments, results and token ids live behind one of these."""

from __future__ import annotations

from typing import Literal

from ledger_core.kernel import digests
from ledger_core.kernel.records import Record
from ledger_core.kernel.types import ContractId, Count, Digest, ForeignName

DEFAULT_PROTECTION_DOMAIN = "default"
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
TOKENS = "application/vnd.veritas.tokens+u32le"
"""Token ids as unsigned 32-bit little-endian integers."""


class ContentRef(Record):
    """Names bytes by their body digest and length."""

    algorithm: Literal["ostk-body-v1"]
    byte_length: Count
    digest: Digest
    media_type: ForeignName
    protection_domain_id: ContractId


def content_ref(data: bytes, media_type: str, protection_domain_id: str = DEFAULT_PROTECTION_DOMAIN) -> ContentRef:
    """The reference of ``data``; says nothing about whether a store holds it."""
    return ContentRef.make(
        algorithm="ostk-body-v1",
        byte_length=len(data),
        digest=digests.body_hex(data),
        media_type=media_type,
        protection_domain_id=protection_domain_id,
    )
