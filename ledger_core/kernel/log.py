"""Positions, receipts and the hash chain of the log.

``H0 = framed("veritas-genesis-chain-v1"; genesis event_id, epoch_id, family, u16be shard)``
``Hn = framed("veritas-append-chain-v1"; Hn−1, canonical(position), event_id, receipt digest)``
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from pydantic import Field

from ledger_core.kernel import digests
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements import LogFamily, Scope
from ledger_core.kernel.statements.shapes import expression
from ledger_core.kernel.types import ContractId, Count, Digest, ForeignName, Offset, Timestamp

ZERO_SEED = "00" * digests.DIGEST_BYTES

Role = Literal["sealer", "recorder", "agent", "verifier", "attributor", "operator", "auditor", "admin", "evaluator"]


class Position(Record):
    """Where in a family's log an event stands; the family itself stands beside it."""

    committed_offset: Offset
    epoch_id: Digest
    shard: int = Field(ge=0, le=65535)

    @classmethod
    def unchecked(cls, committed_offset: str, epoch_id: str, shard: int) -> Position:
        """As ``model_construct``, for every event that is read: without its look at defaults and aliases, which none has."""
        position = cls.__new__(cls)
        put = object.__setattr__
        put(position, "__dict__", {"committed_offset": committed_offset, "epoch_id": epoch_id, "shard": shard})
        put(position, "__pydantic_fields_set__", {"committed_offset", "epoch_id", "shard"})
        put(position, "__pydantic_extra__", None)
        put(position, "__pydantic_private__", None)
        return position


class Receipt(Record):
    """Who appended, in which role, when, under which policy: outside the statement's identity, inside the chain."""

    channel: Literal["service", "embedded", "import"]
    context_head: Digest | None
    """For a generation: the evidence head its context was rendered from."""
    delivery_id: ForeignName | None
    policy_head: Digest | None
    principal_id: ContractId
    received_at: Timestamp
    recorded_at: Timestamp
    role: Role


class _EpochIdentity(Record):
    partition_seed: Digest
    scope: Scope
    shard_count: Count


def epoch_id(scope: Scope, shard_count: int = 1, partition_seed: str = ZERO_SEED) -> DigestHex:
    """``domain("veritas-log-epoch-v1", canonical{scope, shard_count, partition_seed})``."""
    identity = _EpochIdentity(partition_seed=partition_seed, scope=scope, shard_count=shard_count)
    return digests.domain_hex(Prefix.LOG_EPOCH, identity.canonical_bytes())


def genesis_chain(genesis_event_id: str, epoch: str, family: LogFamily, shard: int) -> DigestHex:
    """H0 of a family's chain."""
    parts = (bytes.fromhex(genesis_event_id), bytes.fromhex(epoch), family.encode(), shard.to_bytes(2, "big"))
    return digests.framed_hex(Prefix.GENESIS_CHAIN, parts)


def append_chain(previous: str, position: Position, event_id: str, receipt_bytes: bytes) -> DigestHex:
    """Hn from Hn−1, the position, the event and the canonical bytes of its receipt."""
    receipt = digests.domain(Prefix.APPEND_RECEIPT, receipt_bytes)
    link = chain_link(bytes.fromhex(previous), position.canonical_bytes(), bytes.fromhex(event_id), receipt)
    return DigestHex(link.hex())


def chain_link(previous: bytes, position: bytes, event_id: bytes, receipt: bytes) -> bytes:
    """:func:`append_chain` of raw digests, that of the receipt included, and of the position's canonical bytes."""
    return digests.framed(Prefix.APPEND_CHAIN, (previous, position, event_id, receipt))


class ReceiptOutline(NamedTuple):
    """What verification reads of a receipt."""

    received_at: str
    recorded_at: str
    policy_head: str | None


def receipt_outline(receipt_bytes: bytes) -> ReceiptOutline | None:
    """What canonical bytes of a receipt say; None where they have no outline: decode them to know what they are.

    What has one decodes, and says the same.
    """
    match = _receipt_expression().fullmatch(receipt_bytes)
    if match is None:
        return None
    received_at, recorded_at, policy_head = match.group("received_at", "recorded_at", "policy_head")
    return ReceiptOutline(
        received_at.decode(), recorded_at.decode(), None if policy_head is None else policy_head.decode()
    )


def position_bytes(offset: int, epoch: str, shard: int) -> bytes:
    """Canonical bytes of a :class:`Position`, without making one."""
    return b'{"committed_offset":"%d","epoch_id":"%b","shard":%d}' % (offset, epoch.encode(), shard)


@cache
def _receipt_expression() -> re.Pattern[bytes]:
    return re.compile(expression(Receipt, {name: name for name in ReceiptOutline._fields}).encode())
