"""Where an audit reads from: a ledger's folder, its SQLite file, or an export. Nothing is ever written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

FILE = "ledger.sqlite3"
FAMILIES = ("control", "evidence")
_SQLITE = b"SQLite format 3\x00"


class SourceError(Exception):
    """There is nothing to audit, or it cannot be read."""


@dataclass(frozen=True)
class Row:
    """One event as it is stored, unchecked."""

    family: str
    offset: int
    epoch_id: str
    shard: int
    event_id: str
    statement: bytes
    receipt: bytes
    chain: str


class Blobs(Protocol):
    """Content by digest."""

    def read(self, digest: str) -> bytes | None:
        """The bytes kept under ``digest``, unchecked; None where there are none; raises :class:`OutOfReachError`."""
        ...

    def is_erased(self, digest: str) -> bool:
        """Whether the digest was erased on purpose."""
        ...


class OutOfReachError(Exception):
    """Content that this source cannot show: it is encrypted and its key not at hand, or it was left out of an export."""


@dataclass
class Source:
    """A ledger to audit."""

    rows: dict[str, Iterable[Row]]
    """Family -> its events in order."""
    blobs: Blobs
    heads: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Family -> (count, chain) as the store itself records its end; empty where it records none."""
    scope: dict[str, str] | None = None
    """The scope that the source says it has; None where it says none."""


def open_source(path: Path, keys: Path | None = None) -> Source:
    """The ledger at ``path``; ``keys`` is the folder of data keys of encrypted content.

    Raises:
        SourceError: there is none.
    """
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise SourceError(f"no ledger at {path}: name a folder with {FILE}, that file, or an export")
    with file.open("rb") as handle:
        start = handle.read(len(_SQLITE))
    if start == _SQLITE:
        return _from_sqlite(file, FolderBlobs(file.parent / "blobs", keys))
    from ledger_core.audit.exports import HEADER, from_archive, from_lines

    return from_archive(file) if HEADER.encode().startswith(start) else from_lines(file)


def _from_sqlite(file: Path, blobs: Blobs) -> Source:
    connection = _connect(file)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    heads = {family: (count, chain) for family, count, chain in _select(connection, _HEADS)}
    return Source({family: _Rows(connection, family) for family in FAMILIES}, blobs, heads)


_HEADS = "SELECT family, committed_offset, chain FROM heads"
_ROWS = (
    "SELECT family, committed_offset, epoch_id, shard, event_id, statement, receipt, chain FROM events"
    " WHERE family = ? ORDER BY committed_offset"
)


def _connect(file: Path) -> sqlite3.Connection:
    base = file.absolute().as_uri()
    try:
        connection = sqlite3.connect(f"{base}?mode=ro", uri=True)
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        log = file.with_name(file.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise SourceError(f"cannot read {file}: {error}") from error
        # A place where nothing can be written has no shared memory; without a write-ahead log none is needed.
        return sqlite3.connect(f"{base}?mode=ro&immutable=1", uri=True)
    return connection


def _select(connection: sqlite3.Connection, query: str, *values: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from connection.execute(query, values)
    except sqlite3.Error as error:
        raise SourceError(f"the file is damaged: {error}") from error


class _Rows:
    """The events of one family, read as they are asked for."""

    def __init__(self, connection: sqlite3.Connection, family: str) -> None:
        self._connection = connection
        self._family = family

    def __iter__(self) -> Iterator[Row]:
        for row in _select(self._connection, _ROWS, self._family):
            family, offset, epoch_id, shard, event_id, statement, receipt, chain = row
            yield Row(
                str(family),
                offset if isinstance(offset, int) else -1,
                str(epoch_id),
                shard if isinstance(shard, int) else -1,
                str(event_id),
                statement if isinstance(statement, bytes) else str(statement).encode("utf-8", "replace"),
                receipt if isinstance(receipt, bytes) else str(receipt).encode("utf-8", "replace"),
                str(chain),
            )


class FolderBlobs:
    """Files ``aa/<digest>``, or ``aa/<digest>.enc`` where content is encrypted; ``erased/<digest>`` marks an erasure."""

    def __init__(self, folder: Path, keys: Path | None) -> None:
        self._folder = folder
        self._keys = keys

    def read(self, digest: str) -> bytes | None:
        """See :class:`Blobs`."""
        plain = self._folder / digest[:2] / digest
        if plain.is_file():
            return plain.read_bytes()
        sealed = plain.with_name(f"{digest}.enc")
        return self._open(digest, sealed.read_bytes()) if sealed.is_file() else None

    def is_erased(self, digest: str) -> bool:
        """See :class:`Blobs`; a destroyed key is an erasure too."""
        marks = [self._folder, *([] if self._keys is None else [self._keys])]
        return any((folder / "erased" / digest).exists() for folder in marks)

    def _open(self, digest: str, sealed: bytes) -> bytes:
        """``magic(16) ‖ key id(16) ‖ nonce(12) ‖ ciphertext ‖ tag(16)``: AES-256-GCM, magic and key id authenticated."""
        key_id, nonce = sealed[16:32].hex(), sealed[32:44]
        key = None if self._keys is None else self._keys / digest[:2] / f"{digest}.{key_id}"
        if key is None or not key.is_file():
            raise OutOfReachError("encrypted; name the folder of the ledger's data keys with --keys")
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(key.read_bytes()).decrypt(nonce, sealed[44:], sealed[:32])
        except (InvalidTag, ValueError):
            return b""


@dataclass
class MemoryBlobs:
    """Content at hand."""

    held: dict[str, bytes] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)

    def read(self, digest: str) -> bytes | None:
        """See :class:`Blobs`."""
        return self.held.get(digest)

    def is_erased(self, digest: str) -> bool:
        """See :class:`Blobs`."""
        return digest in self.erased
