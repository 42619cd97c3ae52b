"""Content-addressed bytes, in files or in memory.

A blob's name is the body digest of its bytes, so equal bytes are stored once and reading can verify. Durable means: the
bytes are fsynced before the name appears (rename), and the name is fsynced before anybody may refer to it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from ledger_core.kernel import digests
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import DigestHex
from ledger_core.kernel.errors import BlobError
from ledger_core.stores.files import make_directories, storage_errors, sync_directory
from ledger_core.stores.protocols import BlobStatus

_ABANDONED_SECONDS = 3600.0
"""Age from which a temporary file belongs to no living writer."""


def _describe(ref: ContentRef, status: BlobStatus) -> BlobError:
    way_out = {
        BlobStatus.MISSING: "put the bytes first, or restore the blob from a backup",
        BlobStatus.CORRUPT: "restore the blob from a backup",
        BlobStatus.ERASED: "its content was erased on purpose and cannot be read or stored again",
    }[status]
    return BlobError(f"blob {ref.digest} ({ref.media_type}, {ref.byte_length} bytes) is {status}: {way_out}")


def _erased(digest: str) -> BlobError:
    return BlobError(f"blob {digest} was erased on purpose and may not be stored again; drop it from the input")


def _matches(data: bytes, ref: ContentRef) -> bool:
    return len(data) == ref.byte_length and digests.body_hex(data) == ref.digest


class MemoryBlobStore:
    """Blobs in a dictionary."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}
        self._erased: set[str] = set()

    def put(self, data: bytes) -> DigestHex:
        """See :meth:`BlobStore.put`."""
        digest = digests.body_hex(data)
        if digest in self._erased:
            raise _erased(digest)
        self._blobs.setdefault(digest, bytes(data))
        return digest

    def put_all(self, many: Iterable[bytes]) -> tuple[DigestHex, ...]:
        """See :meth:`BlobStore.put_all`."""
        return tuple(self.put(data) for data in many)

    def read(self, ref: ContentRef) -> bytes:
        """See :meth:`BlobStore.read`."""
        status = self.status(ref)
        if status is not BlobStatus.PRESENT:
            raise _describe(ref, status)
        return self._blobs[ref.digest]

    def status(self, ref: ContentRef) -> BlobStatus:
        """See :meth:`BlobStore.status`."""
        data = self._blobs.get(ref.digest)
        if data is None:
            return BlobStatus.ERASED if ref.digest in self._erased else BlobStatus.MISSING
        return BlobStatus.PRESENT if _matches(data, ref) else BlobStatus.CORRUPT

    def require_durable(self, ref: ContentRef) -> None:
        """See :meth:`BlobStore.require_durable`."""
        status = self.status(ref)
        if status not in {BlobStatus.PRESENT, BlobStatus.ERASED}:
            raise _describe(ref, status)

    def erase(self, digest: str) -> None:
        """See :meth:`BlobStore.erase`."""
        self._erased.add(digest)
        self._blobs.pop(digest, None)


class FileBlobStore:
    """Blobs as files ``aa/<digest>`` below a folder; ``erased/<digest>`` marks what may never come back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary = folder / "tmp"
        self._tombstones = folder / "erased"
        self._durable: set[str] = set()
        self._ready = False

    def put(self, data: bytes) -> DigestHex:
        """See :meth:`BlobStore.put`."""
        return self.put_all((data,))[0]

    def put_all(self, many: Iterable[bytes]) -> tuple[DigestHex, ...]:
        """See :meth:`BlobStore.put_all`: one pass over the directories for all."""
        by_digest: dict[DigestHex, bytes] = {}
        order = []
        for data in many:
            digest = digests.body_hex(data)
            if self._is_erased(digest):
                raise _erased(digest)
            order.append(digest)
            by_digest[digest] = data
        with storage_errors(self._folder):
            self._prepare()
            touched = [self._path(digest).parent for digest, data in by_digest.items() if self._put_one(digest, data)]
            for folder in sorted(set(touched)):
                sync_directory(folder)
        self._durable.update(by_digest)
        return tuple(order)

    def _put_one(self, digest: str, data: bytes) -> bool:
        """Bring ``data`` under its name; whether the caller still has to make the name durable."""
        path = self._path(digest)
        if path.exists() and digests.body_hex(path.read_bytes()) == digest:
            if digest in self._durable:
                return False
            _sync_file(path)  # another writer may have died between rename and fsync of its directory
            return True
        make_directories(path.parent)
        handle, name = tempfile.mkstemp(prefix=digest[:16], dir=self._temporary)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).rename(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return True

    def _prepare(self) -> None:
        if self._ready:
            return
        make_directories(self._temporary)
        for left_over in self._temporary.iterdir():
            if time.time() - left_over.stat().st_mtime > _ABANDONED_SECONDS:
                left_over.unlink(missing_ok=True)
        self._ready = True

    def read(self, ref: ContentRef) -> bytes:
        """See :meth:`BlobStore.read`."""
        data, status = self._look(ref)
        if data is None or status is not BlobStatus.PRESENT:
            raise _describe(ref, status)
        return data

    def status(self, ref: ContentRef) -> BlobStatus:
        """See :meth:`BlobStore.status`."""
        return self._look(ref)[1]

    def require_durable(self, ref: ContentRef) -> None:
        """See :meth:`BlobStore.require_durable`: what this process has not put itself is read and fsynced once."""
        path = self._path(ref.digest)
        with storage_errors(path):
            if ref.digest in self._durable and path.exists() and path.stat().st_size == ref.byte_length:
                return
            status = self.status(ref)
            if status is BlobStatus.PRESENT:
                _sync_file(path)
                sync_directory(path.parent)
                sync_directory(self._folder)
                self._durable.add(ref.digest)
            elif status is not BlobStatus.ERASED:
                raise _describe(ref, status)

    def erase(self, digest: str) -> None:
        """See :meth:`BlobStore.erase`: the mark is durable before the bytes go."""
        with storage_errors(self._folder):
            make_directories(self._tombstones)
            (self._tombstones / digest).touch()
            sync_directory(self._tombstones)
            path = self._path(digest)
            if path.exists():
                path.unlink()
                sync_directory(path.parent)
        self._durable.discard(digest)

    def _look(self, ref: ContentRef) -> tuple[bytes | None, BlobStatus]:
        # The mark decides: an erasure that was cut short between mark and removal is an erasure.
        if self._is_erased(ref.digest):
            return None, BlobStatus.ERASED
        path = self._path(ref.digest)
        with storage_errors(path):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                return None, BlobStatus.MISSING
        return data, BlobStatus.PRESENT if _matches(data, ref) else BlobStatus.CORRUPT

    def _is_erased(self, digest: str) -> bool:
        return (self._tombstones / digest).exists()

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
