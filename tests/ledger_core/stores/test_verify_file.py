"""Verification of what lies on the disk: tampered columns, rows, bytes and content."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.kernel.errors import LedgerError, StoreError, VerificationError
from ledger_core.kernel.statements import FAMILIES, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import BlobErased, BlobErasedBody
from ledger_core.stores.verify import VerificationReport, verify
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger
from tests.ledger_core.stores.test_verify import found, logs_of
from tests.ledger_core.story import SCOPE, Story


def tampered(home: Path, sql: str, *values: object) -> VerificationReport:
    connection = sqlite3.connect(file_of(home))
    connection.execute("PRAGMA ignore_check_constraints=1")
    assert connection.execute(sql, values).rowcount > 0
    connection.commit()
    connection.close()
    with open_ledger(home) as ledger:
        return verify(ledger)


@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [
        ("event_id", "ab" * 32, "event-id"),
        ("epoch_id", "ab" * 32, "position"),
        ("shard", 1, "position"),
        ("chain", "ab" * 32, "chain"),
        ("statement", b"{}", "statement"),
        ("receipt", b"{}", "receipt"),
        ("kind", "entry.given", "index"),
        ("source_fact_id", "ab" * 32, "index"),
        ("family", "control", "offset"),
        ("committed_offset", 99, "offset"),
    ],
)
def test_a_changed_column_is_found_at_its_row(home, column, value, kind):
    condition = "family = 'evidence' AND committed_offset = 7"
    report = tampered(home, f"UPDATE events SET {column} = ? WHERE {condition}", value)
    expected = ("offset", "control", 6) if column == "family" else (kind, "evidence", 7)
    assert found(report) == expected


def test_an_index_that_leads_nowhere_is_found_at_the_event_that_it_misses(home):
    """Rows are compared as they are read; that an index leads to them, SQLite's own check says."""
    with open_ledger(home) as ledger:
        events = list(ledger.events())
        said = b"".join(event.encoded for event in events)
        alone = next(event for event in events if event.event_id.encode() not in said)  # nothing asks for it by its id
        event_id = alone.event_id.encode()
    raw = bytearray(file_of(home).read_bytes())
    places = [place.start() for place in re.finditer(event_id, raw)]
    leaves_of_indexes = [place for place in places if raw[place // 4096 * 4096] == 0x0A]
    assert leaves_of_indexes
    for place in leaves_of_indexes:
        raw[place + 63] ^= 1
    file_of(home).write_bytes(raw)
    with open_ledger(home) as ledger:
        report = verify(ledger)
    assert found(report) == ("index", "evidence", alone.offset)
    assert "the index says None" in report.first_divergence.detail


def test_a_deleted_row_is_found(home):
    assert found(tampered(home, "DELETE FROM events WHERE committed_offset = 5 AND family = 'evidence'")) == (
        "offset",
        "evidence",
        5,
    )


def test_a_log_whose_end_was_cut_off_is_found_at_the_first_missing_event(home):
    report = tampered(home, "DELETE FROM events WHERE committed_offset > 20 AND family = 'evidence'")
    assert found(report) == ("head", "evidence", 21)


@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [("chain", "ab" * 32, "head"), ("committed_offset", 3, "head"), ("recorded_at", "2027", "index")],
)
def test_a_changed_head_is_found(home, column, value, kind):
    report = tampered(home, f"UPDATE heads SET {column} = ? WHERE family = 'evidence'", value)
    assert found(report)[:2] == (kind, "evidence")


@pytest.mark.parametrize("table", ["events", "heads"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_ledger_that_lost_a_table_is_judged_and_never_begun_again(home, table, family):
    report = tampered(home, f"DELETE FROM {table} WHERE family = ?", family)
    assert report.first_divergence is not None
    with open_ledger(home) as ledger:
        ids = [event.event_id for event in ledger.events("control")]
        assert len(ids) == (0 if (table, family) == ("events", "control") else 5)


def blob_of(home: Path, story: Story, name: str) -> Path:
    digest = story.named[name].body.content.digest
    return file_of(home).parent / "blobs" / digest[:2] / digest


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lambda path: path.unlink(), "blob-missing"),
        (lambda path: path.write_bytes(b"rewritten"), "blob-corrupt"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "blob-corrupt"),
        (lambda path: path.write_bytes(b""), "blob-corrupt"),
    ],
    ids=["missing", "rewritten", "cut short", "emptied"],
)
def test_a_damaged_blob_is_found_at_the_event_that_cites_it(home, damage, kind):
    with open_ledger(home) as ledger:
        damage(blob_of(home, Story(), "user"))
        assert found(verify(ledger)) == (kind, "evidence", 2)


@pytest.mark.invariant("EVID-08")
def test_an_erasure_is_told_from_a_loss(home):
    content = Story().named["user"].body.content
    with open_ledger(home) as ledger:
        ledger.blobs.erase(content.digest)
        assert found(verify(ledger)) == ("blob-erased", "evidence", 2)
        order = BlobErasedBody.make(authority="tests.operator", content_digest=content.digest, reason="privacy")
        fact = facts.message_fact("tests.verify", "erasure", 1)
        ledger.append((Author(SCOPE, "tests.verify", "1").write(BlobErased, fact, order),), role="operator")
        report = verify(ledger)
        assert (report.first_divergence, report.erased) == (None, 1)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_any_damaged_byte_of_the_file_is_reported_or_harmless(pristine, tmp_path, place, mask):
    home = tmp_path / "damaged"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    raw = bytearray(file_of(home).read_bytes())
    raw[int(place * len(raw))] ^= mask
    file_of(home).write_bytes(raw)
    assert_reported_or_harmless(pristine, home)


def assert_reported_or_harmless(pristine: Path, home: Path) -> None:
    try:
        ledger = open_ledger(home)
    except LedgerError:
        return
    with ledger, open_ledger(pristine) as original:
        if verify(ledger).first_divergence is None:
            assert logs_of(ledger) == logs_of(original)


@pytest.mark.parametrize("pages", [1, 3, 7, 12])
def test_a_file_that_was_cut_short_is_reported(home, pages):
    raw = file_of(home).read_bytes()
    assert len(raw) > pages * 4096
    file_of(home).write_bytes(raw[: pages * 4096 - 100])
    try:
        ledger = open_ledger(home)
    except StoreError:
        return
    with ledger:
        assert verify(ledger).first_divergence is not None


def test_a_report_that_is_required_names_the_first_divergence(home):
    with open_ledger(home) as ledger:
        blob_of(home, Story(), "user").unlink()
        with pytest.raises(VerificationError, match="blob-missing at evidence event 2: content"):
            verify(ledger).require()
