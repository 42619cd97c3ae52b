"""The signed note: text, a blank line, and one line for each signature (C2SP signed-note, Ed25519).

    — <key name> base64(key id ‖ signature)

The signature is over the text with its final newline. Signatures of unknown keys are ignored, as the format asks;
one of a known key that fails spoils the whole note.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger_core.kernel.errors import NoteError, SignatureError

if TYPE_CHECKING:
    from ledger_core.signing.keys import VerifierKey

KEY_ID_BYTES = 4
MAX_SIGNATURES = 16
"""Most signatures a note may carry: what the format obliges a verifier to accept."""
MAX_NOTE_BYTES = 1 << 20

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
"""Characters that no note holds: the control characters below the space but the newline."""

_MARK = "— "


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line."""

    name: str
    key_id: bytes
    """First four bytes, by which a verifier finds the key."""
    signature: bytes

    def line(self) -> str:
        """The line as it stands in a note, without its newline."""
        return f"{_MARK}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}"


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A text and who signed it."""

    text: str
    """Ends in a newline, which is signed too."""
    signatures: tuple[NoteSignature, ...]

    def encode(self) -> str:
        """The note as text; :meth:`parse` gives it back."""
        return f"{self.text}\n" + "".join(f"{signature.line()}\n" for signature in self.signatures)

    @classmethod
    def parse(cls, note: str) -> SignedNote:
        """The note that ``note`` spells.

        Raises:
            NoteError: it is not of the form; the message says where.
        """
        if len(note.encode("utf-8", "surrogatepass")) > MAX_NOTE_BYTES:
            raise NoteError(f"a note has at most {MAX_NOTE_BYTES} bytes")
        if CONTROL.search(note) is not None:
            raise NoteError("a note holds no control character but the newline; this is another kind of file")
        text, blank, signed = note.rpartition("\n\n")
        if not blank or not signed.endswith("\n"):
            raise NoteError("a signed note is text, a blank line, and signature lines that end in a newline")
        lines = signed[:-1].split("\n")
        if len(lines) > MAX_SIGNATURES:
            raise NoteError(f"a note of {len(lines)} signatures; at most {MAX_SIGNATURES} are read")
        return cls(f"{text}\n", tuple(_signature(line) for line in lines))

    def require(self, trusted: Iterable[VerifierKey]) -> tuple[VerifierKey, ...]:
        """The keys of ``trusted`` that signed the note, at least one.

        Raises:
            SignatureError: a trusted key's signature does not verify, or none of them signed it.
        """
        keys = {(key.name, key.key_id): key for key in trusted}
        signers: list[VerifierKey] = []
        for signature in self.signatures:
            key = keys.get((signature.name, signature.key_id))
            if key is None:
                continue
            key.verify(self.text.encode(), signature.signature)
            signers.append(key)
        if not signers:
            by = ", ".join(f"{each.name}+{each.key_id.hex()}" for each in self.signatures)
            known = ", ".join(f"{name}+{key_id.hex()}" for name, key_id in keys) or "none"
            raise SignatureError(f"no trusted key signed the note: it is signed by {by}, trusted are {known}")
        return tuple(signers)


def check_name(name: str) -> str:
    """``name`` itself, if it may name a key; raises :class:`NoteError` naming it otherwise."""
    if not name or "+" in name or any(char.isspace() or char < " " for char in name):
        raise NoteError(f"{name!r} names no key: a name is not empty and holds neither space nor '+'")
    return name


def decode_base64(text: str, what: str) -> bytes:
    """The bytes of standard base64 with padding; raises :class:`NoteError` naming ``what`` otherwise."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteError(f"{what} {text[:80]!r} is no base64") from None
    # Unused bits of the last character would spell the same bytes another way.
    if base64.b64encode(data).decode() != text:
        raise NoteError(f"{what} {text[:80]!r} is not the one base64 spelling of its bytes")
    return data


def _signature(line: str) -> NoteSignature:
    mark, name, encoded = line[: len(_MARK)], *line[len(_MARK) :].partition(" ")[::2]
    if mark != _MARK or not encoded:
        raise NoteError(f"{line[:80]!r} is no signature line: it begins with an em dash, a space, a name and a space")
    data = decode_base64(encoded, f"the signature of {name}")
    if len(data) <= KEY_ID_BYTES:
        raise NoteError(f"the signature of {name} has {len(data)} bytes; it begins with a key id of {KEY_ID_BYTES}")
    return NoteSignature(check_name(name), data[:KEY_ID_BYTES], data[KEY_ID_BYTES:])
