"""The SQLite store: what the contract cannot see, namely files, versions, locks and other processes."""

from __future__ import annotations

import fcntl
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME, STRICT_CLUSTERS, STRICT_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import (
    AppendError,
    LedgerBusyError,
    LedgerVersionError,
    StatementError,
    StorageFullError,
    StoreError,
)
from ledger_core.kernel.statements import Lineage, facts
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import EntryGiven, EntryGivenBody
from ledger_core.stores import Ledger
from ledger_core.stores.rows import stored
from ledger_core.stores.verify import verify
from tests.ledger_core.story import NOW, SCOPE, open_memory, tell


def open_ledger(home: Path, *, now: str = NOW, wait_seconds: float = 5.0) -> Ledger:
    return Ledger.open(
        home,
        SCOPE,
        now=now,
        policy=SEED_V4_CLUSTERS,
        policy_name=SEED_V4_CLUSTERS_NAME,
        wait_seconds=wait_seconds,
    )


def note(ledger: Ledger, step: int, text: str = "text", version: str = "1", lineage: Lineage | None = None):
    body = EntryGivenBody.make(content=ledger.put_blob(text.encode(), TEXT), role="user")
    changes = {} if lineage is None else {"lineage": lineage}
    fact = facts.message_fact("tests.sqlite", "r", step)
    return Author(SCOPE, "tests.sqlite", version).write(EntryGiven, fact, body, **changes)


def file_of(home: Path) -> Path:
    return home / "ledgers" / "tests" / "story" / "ledger.sqlite3"


def test_one_file_a_scope_in_write_ahead_mode(tmp_path):
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
        connection = ledger.store._connection
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)
    folder = file_of(tmp_path).parent
    assert sorted(path.name for path in folder.iterdir()) == ["blobs", "ledger.lock", "ledger.sqlite3"]


def test_a_ledger_opened_again_continues_where_it_was(tmp_path):
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
        heads = (ledger.head(), ledger.head("control"))
    with open_ledger(tmp_path, now="2020-01-01T00:00:00.000000000Z") as ledger:
        assert (ledger.head(), ledger.head("control")) == heads
        count = ledger.count()
        ledger.append((note(ledger, 1),), role="recorder")
        *_, last = ledger.events()
        assert last.offset == count + 1
        assert last.receipt.recorded_at == NOW
        assert verify(ledger).first_divergence is None


def test_equal_inputs_give_equal_heads_in_memory_and_on_disk(tmp_path):
    memory = open_memory()
    tell(memory)
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
        assert ledger.head() == memory.head()
        assert ledger.head("control") == memory.head("control")


def test_an_existing_ledger_keeps_its_policy(tmp_path):
    open_ledger(tmp_path).close()
    strict = {"policy": STRICT_CLUSTERS, "policy_name": STRICT_CLUSTERS_NAME}
    with Ledger.open(tmp_path, SCOPE, now=NOW, **strict) as ledger:
        assert ledger.policy() == SEED_V4_CLUSTERS
        assert ledger.count("control") == 2


def test_another_format_is_refused_with_both_versions(tmp_path):
    open_ledger(tmp_path).close()
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("PRAGMA user_version=7")
    connection.close()
    with pytest.raises(LedgerVersionError, match="has ledger format 7, this program reads formats up to 1"):
        open_ledger(tmp_path)


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    file_of(tmp_path).parent.mkdir(parents=True)
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("CREATE TABLE mine (a)")
    connection.commit()
    connection.close()
    before = file_of(tmp_path).read_bytes()
    with pytest.raises(LedgerVersionError, match="not a ledger"):
        open_ledger(tmp_path)
    assert file_of(tmp_path).read_bytes() == before


