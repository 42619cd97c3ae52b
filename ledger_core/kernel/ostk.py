"""The identities of the `ostk` evidence contracts: what their published vectors pin.

Most identities are one domain over one canonical record, so :func:`identity` with the right prefix gives them:

    CANONICAL_PROFILE              a canonical profile
    TEST_VECTOR_MANIFEST           a conformance manifest
    REGISTRY_ENTRY                 an entry of a registry package: every ``entry_digest``, an activation policy's too
    REGISTRY_PACKAGE               a registry package
    REGISTRY_TEST_RESULT           a test result
    OSTK_LOG_EPOCH                 a genesis epoch
    BOOTSTRAP_SIGNER_POLICY        a signer policy
    BOOTSTRAP_STATEMENT            an unsigned bootstrap statement
    BOOTSTRAP_RECEIPT              a receipt: the statement with its attestations
    REGISTRY_ACTIVATION_STATEMENT  an unsigned activation statement
    REGISTRY_ACTIVATION_APPROVAL   one approval of it: the ``attestation_id``
    REGISTRY_ACTIVATION_RECEIPT    an activation receipt: the ``activation_id``
    REGISTRY_ACTIVATION_STREAM     a scope: the consistency key of its activations
    ACCEPTED_EVENT                 an event, or an evidence statement
    OSTK_SOURCE_FACT               a source fact
    OSTK_REPRESENTATION            a representation: the ``representation_key``
    SUCCESSOR_STATEMENT, …         as REGISTRY_ACTIVATION_…, for an activation that succeeds another
    …_V2                           the same record as its second version has it

The rest, composed of several parts, has a function each. Veritas' own chain (see the log) binds the receipt too; these
stand beside it so that the contracts' vectors decide about the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from ledger_core.kernel.canonical import encode
from ledger_core.kernel.digests import DigestHex, Prefix, domain_hex, framed, framed_hex
from ledger_core.kernel.errors import StrictProfileError
from ledger_core.kernel.text import check_decimal, check_text, is_contract_id

MAX_SHARD_COUNT = 2**16
"""Shards of an epoch; a shard is written in two bytes."""

_PARTITION_PREFIX_BYTES = 8
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEX_BYTES = re.compile(r"(?:[0-9a-f]{2})+")
_IDENTITY_FORMS: Final = ("entity", "occurrence", "version")
_URI = re.compile(rf"urn:ostk:({'|'.join(_IDENTITY_FORMS)}):v1:([a-z][a-z0-9_.-]{{0,127}}):sha256:([0-9a-f]{{64}})")

ApprovalPrefix: TypeAlias = Literal[
    Prefix.BOOTSTRAP_APPROVAL,
    Prefix.REGISTRY_ACTIVATION_SIGNATURE,
    Prefix.SUCCESSOR_SIGNATURE,
    Prefix.SUCCESSOR_SIGNATURE_V2,
]


def identity(prefix: Prefix, record: object) -> DigestHex:
    """``domain(prefix, canonical(record))``; the table above says which prefix is whose.

    Raises:
        StrictProfileError: ``record`` lies outside the strict profile.
    """
    return domain_hex(prefix, encode(record))


def approval_message(prefix: ApprovalPrefix, statement_id: str) -> bytes:
    """What an Ed25519 signer signs: ``prefix ‖ 00 ‖ statement id``, not hashed.

    Raises:
        StrictProfileError: ``statement_id`` is no digest.
    """
    return prefix.encode() + b"\x00" + _raw("statement id", statement_id)


def genesis_chain(*, receipt: str, epoch: str, shard: int) -> DigestHex:
    """H0 of a shard: ``framed(ostk-genesis-chain-v1; receipt digest, epoch id, u16be shard)``.

    Raises:
        StrictProfileError: a digest or the shard is malformed.
    """
    parts = (_raw("receipt digest", receipt), _raw("epoch id", epoch), _check_shard(shard).to_bytes(2, "big"))
    return framed_hex(Prefix.OSTK_GENESIS_CHAIN, parts)


def append_chain(*, previous: str, epoch: str, shard: int, offset: int, event_id: str) -> DigestHex:
    """H1 and on: ``framed(ostk-append-chain-v1; H, canonical(position), event id)``; offsets count from 1.

    Raises:
        StrictProfileError: a digest, the shard or the offset is malformed.
    """
    if offset < 1:
        raise StrictProfileError(f"committed offset {offset} is none; offsets count from 1")
    _raw("epoch id", epoch)
    position = {"committed_offset": str(offset), "epoch_id": epoch, "shard": _check_shard(shard)}
    parts = (_raw("previous chain digest", previous), encode(position), _raw("event id", event_id))
    return framed_hex(Prefix.OSTK_APPEND_CHAIN, parts)


def partition_shard(*, epoch: str, scope: Mapping[str, str], family: str, key: str, shard_count: int) -> int:
    """The shard of a consistency key (``sha256_prefix64_modulo``).

    First eight bytes, big-endian, of ``framed(ostk-log-partition-v1; epoch id, canonical(scope), family, key)``
    modulo ``shard_count``.

    Raises:
        StrictProfileError: a digest, the scope, the family or the count is malformed.
    """
    if not 1 <= shard_count <= MAX_SHARD_COUNT:
        raise StrictProfileError(f"shard count {shard_count} lies outside 1 to {MAX_SHARD_COUNT}")
    if not is_contract_id(family):
        raise StrictProfileError(f"family {family!r} is no contract id")
    parts = (_raw("epoch id", epoch), encode(scope), family.encode(), _raw("key digest", key))
    digest = framed(Prefix.OSTK_LOG_PARTITION, parts)
    return int.from_bytes(digest[:_PARTITION_PREFIX_BYTES], "big") % shard_count


def resource_uri(locator: Mapping[str, object]) -> str:
    """``urn:ostk:<identity form>:v1:<resource kind>:sha256:<digest of the locator>``.

    Raises:
        StrictProfileError: the form, the kind or a component is malformed.
    """
    components = locator.get("components")
    if not isinstance(components, (list, tuple)) or not components:
        raise StrictProfileError(f"components {components!r} of a locator are no list of components")
    for component in components:
        _check_component(component)
    digest = identity(Prefix.RESOURCE_LOCATOR, locator)
    return check_resource_uri(
        f"urn:ostk:{locator.get('identity_form')}:v1:{locator.get('resource_kind')}:sha256:{digest}"
    )


def check_resource_uri(value: str) -> str:
    """``value`` itself, if it has the form of a resource URI.

    Raises:
        StrictProfileError: it has not.
    """
    if _URI.fullmatch(value) is None:
        raise StrictProfileError(
            f"{value[:200]!r} is no resource URI urn:ostk:<{'|'.join(_IDENTITY_FORMS)}>:v1:<kind>:sha256:<hex digits>"
        )
    return value


def _check_hex_bytes(value: str) -> str:
    if _HEX_BYTES.fullmatch(value) is None:
        raise StrictProfileError(f"{value[:64]!r} is no run of lower-case hexadecimal bytes")
    return value


_ENCODINGS: Final[dict[str, Callable[[str], str]]] = {
    "decimal": check_decimal,
    "hex_bytes": _check_hex_bytes,
    "nfc_utf8": check_text,
}


def _check_component(component: object) -> None:
    if not isinstance(component, Mapping):
        raise StrictProfileError(f"component {component!r} of a locator is no object")
    check = _ENCODINGS.get(str(component.get("encoding")))
    value = component.get("value")
    if check is None or not isinstance(value, str):
        raise StrictProfileError(
            f"component {component!r} of a locator needs a string value and an encoding of {', '.join(_ENCODINGS)}"
        )
    check(value)


def _check_shard(shard: int) -> int:
    if not 0 <= shard < MAX_SHARD_COUNT:
        raise StrictProfileError(f"shard {shard} does not fit two bytes")
    return shard


def _raw(name: str, digest: str) -> bytes:
    if _DIGEST.fullmatch(digest) is None:
        raise StrictProfileError(f"{name} {digest[:80]!r} is no digest of 64 lower-case hexadecimal digits")
    return bytes.fromhex(digest)
