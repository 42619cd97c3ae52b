"""Ed25519 keys by name: as text, and as a file that only its owner may read.

    verifier   name+key id in hex+base64(01 ‖ public key)
    signer     PRIVATE+KEY+name+key id in hex+base64(01 ‖ seed)

The key id is ``SHA-256(name ‖ 0A ‖ 01 ‖ public key)[:4]`` (C2SP signed-note); 01 is the note format's number of Ed25519.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger_core.kernel.errors import NoteError, SignatureError, SigningKeyError
from ledger_core.signing.notes import CONTROL, KEY_ID_BYTES, NoteSignature, SignedNote, check_name, decode_base64
from ledger_core.stores.files import make_directories, storage_errors, sync_directory

KEY_BYTES = 32
DEFAULT_NAME = "veritas.checkpoint"
"""Name of a home's own key; the key id tells keys of one name apart."""

_ED25519 = b"\x01"
_PRIVATE = "PRIVATE+KEY+"
_OTHERS = 0o077
_VERIFIER = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)")


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key that a reader trusts."""

    name: str
    public_key: bytes
    """32 bytes (RFC 8032)."""

    @property
    def key_id(self) -> bytes:
        """Four bytes that find the key; no more than that: a signature decides."""
        identity = self.name.encode() + b"\n" + _ED25519 + self.public_key
        return hashlib.sha256(identity).digest()[:KEY_ID_BYTES]

    def __str__(self) -> str:
        """The key as text; :meth:`parse` gives it back."""
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(_ED25519 + self.public_key).decode()}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """The key that ``text`` spells.

        Raises:
            NoteError: another form, another algorithm, or an id that is not this key's.
        """
        found = _VERIFIER.fullmatch(text)
        if found is None:
            raise NoteError(f"{text[:120]!r} is no verifier key: name+8 hex digits+base64")
        name, key_id, encoded = found.groups()
        data = decode_base64(encoded, f"the public key of {name}")
        if data[:1] != _ED25519 or len(data) != 1 + KEY_BYTES:
            raise NoteError(f"the public key of {name} is no Ed25519 key: 01 and {KEY_BYTES} bytes")
        key = cls(check_name(name), data[1:])
        if key.key_id.hex() != key_id:
            raise NoteError(f"verifier key {name}+{key_id} is damaged: its bytes have the id {key.key_id.hex()}")
        return key

    def verify(self, data: bytes, signature: bytes) -> None:
        """Return if this key signed ``data``; raises :class:`SignatureError` otherwise."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(signature, data)
        except (InvalidSignature, ValueError):
            raise SignatureError(
                f"the signature of {self.name}+{self.key_id.hex()} does not verify: the text was changed, "
                "or another key of this name and id signed it"
            ) from None


class SigningKey:
    """A private key; never shown, never compared, never in a ledger."""

    def __init__(self, name: str, seed: bytes) -> None:
        """The key of ``seed`` (32 bytes, RFC 8032); raises :class:`NoteError` for a name that cannot be."""
        if len(seed) != KEY_BYTES:
            raise SigningKeyError(f"an Ed25519 seed has {KEY_BYTES} bytes, not {len(seed)}")
        self.name = check_name(name)
        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @classmethod
    def generate(cls, name: str = DEFAULT_NAME) -> SigningKey:
        """A new key from the operating system's randomness."""
        return cls(name, Ed25519PrivateKey.generate().private_bytes_raw())

    @cached_property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.name, self._key.public_key().public_bytes_raw())

    def sign(self, text: str) -> SignedNote:
        """``text`` (which ends in a newline) signed; the same text gives the same note."""
        if not text.endswith("\n") or CONTROL.search(text) is not None:
            raise NoteError("the text of a note ends in a newline and holds no other control character")
        signature = NoteSignature(self.name, self.verifier.key_id, self._key.sign(text.encode()))
        return SignedNote(text, (signature,))

    def save(self, path: Path) -> None:
        """Write the key durably to a new file of mode 0600.

        Raises:
            SigningKeyError: something lies there already; a key is never overwritten.
            StorageFullError: the place cannot be written.
        """
        body = base64.b64encode(_ED25519 + self._seed).decode()
        line = f"{_PRIVATE}{self.name}+{self.verifier.key_id.hex()}+{body}\n"
        with storage_errors(path):
            make_directories(path.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".key-")  # mode 0600 from the start
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(temporary, path)
            except FileExistsError:
                raise SigningKeyError(f"{path} holds a key already; a key is never overwritten") from None
            finally:
                Path(temporary).unlink()
            sync_directory(path.parent)


def load_key(path: Path) -> SigningKey:
    """The private key in ``path``.

    Raises:
        SigningKeyError: no file, one that others may read, or no key.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SigningKeyError(f"no signing key at {path}; `veritas checkpoint` makes one") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SigningKeyError(f"cannot read the signing key {path}: {error}") from error
    if mode & _OTHERS:
        raise SigningKeyError(
            f"signing key {path} may be read by others (mode {mode & 0o777:o}); run `chmod 600` on it if they did not, "
            "else make a new key"
        )
    found = _VERIFIER.fullmatch(text.removeprefix(_PRIVATE).removesuffix("\n"))
    if not text.startswith(_PRIVATE) or found is None:
        raise SigningKeyError(f"{path} holds no signing key; restore it from a backup")
    name, key_id, encoded = found.groups()
    try:
        data = decode_base64(encoded, "the seed")
    except NoteError:
        data = b""
    if data[:1] != _ED25519 or len(data) != 1 + KEY_BYTES:
        raise SigningKeyError(f"{path} holds no Ed25519 key; restore it from a backup")
    key = SigningKey(name, data[1:])
    if key.verifier.key_id.hex() != key_id:
        raise SigningKeyError(f"signing key {path} is damaged: its bytes have another id than {key_id}")
    return key


def open_key(path: Path, name: str = DEFAULT_NAME) -> SigningKey:
    """The private key in ``path``, made there where there is none; see :func:`load_key`."""
    if not path.exists():
        try:
            SigningKey.generate(name).save(path)
        except SigningKeyError:
            if not path.exists():
                raise
            # Another process made one in between: that one stands.
    return load_key(path)
