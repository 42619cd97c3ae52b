"""Makes every durable step of an append observable, and able to fail or to be the process's last."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from ledger_core.stores import Ledger

Watch = Callable[[str], None]
"""Called with a step's name right before it happens; may raise or kill."""


class _Watched:
    """A connection whose statements are steps."""

    def __init__(self, connection: sqlite3.Connection, watch: Watch) -> None:
        self._connection = connection
        self._watch = watch

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        verb = sql.split(maxsplit=1)[0]
        if verb in {"BEGIN", "INSERT", "UPDATE", "COMMIT"}:
            self._watch(verb.lower())
        return self._connection.execute(sql, *values)

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


@contextmanager
def watched(ledger: Ledger, watch: Watch) -> Iterator[None]:
    """Report every fsync, rename and SQL write of ``ledger`` to ``watch``."""
    real_fsync, real_rename, connection = os.fsync, Path.rename, ledger.store._connection

    def fsync(handle: int) -> None:
        watch("fsync directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "fsync file")
        real_fsync(handle)

    def rename(self: Path, target: Path) -> Path:
        watch("rename")
        return real_rename(self, target)

    ledger.store._connection = _Watched(connection, watch)
    try:
        with mock.patch.object(os, "fsync", fsync), mock.patch.object(Path, "rename", rename):
            yield
    finally:
        ledger.store._connection = connection


def dies_at(number: int) -> Watch:
    """Kills the process, as ``kill -9`` does, before step ``number`` (from 1)."""
    seen = iter(range(1, number + 1))

    def watch(_: str) -> None:
        if next(seen, number) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


def fails_at(number: int, code: int) -> Watch:
    """Raises the operating system's error ``code`` at step ``number``, once."""
    count = 0

    def watch(step: str) -> None:
        nonlocal count
        count += 1
        if count == number:
            if step in {"begin", "insert", "update", "commit"}:
                refusal = sqlite3.OperationalError("database or disk is full")
                refusal.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise refusal
            raise OSError(code, os.strerror(code))

    return watch


def in_child(act: Callable[[Callable[[str], None]], None]) -> tuple[int, list[str]]:
    """Run ``act`` in a forked process with a function that acknowledges; exit status and what was acknowledged.

    The status is negative where a signal ended the process.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = 1
        try:
            act(lambda line: os.write(writer, f"{line}\n".encode()) and None)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as acknowledged:
        lines = acknowledged.read().split()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), lines
