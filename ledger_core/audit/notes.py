"""Signed notes, checkpoints, proofs and receipts as files, read by their published forms alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ledger_core.audit import canonical, shapes, trees

_SIGNATURE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/=]+)")
_VERIFIER = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)")
_RECEIPT = "veritas/append-receipt@v1"
_INCLUSION = "c2sp.org/tlog-proof@v1"
_CONSISTENCY = "veritas/consistency-proof@v1"


class NoteError(ValueError):
    """A file that is not what it should be."""


class SignatureError(NoteError):
    """No trusted key signed it."""


@dataclass(frozen=True)
class Key:
    """A public key that the reader trusts."""

    name: str
    key_id: bytes
    public: bytes


@dataclass(frozen=True)
class Note:
    """A text with its signatures: (name, key id, signature)."""

    text: str
    signatures: tuple[tuple[str, bytes, bytes], ...]

    def require(self, keys: Iterable[Key]) -> None:
        """Return if a key of ``keys`` signed the text and none of them signed another."""
        known = {(key.name, key.key_id): key for key in keys}
        found = [(known[name, key_id], s) for name, key_id, s in self.signatures if (name, key_id) in known]
        if not found:
            names = ", ".join(f"{name}+{key_id.hex()}" for name, key_id, _ in self.signatures)
            raise SignatureError(f"signed by {names}, none of which is trusted")
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        for key, signature in found:
            try:
                Ed25519PublicKey.from_public_bytes(key.public).verify(signature, self.text.encode("utf-8"))
            except InvalidSignature:
                raise SignatureError(f"the signature of {key.name}+{key.key_id.hex()} does not verify") from None


@dataclass(frozen=True)
class Checkpoint:
    """A tree at one size, and the note that says so."""

    origin: str
    size: int
    root: bytes
    note: Note


@dataclass(frozen=True)
class File:
    """What one file holds: keys and checkpoints, and at most one leaf or path."""

    keys: tuple[Key, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    leaf: dict[str, Any] | None = None
    """The leaf that an inclusion proof or a receipt is about."""
    path: tuple[bytes, ...] | None = None
    """The hashes of a proof; None in a receipt and an anchor."""
    receipt: Note | None = None

    def require(self, keys: Iterable[Key]) -> None:
        """Return if everything in the file is signed by one of ``keys`` and its proof holds."""
        trusted = tuple(keys)
        for note in [checkpoint.note for checkpoint in self.checkpoints] + ([self.receipt] if self.receipt else []):
            note.require(trusted)
        if self.path is None:
            return
        if self.leaf is None:
            older, newer = self.checkpoints
            if older.origin != newer.origin:
                raise NoteError(f"checkpoints of {older.origin} and of {newer.origin}")
            trees.require_consistency(older.size, newer.size, self.path, older.root, newer.root)
            return
        (checkpoint,) = self.checkpoints
        if checkpoint.origin.rpartition("/")[2] != self.leaf["family"]:
            raise NoteError(f"a leaf of the {self.leaf['family']} log under a checkpoint of {checkpoint.origin}")
        hashed, index = trees.leaf_hash(canonical.dump(self.leaf)), int(self.leaf["position"]["committed_offset"]) - 1
        trees.require_inclusion(hashed, index, checkpoint.size, self.path, checkpoint.root)


def read_file(text: str) -> File:
    """An anchor, a proof or a receipt, by its first line; raises :class:`NoteError` for anything else."""
    first = text.partition("\n")[0]
    if first == _RECEIPT:
        note = _note(text)
        return File(leaf=_leaf(note.text.split("\n")[1].encode("utf-8")), receipt=note)
    if first == _INCLUSION:
        head, _, rest = text.partition("\n\n")
        lines = head.split("\n")
        leaf = _leaf(_decode(_after(lines, 1, "extra ")))
        if _after(lines, 2, "index ") != str(int(leaf["position"]["committed_offset"]) - 1):
            raise NoteError(f"{lines[2]!r} is not the place that the leaf names")
        return File(checkpoints=(_checkpoint(_note(rest)),), leaf=leaf, path=tuple(_decode(line) for line in lines[3:]))
    if first == _CONSISTENCY:
        head, _, rest = text.partition("\n\n")
        middle = rest.split("\n\n")
        if len(middle) != 4:  # noqa: PLR2004 - text and signatures, twice
            raise NoteError("a consistency proof holds two checkpoints")
        notes = (_note(f"{middle[0]}\n\n{middle[1]}\n"), _note(f"{middle[2]}\n\n{middle[3]}"))
        path = tuple(_decode(line) for line in head.split("\n")[1:])
        return File(checkpoints=(_checkpoint(notes[0]), _checkpoint(notes[1])), path=path)
    return _anchor(text)


def _anchor(text: str) -> File:
    """Verifier keys, one a line, and checkpoints: three lines, an empty one, signatures."""
    keys: list[Key] = []
    checkpoints: list[Checkpoint] = []
    lines = text.split("\n")
    if lines.pop() or not lines:
        raise NoteError("no anchor, proof or receipt: it does not end in a newline")
    while lines:
        if lines[3:4] == [""]:
            end = 4
            while end < len(lines) and lines[end].startswith("— "):
                end += 1
            checkpoints.append(_checkpoint(_note("\n".join(lines[:end]) + "\n")))
            del lines[:end]
        else:
            keys.append(verifier_key(lines.pop(0)))
    return File(tuple(keys), tuple(checkpoints))


def verifier_key(text: str) -> Key:
    """The public key ``name+key id+base64``; its id is ``SHA-256(name ‖ 0A ‖ 01 ‖ key)[:4]``."""
    found = _VERIFIER.fullmatch(text)
    if found is None:
        raise NoteError(f"{text[:80]!r} is no verifier key")
    name, key_id, encoded = found.groups()
    data = _decode(encoded)
    own = hashlib.sha256(name.encode("utf-8") + b"\n" + data).digest()[:4]
    if data[:1] != b"\x01" or len(data) != 33 or own.hex() != key_id:  # noqa: PLR2004 - 01 and 32 bytes
        raise NoteError(f"verifier key {name}+{key_id} is damaged")
    return Key(name, own, data[1:])


def bound_key(body: dict[str, Any]) -> Key | None:
    """The key that a `key.bound` statement binds; None where its id is another's."""
    name, _, key_id = body["key_id"].rpartition(".")
    public = bytes.fromhex(body["public_key"])
    own = hashlib.sha256(name.encode("utf-8") + b"\n\x01" + public).digest()[:4]
    return Key(name, own, public) if name and own.hex() == key_id else None


