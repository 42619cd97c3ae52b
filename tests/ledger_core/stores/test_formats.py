"""Versions of the tables: an older ledger is brought up to date whole or not at all, a newer one refused."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from ledger_core.kernel.errors import LedgerVersionError, StorageFullError, StoreError
from ledger_core.stores import formats
from ledger_core.stores.sqlite_files import connect, upgrade
from ledger_core.stores.verify import verify
from tests.ledger_core.stores.test_sqlite import file_of, note, open_ledger
from tests.ledger_core.story import tell
from tests.next_format import STEP, next_format


def schema(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return [re.sub(r"\s+", " ", row[0]).strip() for row in rows]


def version_of(home: Path) -> int:
    with closing(sqlite3.connect(file_of(home))) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_the_steps_lead_to_the_tables_that_a_new_ledger_gets(tmp_path):
    with open_ledger(tmp_path) as ledger:
        created = schema(ledger.store._connection)
    path = tmp_path / "stepwise.sqlite3"
    connect(path).close()
    upgrade(path, 0)
    with closing(sqlite3.connect(path)) as connection:
        assert schema(connection) == created
        assert connection.execute("PRAGMA user_version").fetchone() == (formats.FORMAT_VERSION,)
    assert len(created) == 4


def test_there_is_one_revision_a_version():
    script = ScriptDirectory(str(formats.MIGRATIONS))
    names = [revision.revision for revision in script.walk_revisions()]
    assert names == [formats.revision_of(version) for version in range(formats.FORMAT_VERSION, 0, -1)]
    assert script.get_heads() == [formats.revision_of(formats.FORMAT_VERSION)]


def test_an_older_ledger_is_brought_up_to_date_with_what_it_holds(tmp_path):
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
        head = ledger.head()
    assert version_of(tmp_path) == 1
    with next_format(tmp_path / "migrations"), open_ledger(tmp_path) as ledger:
        assert ledger.head() == head
        assert ledger.store._connection.execute("SELECT DISTINCT remark FROM events").fetchall() == [("none",)]
        ledger.append((note(ledger, 1),), role="recorder")
        assert verify(ledger).first_divergence is None
    assert version_of(tmp_path) == 2
    with pytest.raises(LedgerVersionError, match="has ledger format 2, this program reads formats up to 1"):
        open_ledger(tmp_path)


def test_a_step_that_fails_leaves_the_ledger_as_it_was(tmp_path):
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
        head = ledger.head()
    step = STEP + '    op.execute("INSERT INTO nowhere VALUES (1)")\n'
    with (
        next_format(tmp_path / "migrations", step),
        pytest.raises(StoreError, match="no such table: nowhere"),
    ):
        open_ledger(tmp_path)
    assert version_of(tmp_path) == 1
    with open_ledger(tmp_path) as ledger:
        assert ledger.head() == head
        assert verify(ledger).first_divergence is None


def test_two_that_open_an_older_ledger_take_the_step_once(tmp_path):
    open_ledger(tmp_path).close()
    with next_format(tmp_path / "migrations"):
        first, second = open_ledger(tmp_path), open_ledger(tmp_path)
        first.append((note(first, 1),), role="recorder")
        assert second.count() == 1
        first.close()
        second.close()


def test_an_older_ledger_that_may_not_be_written_says_so(tmp_path, monkeypatch):
    with open_ledger(tmp_path) as ledger:
        tell(ledger)
    monkeypatch.setattr("ledger_core.stores.sqlite_files._uri", lambda path: f"{path.as_uri()}?mode=ro")
    with next_format(tmp_path / "migrations"), pytest.raises(StorageFullError, match="readonly database"):
        open_ledger(tmp_path)


def test_opening_what_is_up_to_date_imports_no_migration_tool(tmp_path):
    open_ledger(tmp_path).close()
    program = (
        "import sys; from pathlib import Path; from tests.ledger_core.stores.test_sqlite import open_ledger\n"
        "open_ledger(Path(sys.argv[1])).close(); open_ledger(Path(sys.argv[2])).close()\n"
        "print(sorted({'alembic', 'sqlalchemy', 'psycopg'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(tmp_path / "new")],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert done.stdout.strip() == "[]"
