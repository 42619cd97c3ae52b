"""Files that survive a crash: the lock that writers share, durable directories, and typed errors for full disks."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger_core.kernel.errors import LedgerBusyError, StorageFullError, StoreError

LOCK_WAIT_SECONDS = 5.0
"""How long a writer waits for another before it gives up."""

_POLL_SECONDS = 0.005
_UNWRITABLE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}
)


@contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Turn the operating system's refusals at ``place`` into the ledger's errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _UNWRITABLE:
            raise StorageFullError(
                f"cannot write {error.filename or place}: {os.strerror(error.errno)}; "
                "free space, or choose a writable place with --home"
            ) from error
        raise StoreError(f"cannot use {error.filename or place}: {error.strerror}; check the disk") from error


def sync_file(path: Path) -> None:
    """Make the bytes of ``path`` durable, whoever wrote them."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_directory(folder: Path) -> None:
    """Make the names in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_directories(folder: Path) -> None:
    """Create ``folder`` and its parents durably; existing ones are left alone."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync_directory(path.parent)


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put ``data`` at ``path`` by one rename: whoever reads sees all of it, or what was there before.

    Its folder is made where there is none.

    Args:
        path: the file.
        data: its whole content.
        durable: whether the file and its name survive a crash once this returns; a cache need not.

    Raises:
        OSError: it cannot be written; what was there before still is, and nothing is left beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.partial")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)


class FileLock:
    """An exclusive lock between processes (``flock`` on a file of its own) and between the threads of this one."""

    def __init__(self, path: Path, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock; raises :class:`LedgerBusyError` after the wait. May be nested in one thread."""
        with self._threads:
            if self._depth:
                yield
                return
            # A file handle a time, never one for life: a forked child would share its lock.
            handle = self._acquire()
            self._depth = 1
            try:
                yield
            finally:
                self._depth = 0
                os.close(handle)

    def _acquire(self) -> int:
        with storage_errors(self._path):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        deadline = time.monotonic() + self._wait_seconds
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(handle)
                    raise LedgerBusyError(
                        f"another process holds {self._path} for more than {self._wait_seconds:g} s; "
                        "wait for it to finish and run the command again"
                    ) from None
                time.sleep(_POLL_SECONDS)
            else:
                return handle