@pytest.mark.parametrize("garbage", [b"not a database, just some bytes" * 40, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_file_that_is_no_database_is_a_store_error(tmp_path, garbage):
    file_of(tmp_path).parent.mkdir(parents=True)
    file_of(tmp_path).write_bytes(garbage)
    with pytest.raises(StoreError, match=r"ledger\.sqlite3"):
        open_ledger(tmp_path)


@pytest.mark.parametrize("row", [(None,) * 8, (1,) * 8, ("x",) * 8, (b"\xff",) * 8])
def test_a_damaged_row_is_read_as_an_event_that_cannot_verify(row):
    event = stored(row)
    with pytest.raises(StatementError):
        assert event.statement
    with pytest.raises(StatementError):
        assert event.receipt
    assert event.offset in {-1, 1}


def test_a_home_that_is_a_file_is_named(tmp_path):
    home = tmp_path / "home"
    home.write_text("not a folder")
    with pytest.raises(StorageFullError, match=r"cannot write .*home.*choose a writable place"):
        open_ledger(home)


def test_a_creation_that_was_cut_short_starts_again(tmp_path):
    file_of(tmp_path).parent.mkdir(parents=True)
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    with open_ledger(tmp_path) as ledger:
        assert ledger.count("control") == 2


def test_a_writer_waits_and_then_says_who_holds_it(tmp_path):
    with open_ledger(tmp_path, wait_seconds=0.2) as ledger:
        entry = note(ledger, 1)
        lock = file_of(tmp_path).with_name("ledger.lock")
        with lock.open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(LedgerBusyError, match=r"ledger\.lock for more than 0\.2 s"):
                ledger.append((entry,), role="recorder")
            assert ledger.count() == 0  # reading needs no lock
        assert ledger.append((entry,), role="recorder")[0].position.committed_offset == "1"


def test_a_writer_that_waits_long_enough_gets_its_turn(tmp_path):
    with open_ledger(tmp_path, wait_seconds=5.0) as ledger:
        entry = note(ledger, 1)
        held = file_of(tmp_path).with_name("ledger.lock").open("r+")
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(0.2, held.close).start()
        assert ledger.append((entry,), role="recorder")[0].position.committed_offset == "1"


def test_two_ledgers_on_one_file_see_each_others_events(tmp_path):
    with open_ledger(tmp_path) as left, open_ledger(tmp_path) as right:
        left.append((note(left, 1),), role="recorder")
        right.append((note(right, 2),), role="recorder")
        left.append((note(left, 3),), role="recorder")
        assert left.head() == right.head()
        assert [event.offset for event in right.events()] == [1, 2, 3]
        assert verify(left).first_divergence is None


def test_threads_of_one_process_share_a_ledger(tmp_path):
    with open_ledger(tmp_path) as ledger:
        entries = [note(ledger, step) for step in range(24)]

        def write(part: int) -> None:
            for entry in entries[part::4]:
                ledger.append((entry,), role="recorder")

        threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {event.event_id for event in ledger.events()} == {entry.event_id for entry in entries}
        assert verify(ledger).first_divergence is None


def test_a_long_write_ahead_log_is_folded_back_under_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr("ledger_core.stores.sqlite._CHECKPOINT_PAGES", 4)
    with open_ledger(tmp_path) as ledger:
        for step in range(12):
            ledger.append((note(ledger, step),), role="recorder")
        wal = file_of(tmp_path).with_name("ledger.sqlite3-wal")
        assert wal.stat().st_size <= 5 * 4096 + 2048
        assert verify(ledger).first_divergence is None


def test_an_unused_ledger_that_is_forgotten_is_closed_under_the_lock(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.append((note(ledger, 1),), role="recorder")
    del ledger
    with open_ledger(tmp_path) as again:
        assert again.count() == 1


def test_closing_while_another_writes_does_not_fail(tmp_path):
    with open_ledger(tmp_path) as other:
        ledger = open_ledger(tmp_path, wait_seconds=0.1)
        ledger.append((note(ledger, 1),), role="recorder")
        with other.store._lock.held():
            ledger.close()
        assert other.count() == 1
        assert verify(other).first_divergence is None


def test_closing_twice_is_harmless(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.close()
    ledger.close()
    with open_ledger(tmp_path) as again:
        assert verify(again).first_divergence is None


AS_NOBODY = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.ledger_core.stores.unprivileged import act, warm_up
warm_up()
if os.getuid() == 0:  # after the imports: the interpreter's own files may be private to root
    os.setgid(65534); os.setuid(65534)
act(Path(sys.argv[2]), sys.argv[3])
"""


def as_nobody(home: Path, act: str) -> str:
    """Run one act of :mod:`.unprivileged` without root's power to ignore permissions; its output."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(root), str(home), act], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def open_home():
    """A home that any user may enter; pytest's own folders are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def seal_off(home: Path, mode_of_folders: int, mode_of_files: int) -> None:
    for path in [home, *home.rglob("*")]:
        path.chmod(mode_of_folders if path.is_dir() else mode_of_files)


def test_a_read_only_home_is_named(open_home):
    open_home.chmod(0o555)
    output = as_nobody(open_home, "open")
    assert output.startswith("StorageFullError: cannot write")
    assert str(open_home) in output
    assert "choose a writable place" in output


def test_a_read_only_ledger_can_be_read_and_not_written(open_home):
    with open_ledger(open_home) as ledger:
        tell(ledger)
        head = ledger.head()
    seal_off(open_home, 0o555, 0o444)
    assert as_nobody(open_home, "read") == f"{head} None\n"
    assert not list(file_of(open_home).parent.glob("ledger.sqlite3-*"))
    assert as_nobody(open_home, "append").startswith("StorageFullError: cannot write")


def test_a_full_disk_is_named_and_leaves_nothing_half_written(open_home):
    with open_ledger(open_home) as ledger:
        tell(ledger)
        head = ledger.head()
    seal_off(open_home, 0o777, 0o666)
    output = as_nobody(open_home, "fill")
    error, acknowledged = output.splitlines()
    assert error.startswith("StorageFullError: cannot write")
    with open_ledger(open_home) as ledger:
        report = verify(ledger)
        assert report.first_divergence is None
        assert ledger.count() >= int(acknowledged)
        assert [event.chain for event in ledger.events()].count(head) == 1
        ledger.append((note(ledger, 10**6),), role="recorder")
        assert verify(ledger).first_divergence is None


def test_a_full_disk_for_blobs_is_named(open_home):
    open_ledger(open_home).close()
    seal_off(open_home, 0o777, 0o666)
    assert as_nobody(open_home, "fill-blobs").startswith("StorageFullError: cannot write")
    with open_ledger(open_home) as ledger:
        assert verify(ledger).first_divergence is None
        assert [path for path in file_of(open_home).parent.rglob("*") if path.parent.name == "tmp"] == []


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from("ab"), st.sampled_from("12"), st.booleans()),
        max_size=20,
    )
)
def test_any_sequence_of_appends_ends_as_in_memory(moves):
    """Replays, collisions and successions at random: the same outcomes and the same head as the model."""
    with tempfile.TemporaryDirectory() as home, open_ledger(Path(home)) as ledger:
        model = open_memory()
        current: dict[int, str] = {}
        for step, text, version, supersede in moves:
            lineage = None
            if supersede and step in current:
                lineage = Lineage.make(event_id=current[step], relation="supersedes")
            outcomes = []
            for place in (model, ledger):
                statement = note(place, step, text, version, lineage)
                try:
                    outcomes.append(place.append((statement,), role="recorder"))
                except AppendError as error:
                    outcomes.append((type(error), str(error)))
            assert outcomes[0] == outcomes[1]
            if isinstance(outcomes[0][0], type):
                continue
            current[step] = list(model.events())[-1].event_id if lineage or step not in current else current[step]
        assert ledger.head() == model.head()
        assert ledger.store.collisions() == model.store.collisions()
        assert verify(ledger).first_divergence is None


def test_no_checkpoint_happens_outside_the_lock(tmp_path):
    """A second connection keeps the log alive: after a plain append the main file has not grown."""
    with open_ledger(tmp_path) as ledger, open_ledger(tmp_path):
        size = file_of(tmp_path).stat().st_size
        ledger.append([note(ledger, step) for step in range(200)], role="recorder")
        assert file_of(tmp_path).stat().st_size == size
    assert file_of(tmp_path).stat().st_size > size
