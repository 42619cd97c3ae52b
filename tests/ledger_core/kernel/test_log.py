"""Positions, receipts and the chain: each formula once more, by hand."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel import log
from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.log import Position, Receipt
from ledger_core.kernel.statements import Scope

SCOPE = Scope.make(tenant_namespace="acme", project_namespace="p-1")
RECEIPT = {
    "channel": "embedded",
    "context_head": None,
    "delivery_id": None,
    "policy_head": "cd" * 32,
    "principal_id": "local",
    "received_at": "2026-01-01T00:00:00.000000000Z",
    "recorded_at": "2026-01-01T00:00:01.000000000Z",
    "role": "recorder",
}


def sha(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def frame(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big") + part


def test_the_epoch_is_the_digest_of_scope_shards_and_seed():
    canonical = (
        b'{"partition_seed":"' + b"0" * 64 + b'",'
        b'"scope":{"project_namespace":"p-1","tenant_namespace":"acme"},"shard_count":1}'
    )
    assert log.epoch_id(SCOPE) == sha(b"veritas-log-epoch-v1\x00", canonical)
    assert log.epoch_id(SCOPE, 2) != log.epoch_id(SCOPE)
    assert log.epoch_id(SCOPE, 1, "11" * 32) != log.epoch_id(SCOPE)


@given(st.integers(1, 10**16 - 1), st.integers(0, 65535))
def test_the_bytes_of_a_position_are_those_of_its_record(offset, shard):
    position = Position.make(committed_offset=str(offset), epoch_id="5a" * 32, shard=shard)
    assert log.position_bytes(offset, "5a" * 32, shard) == position.canonical_bytes()


@pytest.mark.parametrize(("family", "shard"), [("control", 0), ("evidence", 0), ("evidence", 258)])
def test_h0_binds_genesis_epoch_family_and_shard(family, shard):
    genesis, epoch = bytes(range(32)), bytes(range(32, 64))
    expected = sha(
        b"veritas-genesis-chain-v1\x00",
        frame(genesis),
        frame(epoch),
        frame(family.encode()),
        frame(shard.to_bytes(2, "big")),
    )
    assert log.genesis_chain(genesis.hex(), epoch.hex(), family, shard) == expected


def test_hn_binds_the_link_before_position_event_and_receipt():
    previous, event = bytes(32), b"\xaa" * 32
    receipt = Receipt.make(**RECEIPT).canonical_bytes()
    assert receipt == json.dumps(RECEIPT, separators=(",", ":")).encode()
    position = Position.make(committed_offset="12", epoch_id="ef" * 32, shard=0)
    encoded = b'{"committed_offset":"12","epoch_id":"' + b"ef" * 32 + b'","shard":0}'
    assert position.canonical_bytes() == encoded
    receipt_digest = hashlib.sha256(b"veritas-append-receipt-v1\x00" + receipt).digest()
    expected = sha(b"veritas-append-chain-v1\x00", frame(previous), frame(encoded), frame(event), frame(receipt_digest))
    assert log.append_chain(previous.hex(), position, event.hex(), receipt) == expected


@pytest.mark.parametrize("offset", ["0", "01", "-1", "1.0", "", " 1", "1\n", 1, "10000000000000000"])
def test_an_offset_is_a_decimal_string_from_one(offset):
    with pytest.raises(StatementError, match="committed_offset"):
        Position.make(committed_offset=offset, epoch_id="ef" * 32, shard=0)


@pytest.mark.parametrize("shard", [-1, 65_536, "0", 0.0, True])
def test_a_shard_is_an_unsigned_16_bit_number(shard):
    with pytest.raises(StatementError, match="shard"):
        Position.make(committed_offset="1", epoch_id="ef" * 32, shard=shard)


@pytest.mark.parametrize(
    "change",
    [
        {"channel": "http"},
        {"role": "root"},
        {"principal_id": "Local"},
        {"received_at": "2026-01-01T00:00:00Z"},
        {"recorded_at": "2026-01-01T00:00:60.000000000Z"},
        {"policy_head": "none"},
        {"delivery_id": ""},
        {"context_head": 1},
        {"tier": "sealed"},
    ],
)
def test_a_receipt_is_a_closed_record(change):
    with pytest.raises(StatementError, match=next(iter(change))):
        Receipt.make(**(RECEIPT | change))


def test_a_receipt_decodes_from_its_canonical_bytes_only():
    encoded = Receipt.make(**RECEIPT).canonical_bytes()
    assert Receipt.decode(encoded).canonical_bytes() == encoded
    for other in (encoded + b" ", encoded.replace(b"{", b"{ ", 1), encoded.replace(b'"role"', b'"\\u0072ole"')):
        with pytest.raises(StatementError):
            Receipt.decode(other)


@given(st.integers(1, 10**15), st.integers(0, 65_535), st.binary(min_size=32, max_size=32), st.binary(max_size=40))
def test_every_part_of_a_link_matters(offset, shard, event, receipt):
    def link(offset: int, shard: int, event: bytes, receipt: bytes, previous: str = "00" * 32) -> str:
        position = Position.make(committed_offset=str(offset), epoch_id="ef" * 32, shard=shard)
        return log.append_chain(previous, position, event.hex(), receipt)

    here = link(offset, shard, event, receipt)
    assert here != link(offset + 1, shard, event, receipt)
    assert here != link(offset, (shard + 1) % 65_536, event, receipt)
    assert here != link(offset, shard, bytes(31) + bytes([event[0] ^ 1]), receipt)
    assert here != link(offset, shard, event, receipt + b"x")
    assert here != link(offset, shard, event, receipt, "01" * 32)


def test_an_unchecked_position_is_a_position_in_everything_but_the_check():
    unchecked = Position.unchecked("7", "ab" * 32, 3)
    checked = Position.make(committed_offset="7", epoch_id="ab" * 32, shard=3)
    assert unchecked == checked
    assert hash(unchecked) == hash(checked)
    assert unchecked.canonical_bytes() == checked.canonical_bytes()
    assert unchecked.model_copy(update={"shard": 4}) == Position.make(committed_offset="7", epoch_id="ab" * 32, shard=4)
    assert unchecked.model_fields_set == checked.model_fields_set
    assert Position.unchecked("-1", "no digest", -1).committed_offset == "-1"


FILED = {
    "channel": "service",
    "context_head": None,
    "delivery_id": "d-1",
    "policy_head": "cd" * 32,
    "principal_id": "local",
    "received_at": "2026-03-01T12:00:00.000001000Z",
    "recorded_at": "2026-03-01T12:00:01.000000000Z",
    "role": "evaluator",
}


def test_a_receipt_is_read_off_its_bytes_as_it_is_decoded():
    for changes in ({}, {"context_head": "ef" * 32, "delivery_id": None}, {"policy_head": None, "channel": "import"}):
        receipt = Receipt.make(**FILED | changes)
        found = log.receipt_outline(receipt.canonical_bytes())
        assert found == (receipt.received_at, receipt.recorded_at, receipt.policy_head)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"service"', b'"post"'),
        (b'"local"', b'"Local"'),
        (b"cd" * 32, b"CD" * 32),
        (b"12:00:00.000001000Z", b"12:00:00.000001001Z"),
        (b"2026-03-01T12:00:01", b"2026-02-30T12:00:01"),
        (b'"role"', b' "role"'),
        (b'"d-1"', b'""'),
        (b'"evaluator"}', b'"evaluator","x":1}'),
        (b'"evaluator"}', b'"evaluator"} '),
    ],
)
def test_what_is_no_receipt_has_no_outline(old, new):
    encoded = Receipt.make(**FILED).canonical_bytes()
    changed = encoded.replace(old, new)
    assert changed != encoded
    assert log.receipt_outline(changed) is None
    with pytest.raises(StatementError):
        Receipt.decode(changed)


def test_a_receipt_of_29_february_or_a_foreign_alphabet_is_left_to_decoding():
    for changes in ({"received_at": "2024-02-29T00:00:00.000000000Z"}, {"delivery_id": "é"}):
        encoded = Receipt.make(**FILED | changes).canonical_bytes()
        assert log.receipt_outline(encoded) is None
        assert Receipt.decode(encoded)
