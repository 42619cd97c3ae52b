from __future__ import annotations

import contextlib
import sqlite3

from ledger_core.stores.sqlite_files import marks


def test_the_marks_of_a_file_that_another_process_is_making_are_of_one_moment(tmp_path):
    path = tmp_path / "file.sqlite3"
    maker = sqlite3.connect(path, timeout=0, isolation_level=None)
    reader = sqlite3.connect(path, isolation_level=None)

    def make_between_the_reads(statement):
        if "user_version" in statement:
            with contextlib.suppress(sqlite3.OperationalError):
                maker.executescript(
                    "BEGIN IMMEDIATE; CREATE TABLE t(x); PRAGMA application_id=7; PRAGMA user_version=1; COMMIT;"
                )

    reader.set_trace_callback(make_between_the_reads)
    assert marks(reader) == (0, 0, 0)
    maker.execute("COMMIT")
    assert marks(reader) == (7, 1, 1)
