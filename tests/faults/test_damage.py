"""Damage to what is on disk: every cut of the last record leaves a prefix, every flip is found where it was made."""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.stores.divergence import DivergenceKind
from ledger_core.stores.verify import verify
from tests.faults import scenarios
from tests.faults.steps import in_child
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger

EARLIER = 3


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home whose last event lies in the write-ahead log alone, and the ids of its events."""
    home = tmp_path_factory.mktemp("killed") / "home"
    with open_ledger(home) as ledger:
        for step in range(EARLIER):
            scenarios.write(ledger, step)

    def act(acknowledge) -> None:
        ledger = open_ledger(home)
        scenarios.write(ledger, EARLIER)
        for event in ledger.events():
            acknowledge(event.event_id)
        os.kill(os.getpid(), signal.SIGKILL)

    _, events = in_child(act)
    assert len(events) == EARLIER + 1
    return home, events


def log_of(home: Path) -> Path:
    return file_of(home).with_name("ledger.sqlite3-wal")


def record_in(data: bytes, home: Path, event_id: str) -> range:
    """Where the statement of ``event_id`` lies in ``data``."""
    with open_ledger(home) as ledger:
        encoded = ledger.event(event_id).encoded
    start = data.index(encoded)
    return range(start, start + len(encoded))


def copied(home: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(home, target)
    return target


@pytest.mark.invariant("§2.6", "EVID-01")
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 61])
def test_a_log_cut_at_any_byte_of_the_last_record_leaves_what_came_before(killed, tmp_path, step):
    home, events = killed
    data = log_of(home).read_bytes()
    place = record_in(data, copied(home, tmp_path / "look"), events[-1])
    assert len(place) > 700
    for cut in range(place.start, place.stop + 1, step):
        found = copied(home, tmp_path / "cut")
        with log_of(found).open("r+b") as file:
            file.truncate(cut)
        with open_ledger(found) as ledger:
            assert [event.event_id for event in ledger.events()] == events[:-1]
            assert verify(ledger).first_divergence is None
    with open_ledger(found) as ledger:
        assert scenarios.write(ledger, EARLIER) == events[-1]
        assert verify(ledger).first_divergence is None


@pytest.mark.invariant("§2.6")
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 41])
def test_a_flipped_bit_of_a_stored_record_is_found_at_its_event(killed, tmp_path, step):
    home, events = killed
    settled = copied(home, tmp_path / "settled")
    open_ledger(settled).close()
    data = file_of(settled).read_bytes()
    place = record_in(data, copied(settled, tmp_path / "look"), events[1])
    chance = random.Random(5)
    found = copied(settled, tmp_path / "flipped")
    for at in range(place.start, place.stop, step):
        with file_of(found).open("r+b") as file:
            file.seek(at)
            file.write(bytes([data[at] ^ (1 << chance.randrange(8))]))
        with open_ledger(found) as ledger:
            divergence = verify(ledger).first_divergence
            assert divergence is not None
            assert (divergence.family, divergence.offset) == ("evidence", 2)
            # What came before is read as ever: the damage is in one place.
            assert next(ledger.events()).event_id == events[0]
        file_of(found).write_bytes(data)


@pytest.mark.invariant("§2.6", "EVID-02")
def test_every_flipped_bit_of_a_blob_is_found_at_the_event_that_cites_it(killed, tmp_path):
    home, _ = killed
    found = copied(home, tmp_path / "blob")
    ref = content_ref(b"text 2", TEXT)
    (path,) = (file for file in found.rglob(ref.digest) if file.is_file())
    good = path.read_bytes()
    with open_ledger(found) as ledger:
        for bit in range(8 * len(good)):
            damaged = bytearray(good)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(bytes(damaged))
            divergence = verify(ledger).first_divergence
            assert divergence is not None
            assert (divergence.kind, divergence.offset) == (DivergenceKind.BLOB_CORRUPT, 3)
        path.write_bytes(good)
        assert verify(ledger).first_divergence is None


@pytest.mark.invariant("EVID-03")
def test_a_clock_that_went_back_between_two_processes_does_not_take_the_log_back(tmp_path):
    late, early = "2026-03-01T12:00:00.000000000Z", "2020-01-01T00:00:00.000000000Z"
    for step, now in enumerate((late, early, late)):
        with open_ledger(tmp_path, now=now) as ledger:
            scenarios.write(ledger, step)
    with open_ledger(tmp_path) as ledger:
        receipts = [event.receipt for event in ledger.events()]
        assert [receipt.received_at for receipt in receipts] == [late, early, late]
        assert [receipt.recorded_at for receipt in receipts] == [late, late, late]
        assert verify(ledger).first_divergence is None
