"""The PostgreSQL store: what the contract cannot see, namely servers that go away, locks, versions and other scopes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.errors import (
    LedgerBusyError,
    LedgerVersionError,
    OutcomeUnknownError,
    StorageFullError,
    StoreError,
    StoreUnreachableError,
)
from ledger_core.kernel.statements import Scope
from ledger_core.stores import Fresh, Ledger, Place, Replayed, formats, list_scopes
from ledger_core.stores.archive import export, restore
from ledger_core.stores.postgres_link import Link
from ledger_core.stores.postgres_transaction import Transaction
from ledger_core.stores.verify import verify
from tests.ledger_core.stores.test_sqlite import note
from tests.ledger_core.story import NOW, SCOPE, open_memory, tell
from tests.next_format import next_format
from tests.postgres import Server, emptied

OTHER = Scope.make(tenant_namespace="tests", project_namespace="other")


@pytest.fixture
def address(postgres: Server) -> str:
    return emptied(postgres, "store")


def open_ledger(home: Path, address: str, scope: Scope = SCOPE, wait_seconds: float = 5.0) -> Ledger:
    return Ledger.open(
        Place(home, address),
        scope,
        now=NOW,
        policy=SEED_V4_CLUSTERS,
        policy_name=SEED_V4_CLUSTERS_NAME,
        wait_seconds=wait_seconds,
    )


def test_a_whole_story_verifies_and_ends_with_the_heads_of_every_other_store(tmp_path, address):
    memory = open_memory()
    tell(memory)
    with open_ledger(tmp_path, address) as ledger:
        tell(ledger)
        assert verify(ledger).first_divergence is None
        assert (ledger.head(), ledger.head("control")) == (memory.head(), memory.head("control"))
    with open_ledger(tmp_path, address) as ledger:
        assert ledger.head() == memory.head()
    assert list_scopes(Place(tmp_path, address)) == (SCOPE,)


def test_scopes_of_one_database_know_nothing_of_each_other(tmp_path, address):
    with open_ledger(tmp_path, address) as ledger, open_ledger(tmp_path, address, OTHER) as other:
        tell(ledger)
        assert (other.count(), other.count("control")) == (0, 2)
        shared = next(event for event in ledger.events())
        assert other.store.event(shared.event_id) is None
        assert verify(other).first_divergence is None
        assert verify(ledger).first_divergence is None
    assert list_scopes(Place(tmp_path, address)) == (OTHER, SCOPE)
    assert Ledger.exists(Place(tmp_path, address), OTHER)
    assert not Ledger.exists(Place(tmp_path), OTHER)


def test_a_scope_waits_for_its_own_writers_only(tmp_path, address):
    with (
        open_ledger(tmp_path, address, wait_seconds=0.3) as ledger,
        open_ledger(tmp_path, address, OTHER) as other,
        psycopg.connect(address) as holder,
    ):
        holder.execute("SELECT FROM ledgers WHERE project = 'story' FOR UPDATE")
        with pytest.raises(LedgerBusyError, match=r"another writer holds this ledger .* for more than 0\.3 s"):
            ledger.append((note(ledger, 1),), role="recorder")
        holder.rollback()
        assert isinstance(ledger.append((note(ledger, 1),), role="recorder")[0], Fresh)
        assert other.count("control") == 2


def test_a_killed_backend_is_a_moment_and_no_more(tmp_path, address, postgres):
    with open_ledger(tmp_path, address, wait_seconds=20) as ledger:
        ledger.append((note(ledger, 1),), role="recorder")
        postgres.kill_backends("store")
        assert isinstance(ledger.append((note(ledger, 2),), role="recorder")[0], Fresh)
        postgres.kill_backends("store")
        assert ledger.count() == 2
        assert verify(ledger).first_divergence is None


@pytest.mark.parametrize("reached", [True, False], ids=["after the commit", "before the commit"])
def test_an_append_whose_connection_breaks_is_answered_by_what_the_log_says(tmp_path, address, monkeypatch, reached):
    """The answer is `Fresh` either way, and the event is there once."""
    real, broken = Transaction.write, []

    def write(self: Transaction, *, commit: bool) -> None:
        if not broken:
            if reached:
                real(self, commit=commit)
            broken.append(self._connection.close())
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        real(self, commit=commit)

    with open_ledger(tmp_path, address) as ledger:
        entry = note(ledger, 1)
        monkeypatch.setattr(Transaction, "write", write)
        (outcome,) = ledger.append((entry,), role="recorder")
        assert isinstance(outcome, Fresh)
        assert broken == [None]
        assert [event.event_id for event in ledger.events()] == [entry.event_id]
        assert isinstance(ledger.append((entry,), role="recorder")[0], Replayed)
        assert verify(ledger).first_divergence is None


def test_an_outcome_that_nobody_can_tell_is_called_unknown(tmp_path, address, monkeypatch):
    def write(self: Transaction, *, commit: bool) -> None:
        assert commit
        self._connection.close()
        monkeypatch.setattr(Link, "_connect", refuse)
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    def refuse(_: Link) -> None:
        raise psycopg.OperationalError("connection refused")

    with open_ledger(tmp_path, address, wait_seconds=0.1) as ledger:
        entry = note(ledger, 1)
        with monkeypatch.context() as patch:
            patch.setattr(Transaction, "write", write)
            with pytest.raises(OutcomeUnknownError, match="append the same statements again, which tells"):
                ledger.append((entry,), role="recorder")
        with pytest.raises(StoreUnreachableError, match="does not answer: connection refused") as caught:
            ledger.append((entry,), role="recorder")
        assert not isinstance(caught.value, OutcomeUnknownError)
        monkeypatch.undo()
        assert isinstance(ledger.append((entry,), role="recorder")[0], Fresh)


def test_an_address_that_leads_nowhere_is_refused_without_its_password(tmp_path):
    with pytest.raises(StoreUnreachableError, match="does not answer") as caught:
        open_ledger(tmp_path, "postgresql://alice:hunter2@127.0.0.1:9/nowhere", wait_seconds=0.1)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(StoreError, match="no PostgreSQL address"):
        open_ledger(tmp_path, "postgresql://alice@host/base?nonsense=1")
    with pytest.raises(StoreError, match="no PostgreSQL address; write postgresql://user@host/database"):
        open_ledger(tmp_path, "mysql://host/base")


def test_what_may_not_be_written_says_so(tmp_path, address):
    open_ledger(tmp_path, address).close()
    with open_ledger(tmp_path, f"{address}&options=-cdefault_transaction_read_only%3Don") as ledger:
        assert ledger.count("control") == 2
        with pytest.raises(StorageFullError, match="read-only transaction; free space, or grant"):
            ledger.append((note(ledger, 1),), role="recorder")


def test_a_stricter_default_of_the_database_forks_nothing(tmp_path, address):
    strict = f"{address}&options=-cdefault_transaction_isolation%3Dserializable"
    with open_ledger(tmp_path, strict) as ledger, open_ledger(tmp_path, strict) as rival:
        for step in range(4):
            (ledger, rival)[step % 2].append((note(ledger, step),), role="recorder")
        assert verify(ledger).first_divergence is None
        assert ledger.count() == 4


def test_tables_of_another_version_are_refused_with_both_versions(tmp_path, postgres):
    address = postgres.create("newer")
    open_ledger(tmp_path, address).close()
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE ledger_version SET version_num = '0007'")
    for act in (lambda: open_ledger(tmp_path, address), lambda: list_scopes(Place(tmp_path, address))):
        with pytest.raises(LedgerVersionError, match="has ledger format 7, this program reads formats up to 1"):
            act()
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE ledger_version SET version_num = 'a1b2c3'")
    with pytest.raises(LedgerVersionError, match="'a1b2c3', which is another program's"):
        open_ledger(tmp_path, address)


def test_older_tables_are_brought_up_to_date_with_what_they_hold(tmp_path, postgres):
    address = postgres.create("older")
    with open_ledger(tmp_path, address) as ledger:
        tell(ledger)
        head = ledger.head()
    with next_format(tmp_path / "migrations"):
        with open_ledger(tmp_path, address) as ledger:
            assert ledger.head() == head
            assert verify(ledger).first_divergence is None
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT version_num FROM ledger_version").fetchall() == [("0002",)]
            assert connection.execute("SELECT DISTINCT remark FROM events").fetchall() == [("none",)]
    assert formats.FORMAT_VERSION == 1
    with pytest.raises(LedgerVersionError, match="has ledger format 2, this program reads formats up to 1"):
        open_ledger(tmp_path, address)


def test_an_empty_database_is_looked_at_without_being_changed(tmp_path, postgres):
    address = postgres.create("empty")
    assert list_scopes(Place(tmp_path, address)) == ()
    with psycopg.connect(address) as connection:
        query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(query).fetchone() == (0,)


def test_many_that_begin_at_once_begin_one_ledger(tmp_path, postgres):
    address = postgres.create("race")

    def begin(_: int) -> str:
        with open_ledger(tmp_path, address) as ledger:
            return ledger.head("control")

    with ThreadPoolExecutor(6) as pool:
        heads = list(pool.map(begin, range(6)))
    assert len(heads) == 6
    assert len(set(heads)) == 1


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("UPDATE events SET statement = '\\x7b7d' WHERE family = 'evidence' AND committed_offset = 3", "statement"),
        ("DELETE FROM events WHERE family = 'evidence' AND committed_offset = 3", "offset"),
        ("UPDATE events SET chain = repeat('0', 64) WHERE family = 'evidence' AND committed_offset = 3", "chain"),
        ("UPDATE events SET kind = 'entry.given' WHERE family = 'evidence' AND committed_offset = 3", "index"),
        ("UPDATE heads SET committed_offset = 99 WHERE family = 'evidence'", "head"),
    ],
)
def test_what_was_changed_behind_its_back_is_found(tmp_path, address, change, kind):
    with open_ledger(tmp_path, address) as ledger:
        tell(ledger)
        with psycopg.connect(address) as connection:
            connection.execute(change)
        found = verify(ledger).first_divergence
        assert (found.kind, found.family) == (kind, "evidence")


def test_a_ledger_moves_between_databases_by_its_export(tmp_path, address, postgres):
    with open_ledger(tmp_path / "here", address) as ledger:
        tell(ledger)
        head = ledger.head()
        export(ledger, tmp_path / "first.tar")
    restored = restore(tmp_path / "first.tar", tmp_path / "files")
    assert (restored.report.head, restored.fresh) == (head, True)
    with Ledger.existing(tmp_path / "files", SCOPE, now=NOW) as ledger:
        export(ledger, tmp_path / "second.tar")
    again = Place(tmp_path / "again", emptied(postgres, "another"))
    assert restore(tmp_path / "second.tar", again).fresh
    assert not restore(tmp_path / "second.tar", again).fresh
    with Ledger.existing(again, SCOPE, now=NOW) as ledger:
        assert verify(ledger).head == head
        export(ledger, tmp_path / "third.tar")
    assert (tmp_path / "first.tar").read_bytes() == (tmp_path / "third.tar").read_bytes()
