"""Content under a key of its own: AES-256-GCM, one random key an object, kept apart from what it opens.

An encrypted object is ``magic(16) ‖ key id(16) ‖ nonce(12) ‖ ciphertext ‖ tag(16)``; the first 32 bytes are authenticated
with the rest. Its key lies in a folder of keys under the object's digest and the key id. Who destroys the key has erased the
content from every copy and backup of the blobs, but only while the keys are not in the same backup.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ledger_core.stores.files import make_directories, sync_directory, sync_file

_MAGIC = b"veritas-blob-v1\x00"
_ID_BYTES = 16
_NONCE_BYTES = 12
_TAG_BYTES = 16
_KEY_BYTES = 32
_HEADER_BYTES = len(_MAGIC) + _ID_BYTES + _NONCE_BYTES

PIECE = 1 << 20
"""Bytes of content that are in memory at a time."""


class DataKey(NamedTuple):
    """The key of one object."""

    key_id: str
    secret: bytes


class TamperedError(Exception):
    """The object's authentication tag does not fit."""


def pieces(file: BinaryIO, length: int | None = None) -> Iterator[bytes]:
    """The rest of ``file``, or its next ``length`` bytes, in pieces."""
    left = length
    while piece := file.read(PIECE if left is None else min(PIECE, left)):
        yield piece
        if left is not None:
            left -= len(piece)


def content_length(file_size: int) -> int:
    """Bytes of content in an encrypted object of ``file_size`` bytes; negative where it is too short to be one."""
    return file_size - _HEADER_BYTES - _TAG_BYTES


class Envelope:
    """Writes content to a file encrypted under a new key."""

    def __init__(self, file: BinaryIO) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key_id, nonce, secret = os.urandom(_ID_BYTES), os.urandom(_NONCE_BYTES), os.urandom(_KEY_BYTES)
        self._file = file
        self._encryptor = Cipher(algorithms.AES(secret), modes.GCM(nonce)).encryptor()
        self._encryptor.authenticate_additional_data(_MAGIC + key_id)
        self.key = DataKey(key_id.hex(), secret)
        file.write(_MAGIC + key_id + nonce)

    def write(self, chunk: bytes) -> None:
        """Append ``chunk`` to the content."""
        self._file.write(self._encryptor.update(chunk))

    def finish(self) -> None:
        """Write the authentication tag; nothing may be written after it."""
        self._file.write(self._encryptor.finalize() + self._encryptor.tag)


def key_id_of(file: BinaryIO) -> str | None:
    """Id of the key that opens the object at the beginning of ``file``; None where it is no object of ours."""
    header = file.read(len(_MAGIC) + _ID_BYTES)
    whole = header.startswith(_MAGIC) and len(header) == len(_MAGIC) + _ID_BYTES
    return header[len(_MAGIC) :].hex() if whole else None


def opened(file: BinaryIO, key: DataKey, file_size: int) -> Iterator[bytes]:
    """The content of the object in ``file`` (of ``file_size`` bytes) in pieces.

    Not to be trusted before the last piece: then :class:`TamperedError` says whether the tag fitted.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    file.seek(len(_MAGIC) + _ID_BYTES)
    nonce = file.read(_NONCE_BYTES)
    length = content_length(file_size)
    if length < 0:
        raise TamperedError
    decryptor = Cipher(algorithms.AES(key.secret), modes.GCM(nonce)).decryptor()
    decryptor.authenticate_additional_data(_MAGIC + bytes.fromhex(key.key_id))
    for piece in pieces(file, length):
        yield decryptor.update(piece)
    try:
        decryptor.finalize_with_tag(file.read(_TAG_BYTES))
    except (InvalidTag, ValueError) as error:
        raise TamperedError from error


class KeyFolder:
    """Data keys in files ``aa/<digest>.<key id>``, readable by their owner alone; ``erased/<digest>`` marks destroyed ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tombstones = folder / "erased"

    def add(self, digest: str, key: DataKey) -> None:
        """Keep ``key`` durably."""
        path = self._path(digest, key.key_id)
        make_directories(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key.secret)
            file.flush()
            os.fsync(file.fileno())
        sync_directory(path.parent)

    def find(self, digest: str, key_id: str) -> DataKey | None:
        """The key, or None where it is not, or not whole, here."""
        try:
            secret = self._path(digest, key_id).read_bytes()
        except FileNotFoundError:
            return None
        return DataKey(key_id, secret) if len(secret) == _KEY_BYTES else None

    def sync(self, digest: str, key_id: str) -> None:
        """Make a key durable whose writer may have died before it was."""
        path = self._path(digest, key_id)
        sync_file(path)
        sync_directory(path.parent)

    def destroy(self, digest: str) -> None:
        """Overwrite and remove every key of ``digest``, once the mark that says so is durable."""
        make_directories(self.tombstones)
        (self.tombstones / digest).touch()
        sync_directory(self.tombstones)
        keys = self._keys(digest)
        for path in keys:
            with path.open("r+b") as file:
                file.write(bytes(_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
        if keys:
            sync_directory(keys[0].parent)

    def holds(self, digest: str) -> bool:
        """Whether there is any key of ``digest``."""
        return bool(self._keys(digest))

    def is_destroyed(self, digest: str) -> bool:
        """Whether the keys of ``digest`` were destroyed on purpose."""
        return (self.tombstones / digest).exists()

    def _keys(self, digest: str) -> list[Path]:
        return sorted(self._path(digest, "").parent.glob(f"{digest}.*"))

    def _path(self, digest: str, key_id: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.{key_id}"
