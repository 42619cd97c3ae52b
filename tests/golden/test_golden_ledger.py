"""The golden ledger: written once, verified by every later version, and still what the same inputs give."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ledger_core.kernel.statements import FAMILIES, STATEMENT_TYPES, content_refs, decode_statement
from ledger_core.stores.verify import verify
from tests.golden.build import FILE, golden_lines, ledger_from, lines_of
from tests.ledger_core.stores.test_sqlite import open_ledger
from tests.ledger_core.story import SCOPE, open_memory, tell

HEAD = "914d49c3a161d97644d5b7781364d8798010ca2ea5e5253878f5f7c5e796dce3"
CONTROL_HEAD = "d6e92adafbba50c609f32e52508aeb92ff9cd0dc79db5ce4315dabd238683055"


def test_it_verifies_unchanged():
    report = verify(ledger_from(golden_lines()))
    assert report.first_divergence is None
    assert (report.head, report.control_head) == (HEAD, CONTROL_HEAD)
    assert (report.events, report.blobs, report.erased) == (30, 17, 0)


def test_it_holds_every_kind_of_statement():
    events = [json.loads(line) for line in golden_lines() if '"statement"' in line]
    assert {decode_statement(event["statement"].encode()).kind for event in events} == set(STATEMENT_TYPES)


@pytest.mark.invariant("REPLAY-01")
def test_the_same_inputs_still_give_the_same_ledger_to_the_byte():
    ledger = open_memory()
    tell(ledger)
    assert list(lines_of(ledger)) == golden_lines()


def test_a_ledger_on_disk_ends_with_the_same_heads(tmp_path):
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
        assert (ledger.head(), ledger.head("control")) == (HEAD, CONTROL_HEAD)


def test_its_statements_are_appended_again_under_the_same_ids_and_positions():
    golden, fresh = ledger_from(golden_lines()), open_memory()
    for family in FAMILIES:
        for event in golden.events(family):
            for ref in content_refs(event.statement):
                fresh.put_blob(golden.read_blob(ref), ref.media_type)
            (outcome,) = fresh.append((event.statement,), role="admin")
            assert (outcome.event_id, outcome.position) == (event.event_id, event.position)


def test_its_chain_by_hand():
    """The formulas of the design once more, on the committed text, with nothing but hashlib."""

    def frame(part: bytes) -> bytes:
        return len(part).to_bytes(8, "big") + part

    events = [json.loads(line) for line in golden_lines() if '"statement"' in line]
    genesis = events[0]["event_id"]
    scope = f'{{"project_namespace":"{SCOPE.project_namespace}","tenant_namespace":"{SCOPE.tenant_namespace}"}}'
    identity = f'{{"partition_seed":"{"0" * 64}","scope":{scope},"shard_count":1}}'
    epoch = hashlib.sha256(b"veritas-log-epoch-v1\x00" + identity.encode()).digest()
    for family, expected in (("control", CONTROL_HEAD), ("evidence", HEAD)):
        opening = (bytes.fromhex(genesis), epoch, family.encode(), bytes(2))
        chain = hashlib.sha256(b"veritas-genesis-chain-v1\x00" + b"".join(map(frame, opening))).digest()
        mine = [event for event in events if event["family"] == family]
        for offset, event in enumerate(mine, start=1):
            identity = hashlib.sha256(b"ostk-accepted-event-v1\x00" + event["statement"].encode())
            assert identity.hexdigest() == event["event_id"]
            position = f'{{"committed_offset":"{offset}","epoch_id":"{epoch.hex()}","shard":0}}'
            receipt = hashlib.sha256(b"veritas-append-receipt-v1\x00" + event["receipt"].encode()).digest()
            parts = (chain, position.encode(), identity.digest(), receipt)
            chain = hashlib.sha256(b"veritas-append-chain-v1\x00" + b"".join(map(frame, parts))).digest()
            assert chain.hex() == event["chain"]
        assert chain.hex() == expected


@pytest.mark.invariant("§2.6")
@pytest.mark.parametrize("line", range(1, 31, 7))
def test_a_changed_character_does_not_verify(line):
    lines = golden_lines()
    place = lines[line].index('"statement"') + 60
    digit = "1" if lines[line][place] != "1" else "2"
    lines[line] = lines[line][:place] + digit + lines[line][place + 1 :]
    assert verify(ledger_from(lines)).first_divergence is not None


def test_the_file_is_committed_text():
    assert Path(__file__).parent / "ledger-v1.jsonl" == FILE
    assert FILE.stat().st_size < 100_000