def _note(text: str) -> Note:
    body, blank, signed = text.rpartition("\n\n")
    if not blank or not signed.endswith("\n") or re.search(r"[\x00-\x09\x0b-\x1f]", text):
        raise NoteError("no signed note: text, an empty line, signatures")
    signatures = []
    for line in signed[:-1].split("\n"):
        found = _SIGNATURE.fullmatch(line)
        if found is None:
            raise NoteError(f"{line[:80]!r} is no signature")
        data = _decode(found[2])
        signatures.append((found[1], data[:4], data[4:]))
    return Note(f"{body}\n", tuple(signatures))


def _checkpoint(note: Note) -> Checkpoint:
    lines = note.text.split("\n")
    if len(lines) != 4 or re.fullmatch(r"[1-9][0-9]{0,19}", lines[1]) is None:  # noqa: PLR2004 - three lines and the end
        raise NoteError("a checkpoint is an origin, a size from 1 and a root")
    root = _decode(lines[2])
    if not lines[0] or len(root) != 32:  # noqa: PLR2004 - SHA-256
        raise NoteError("a checkpoint has an origin and a root of 32 bytes")
    return Checkpoint(lines[0], int(lines[1]), root, note)


def _leaf(data: bytes) -> dict[str, Any]:
    try:
        leaf: dict[str, Any] = canonical.load(data)
        list(shapes.fits(leaf, shapes.LEAF))
    except ValueError as error:
        raise NoteError(f"no leaf: {error}") from error
    return leaf


def _after(lines: list[str], number: int, word: str) -> str:
    line = lines[number] if number < len(lines) else ""
    if not line.startswith(word):
        raise NoteError(f"line {number + 1} of the proof does not begin with {word.strip()!r}")
    return line[len(word) :]


def _decode(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or base64.b64encode(data).decode() != text:
        raise NoteError(f"{text[:60]!r} is no base64")
    return data
