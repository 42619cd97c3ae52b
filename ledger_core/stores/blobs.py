"""Content-addressed bytes, in files or in memory.

A blob's name is the body digest of its bytes, so equal bytes are stored once and reading can verify. Durable means: the
bytes are fsynced before the name appears (rename), and the name is fsynced before anybody may refer to it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ledger_core.kernel import digests
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import DigestHex
from ledger_core.kernel.errors import BlobError
from ledger_core.stores.envelope import (
    PIECE,
    DataKey,
    Envelope,
    KeyFolder,
    TamperedError,
    content_length,
    key_id_of,
    opened,
    pieces,
)
from ledger_core.stores.files import make_directories, storage_errors, sync_directory, sync_file
from ledger_core.stores.protocols import BlobStatus, StoredBlob

_ENCRYPTED = ".enc"
_ABANDONED_SECONDS = 3600.0
"""Age from which a temporary file belongs to no living writer."""


def _describe(ref: ContentRef, status: BlobStatus) -> BlobError:
    way_out = {
        BlobStatus.MISSING: "put the bytes first, or restore the blob (and its key, where keys are kept) from a backup",
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

    def put_stream(self, chunks: Iterable[bytes]) -> StoredBlob:
        """See :meth:`BlobStore.put_stream`; what a memory store keeps, it keeps in memory."""
        data = b"".join(chunks)
        return StoredBlob(self.put(data), len(data))

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
        if (status := self.status(ref)) not in {BlobStatus.PRESENT, BlobStatus.ERASED}:
            raise _describe(ref, status)

    def erase(self, digest: str) -> None:
        """See :meth:`BlobStore.erase`."""
        self._erased.add(digest)
        self._blobs.pop(digest, None)


class FileBlobStore:
    """Blobs as files ``aa/<digest>`` below a folder; ``erased/<digest>`` marks what may never come back.

    With a folder of ``keys`` new blobs are encrypted (``aa/<digest>.enc``), each under a key of its own; erasing then
    destroys the key as well. What lay there in plain before stays as it is.
    """

    def __init__(self, folder: Path, keys: Path | None = None) -> None:
        self.folder = folder
        self._temporary = folder / "tmp"
        self._tombstones = folder / "erased"
        self._keys = None if keys is None else KeyFolder(keys)
        self.key_folder = keys
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
        with storage_errors(self.folder):
            self._prepare()
            touched = [self._folder_of(digest) for digest, data in by_digest.items() if self._put_one(digest, data)]
            for folder in sorted(set(touched)):
                sync_directory(folder)
        self._durable.update(by_digest)
        return tuple(order)

    def put_stream(self, chunks: Iterable[bytes]) -> StoredBlob:
        """See :meth:`BlobStore.put_stream`: the bytes go to a temporary file, which is read once more for the digest.

        One pass cannot do: the digest begins with the length.
        """
        with storage_errors(self.folder):
            self._prepare()
        with self._draft("stream") as draft:
            for chunk in chunks:
                with storage_errors(draft.path):
                    draft.write(chunk)
            with storage_errors(draft.path):
                digest = digests.body_hex_of(draft.content(), draft.length)
                if self._is_erased(digest):
                    raise _erased(digest)
                if self._settle(digest) is None:
                    self._name(draft, digest)
                else:
                    draft.path.unlink()
                sync_directory(self._folder_of(digest))
        self._durable.add(digest)
        return StoredBlob(digest, draft.length)

    def _put_one(self, digest: str, data: bytes) -> bool:
        """Bring ``data`` under its name; whether the caller still has to make the name durable."""
        settled = self._settle(digest)
        if settled is None:
            with self._draft(digest[:16]) as draft:
                draft.write(data)
                self._name(draft, digest)
        return settled is not True

    def _settle(self, digest: str) -> bool | None:
        """Whether the name of the intact bytes of ``digest`` is known to be durable; None where there are none."""
        found = self._find(digest)
        if found is None or not found.intact(digest):
            return None
        if digest not in self._durable:
            self._sync(found, digest)  # another writer may have died between rename and fsync of its directory
        return digest in self._durable

    def _sync(self, found: _Object, digest: str) -> None:
        sync_file(Path(found.path))
        if found.key is not None and self._keys is not None:
            self._keys.sync(digest, found.key.key_id)

    def _name(self, draft: _Draft, digest: str) -> None:
        """Make the bytes durable, and the key that opens them, then give them their name."""
        folder = self._folder_of(digest)
        make_directories(folder)
        key = draft.finish()
        plain, encrypted = self._paths(digest)
        if key is None or self._keys is None:
            draft.path.rename(plain)
        else:
            self._keys.add(digest, key)
            draft.path.rename(encrypted)
            plain.unlink(missing_ok=True)  # damaged, or this one would not have been wanted
        if self._is_erased(digest):
            self.erase(digest)  # while it was written: whichever of the two came last must see the other
            raise _erased(digest)

    @contextmanager
    def _draft(self, prefix: str) -> Iterator[_Draft]:
        """A temporary file that goes when anything is raised."""
        handle, name = tempfile.mkstemp(prefix=prefix, dir=self._temporary)
        try:
            with os.fdopen(handle, "w+b") as file:
                yield _Draft(file, Path(name), encrypted=self._keys is not None)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _prepare(self) -> None:
        if self._ready:
            return
        make_directories(self._temporary)
        for left_over in self._temporary.iterdir():
            with suppress(FileNotFoundError):  # its writer lives, and has just given it its name
                if time.time() - left_over.stat().st_mtime > _ABANDONED_SECONDS:
                    left_over.unlink()
        self._finish_erasures()
        self._ready = True

    def _finish_erasures(self) -> None:
        """Remove what a killed process had marked as erased and not removed yet."""
        for folder in (self._tombstones, *(() if self._keys is None else (self._keys.tombstones,))):
            for mark in folder.iterdir() if folder.exists() else ():
                left = any(path.exists() for path in self._paths(mark.name))
                if left or (self._keys is not None and self._keys.holds(mark.name)):
                    self.erase(mark.name)

    def read(self, ref: ContentRef) -> bytes:
        """See :meth:`BlobStore.read`."""
        with storage_errors(self.folder):
            found = None if self._is_erased(ref.digest) else self._find(ref.digest)
            data = None if found is None else found.read()
        if data is None or not _matches(data, ref):
            raise _describe(ref, self.status(ref))
        return data

    def status(self, ref: ContentRef) -> BlobStatus:
        """See :meth:`BlobStore.status`."""
        with storage_errors(self.folder):
            # The mark decides: an erasure that was cut short between mark and removal is an erasure.
            if self._is_erased(ref.digest):
                return BlobStatus.ERASED
            if ref.byte_length < PIECE and self._lies_in_plain(ref):
                return BlobStatus.PRESENT
            found = self._find(ref.digest)
            if found is None:
                return BlobStatus.MISSING
            intact = found.length == ref.byte_length and found.intact(ref.digest)
        return BlobStatus.PRESENT if intact else BlobStatus.CORRUPT

    def _lies_in_plain(self, ref: ContentRef) -> bool:
        """Whether content of one piece is there as it must be; where not, it takes more than a look to say what it is."""
        with suppress(FileNotFoundError, NotADirectoryError):
            handle = os.open(f"{self.folder}/{ref.digest[:2]}/{ref.digest}", os.O_RDONLY | os.O_CLOEXEC)
            try:
                return _matches(os.read(handle, ref.byte_length + 1), ref)
            finally:
                os.close(handle)
        return False

    def require_durable(self, ref: ContentRef) -> None:
        """See :meth:`BlobStore.require_durable`: what this process has not put itself is read and fsynced once."""
        with storage_errors(self.folder):
            if ref.digest in self._durable and self._length(ref.digest) == ref.byte_length:
                return
            found = self._find(ref.digest)
            status = self.status(ref)
            if status is BlobStatus.PRESENT and found is not None:
                self._sync(found, ref.digest)
                sync_directory(Path(found.path).parent)
                sync_directory(self.folder)
                self._durable.add(ref.digest)
            elif status is not BlobStatus.ERASED:
                raise _describe(ref, status)

    def erase(self, digest: str) -> None:
        """See :meth:`BlobStore.erase`: the mark is durable before keys and bytes go."""
        with storage_errors(self.folder):
            make_directories(self._tombstones)
            (self._tombstones / digest).touch()
            sync_directory(self._tombstones)
            if self._keys is not None:
                self._keys.destroy(digest)
            paths = [path for path in self._paths(digest) if path.exists()]
            for path in paths:
                path.unlink()
            if paths:
                sync_directory(self._folder_of(digest))
        self._durable.discard(digest)

    def _find(self, digest: str) -> _Object | None:
        """The object of ``digest``; None where there is none, or none that any key here opens."""
        plain = f"{self.folder}/{digest[:2]}/{digest}"
        with suppress(FileNotFoundError, NotADirectoryError):
            return _Object(plain, os.stat(plain).st_size)  # noqa: PTH116 - for every blob of a log: no time for paths
        encrypted = Path(plain + _ENCRYPTED)
        if self._keys is None or not encrypted.exists():
            return None
        with encrypted.open("rb") as file:
            key_id = key_id_of(file)
        if key_id is None:
            return _Object(str(encrypted), -1)
        key = self._keys.find(digest, key_id)
        return None if key is None else _Object(str(encrypted), content_length(encrypted.stat().st_size), key)

    def _length(self, digest: str) -> int | None:
        """Bytes of the content of ``digest`` by the size of its file; None where there is none."""
        path = f"{self.folder}/{digest[:2]}/{digest}"
        with suppress(FileNotFoundError):
            return os.stat(path).st_size  # noqa: PTH116 - for every reference of every append: no time for paths
        with suppress(FileNotFoundError):
            return content_length(os.stat(path + _ENCRYPTED).st_size)  # noqa: PTH116 - as above
        return None

    def _is_erased(self, digest: str) -> bool:
        # The keys' own mark holds even where the blobs come from yesterday's backup.
        marked = os.path.exists(f"{self._tombstones}/{digest}")  # noqa: PTH110 - as above
        return marked or (self._keys is not None and self._keys.is_destroyed(digest))

    def _paths(self, digest: str) -> tuple[Path, Path]:
        return self._folder_of(digest) / digest, self._folder_of(digest) / f"{digest}{_ENCRYPTED}"

    def _folder_of(self, digest: str) -> Path:
        return self.folder / digest[:2]


class _Draft:
    """Bytes on their way into the store, in a file without a name yet."""

    def __init__(self, file: BinaryIO, path: Path, *, encrypted: bool) -> None:
        self.path = path
        self.length = 0
        self._file = file
        self._envelope = Envelope(file) if encrypted else None
        self._finished = False

    def write(self, chunk: bytes) -> None:
        (self._file if self._envelope is None else self._envelope).write(chunk)
        self.length += len(chunk)

    def content(self) -> Iterator[bytes]:
        """What was written, in pieces."""
        self._seal()
        self._file.seek(0)
        if self._envelope is None:
            return pieces(self._file)
        return opened(self._file, self._envelope.key, os.fstat(self._file.fileno()).st_size)

    def finish(self) -> DataKey | None:
        """Make the bytes durable; the key that opens them, if they need one."""
        self._seal()
        os.fsync(self._file.fileno())
        return None if self._envelope is None else self._envelope.key

    def _seal(self) -> None:
        if self._envelope is not None and not self._finished:
            self._envelope.finish()
        self._finished = True
        self._file.flush()


@dataclass(frozen=True, slots=True)
class _Object:
    """Stored bytes and what opens them."""

    path: str
    length: int
    """Of the content; negative where the file is no object of ours."""
    key: DataKey | None = None

    def intact(self, digest: str) -> bool:
        """Whether the content has this digest."""
        if self.length < 0:
            return False
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123 - for every large blob of a log: no time for paths
                return digests.body_hex_of(self._content(file), self.length) == digest
        except (TamperedError, FileNotFoundError):
            return False

    def read(self) -> bytes | None:
        """The content, to be compared with its digest; None where it cannot be opened."""
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123 - as above
                return None if self.length < 0 else b"".join(self._content(file))
        except (TamperedError, FileNotFoundError):
            return None

    def _content(self, file: BinaryIO) -> Iterator[bytes]:
        return pieces(file) if self.key is None else opened(file, self.key, os.fstat(file.fileno()).st_size)
