"""Domain-separated SHA-256 (design: every digest names its domain; parts are raw bytes, never hex).

Three constructions, no fourth:

- ``domain(prefix, b)  = H(prefix ‖ 00 ‖ b)``
- ``framed(prefix, ps) = H(prefix ‖ 00 ‖ Σ u64be(len p) ‖ p)``
- ``body(b)            = H("ostk-body-v1" ‖ u64be(len b) ‖ b)``, the one without a separator byte
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from enum import StrEnum
from typing import NewType

DigestHex = NewType("DigestHex", str)
"""64 lower-case hexadecimal digits."""

DIGEST_BYTES = 32


class Prefix(StrEnum):
    """The closed set of digest domains."""

    separated: bytes
    """What a digest of the domain begins with: the prefix and a zero byte."""

    def __init__(self, value: str) -> None:
        """On the member itself: looking up a member costs as much as hashing a short record."""
        self.separated = value.encode() + b"\x00"

    CANONICAL_PROFILE = "ostk-canonical-profile-v1"
    REGISTRY_PACKAGE = "ostk-registry-package-v1"
    REGISTRY_ENTRY = "ostk-registry-entry-v1"
    OSTK_LOG_EPOCH = "ostk-log-epoch-v1"
    OSTK_LOG_PARTITION = "ostk-log-partition-v1"
    BOOTSTRAP_STATEMENT = "ostk-bootstrap-statement-v1"
    BOOTSTRAP_RECEIPT = "ostk-bootstrap-receipt-v1"
    BOOTSTRAP_APPROVAL = "ostk-bootstrap-approval-v1"
    OSTK_GENESIS_CHAIN = "ostk-genesis-chain-v1"
    OSTK_APPEND_CHAIN = "ostk-append-chain-v1"
    ACCEPTED_EVENT = "ostk-accepted-event-v1"
    OSTK_SOURCE_FACT = "ostk-source-fact-v1"
    OSTK_REPRESENTATION = "ostk-representation-v1"
    OSTK_LOG_EPOCH_V2 = "ostk-log-epoch-v2"
    OSTK_SOURCE_FACT_V2 = "ostk-source-fact-v2"
    OSTK_REPRESENTATION_V2 = "ostk-representation-v2"
    RESOURCE_LOCATOR = "ostk-resource-locator-v1"
    TEST_VECTOR_MANIFEST = "ostk-test-vector-manifest-v1"
    BOOTSTRAP_SIGNER_POLICY = "ostk-bootstrap-signer-policy-v1"
    REGISTRY_TEST_RESULT = "ostk-registry-test-result-v1"
    REGISTRY_ACTIVATION_STATEMENT = "ostk-registry-activation-statement-v1"
    REGISTRY_ACTIVATION_APPROVAL = "ostk-registry-activation-approval-v1"
    REGISTRY_ACTIVATION_SIGNATURE = "ostk-registry-activation-approval-signature-v1"
    REGISTRY_ACTIVATION_RECEIPT = "ostk-registry-activation-receipt-v1"
    REGISTRY_ACTIVATION_STREAM = "ostk-registry-activation-stream-v1"
    SUCCESSOR_STATEMENT = "ostk-registry-successor-activation-statement-v1"
    SUCCESSOR_APPROVAL = "ostk-registry-successor-activation-approval-v1"
    SUCCESSOR_SIGNATURE = "ostk-registry-successor-activation-approval-signature-v1"
    SUCCESSOR_RECEIPT = "ostk-registry-successor-activation-receipt-v1"
    SUCCESSOR_STATEMENT_V2 = "ostk-registry-successor-activation-statement-v2"
    SUCCESSOR_APPROVAL_V2 = "ostk-registry-successor-activation-approval-v2"
    SUCCESSOR_SIGNATURE_V2 = "ostk-registry-successor-activation-approval-signature-v2"
    SUCCESSOR_RECEIPT_V2 = "ostk-registry-successor-activation-receipt-v2"
    SOURCE_FACT = "veritas-source-fact-v1"
    REPRESENTATION = "veritas-representation-v1"
    LOG_EPOCH = "veritas-log-epoch-v1"
    GENESIS_CHAIN = "veritas-genesis-chain-v1"
    APPEND_CHAIN = "veritas-append-chain-v1"
    APPEND_RECEIPT = "veritas-append-receipt-v1"
    POLICY = "veritas-policy-v1"
    RECORD_KEY = "veritas-record-key-v1"
    RUN = "veritas-run-v1"
    SCENARIO = "veritas-scenario-v1"
    BLOCK = "veritas-block-v1"
    LAYOUT = "veritas-layout-v1"
    RECIPE = "veritas-recipe-v1"
    ROWS = "veritas-rows-v1"
    CONFIG = "veritas-config-v1"


_BODY_PREFIX = b"ostk-body-v1"
_LENGTH = struct.Struct(">Q")


def domain(prefix: Prefix, data: bytes) -> bytes:
    """``H(prefix ‖ 00 ‖ data)`` as 32 raw bytes."""
    return hashlib.sha256(prefix.separated + data).digest()


def framed(prefix: Prefix, parts: Iterable[bytes]) -> bytes:
    """``H(prefix ‖ 00 ‖ Σ u64be(len) ‖ part)`` as 32 raw bytes; the frames stop ``(ab, c)`` from meeting ``(a, bc)``."""
    pieces = [prefix.separated]
    for part in parts:
        pieces += (_LENGTH.pack(len(part)), part)
    return hashlib.sha256(b"".join(pieces)).digest()


def body(data: bytes) -> bytes:
    """``H("ostk-body-v1" ‖ u64be(len) ‖ data)``: the digest of content-addressed bytes."""
    return hashlib.sha256(_BODY_PREFIX + len(data).to_bytes(8, "big") + data).digest()


def body_hex_of(chunks: Iterable[bytes], byte_length: int) -> DigestHex:
    """:func:`body_hex` of bytes that come in pieces; the digest frames their length, which must be known first."""
    state = hashlib.sha256(_BODY_PREFIX + byte_length.to_bytes(8, "big"))
    for chunk in chunks:
        state.update(chunk)
    return DigestHex(state.hexdigest())


def domain_hex(prefix: Prefix, data: bytes) -> DigestHex:
    """:func:`domain` as 64 lower-case hexadecimal digits."""
    return DigestHex(domain(prefix, data).hex())


def framed_hex(prefix: Prefix, parts: Iterable[bytes]) -> DigestHex:
    """:func:`framed` as 64 lower-case hexadecimal digits."""
    return DigestHex(framed(prefix, parts).hex())


def body_hex(data: bytes) -> DigestHex:
    """:func:`body` as 64 lower-case hexadecimal digits."""
    return DigestHex(body(data).hex())
