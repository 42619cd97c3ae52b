"""Proofs as files: each carries the signed checkpoints it speaks about and verifies against trusted keys alone.

Inclusion is a C2SP tlog-proof whose extra data is the leaf. Consistency, for which there is no such format, follows it:

    c2sp.org/tlog-proof@v1          veritas/consistency-proof@v1
    extra <base64 of the leaf>      <base64 of a hash, from the leaves to the root>
    index <from 0>                  …
    <base64 of a hash>
    …                               <older checkpoint, a signed note>

    <checkpoint, a signed note>     <newer checkpoint, a signed note>
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ledger_core.kernel import merkle
from ledger_core.kernel.errors import MerkleError, NoteError
from ledger_core.signing.checkpoint import Checkpoint
from ledger_core.signing.keys import VerifierKey
from ledger_core.signing.leaves import Leaf
from ledger_core.signing.notes import SignedNote, decode_base64

INCLUSION = "c2sp.org/tlog-proof@v1"
CONSISTENCY = "veritas/consistency-proof@v1"

_INDEX = re.compile(r"index (0|[1-9][0-9]{0,19})")
_MAX_HASHES = 64
"""A tree of 2⁶⁴ leaves has no longer audit path."""


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """That an event stands in the log that a checkpoint pins."""

    leaf: Leaf
    index: int
    """From 0; the leaf's own position must say the same."""
    path: tuple[bytes, ...]
    checkpoint: SignedNote

    def encode(self) -> str:
        """The proof as a file."""
        head = f"{INCLUSION}\nextra {base64.b64encode(self.leaf.canonical_bytes()).decode()}\nindex {self.index}\n"
        return f"{head}{_hashes(self.path)}\n{self.checkpoint.encode()}"

    @classmethod
    def parse(cls, text: str) -> InclusionProof:
        """The proof in a file; raises :class:`NoteError` or :class:`StatementError` where it is none."""
        head, _, note = text.partition("\n\n")
        lines = head.split("\n")
        if lines[0] != INCLUSION:
            raise NoteError(f"an inclusion proof begins with {INCLUSION!r}, not {lines[0][:80]!r}")
        if len(lines) < 3 or not lines[1].startswith("extra "):  # noqa: PLR2004 - header, extra, index
            raise NoteError("an inclusion proof of ours carries its leaf in a line `extra`, then a line `index`")
        index = _INDEX.fullmatch(lines[2])
        if index is None:
            raise NoteError(f"{lines[2][:80]!r} is no line `index` with a number from 0")
        leaf = Leaf.decode(decode_base64(lines[1].removeprefix("extra "), "the leaf"))
        return cls(leaf, int(index[1]), _path(lines[3:]), _checkpoint(note))

    def require(self, trusted: Iterable[VerifierKey]) -> Checkpoint:
        """The checkpoint that a trusted key signed and that holds the leaf at its index.

        Raises:
            SignatureError: no trusted key signed the checkpoint.
            MerkleError: the path does not lead to its root.
            NoteError: the checkpoint is of another log than the leaf.
        """
        self.checkpoint.require(trusted)
        checkpoint = Checkpoint.parse(self.checkpoint.text)
        if self.index != self.leaf.index:
            raise MerkleError(f"the leaf stands at index {self.leaf.index}, the proof is of index {self.index}")
        if not checkpoint.origin.endswith(f"/{self.leaf.family}"):
            raise NoteError(f"checkpoint {checkpoint.origin} is not of the {self.leaf.family} log")
        merkle.verify_inclusion(
            leaf=self.leaf.hashed(), index=self.index, size=checkpoint.size, proof=self.path, root=checkpoint.root
        )
        return checkpoint


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """That the log of a newer checkpoint begins with the whole log of an older one."""

    path: tuple[bytes, ...]
    older: SignedNote
    newer: SignedNote

    def encode(self) -> str:
        """The proof as a file."""
        return f"{CONSISTENCY}\n{_hashes(self.path)}\n{self.older.encode()}\n{self.newer.encode()}"

    @classmethod
    def parse(cls, text: str) -> ConsistencyProof:
        """The proof in a file; raises :class:`NoteError` where it is none."""
        parts = text.split("\n\n")
        lines = parts[0].split("\n")
        if lines[0] != CONSISTENCY:
            raise NoteError(f"a consistency proof begins with {CONSISTENCY!r}, not {lines[0][:80]!r}")
        if len(parts) != 5:  # noqa: PLR2004 - head, two texts, two blocks of signatures
            raise NoteError("a consistency proof holds two signed checkpoints, the older one first")
        older, newer = f"{parts[1]}\n\n{parts[2]}\n", f"{parts[3]}\n\n{parts[4]}"
        return cls(_path(lines[1:]), _checkpoint(older), _checkpoint(newer))

    def require(self, trusted: Sequence[VerifierKey]) -> tuple[Checkpoint, Checkpoint]:
        """The older and the newer checkpoint, both signed by trusted keys, the newer an extension of the older.

        Raises:
            SignatureError: no trusted key signed one of them.
            MerkleError: the path does not lead from one root to the other.
            NoteError: they are of different logs.
        """
        self.older.require(trusted)
        self.newer.require(trusted)
        older, newer = Checkpoint.parse(self.older.text), Checkpoint.parse(self.newer.text)
        if older.origin != newer.origin:
            raise NoteError(f"checkpoints of two logs: {older.origin} and {newer.origin}")
        merkle.verify_consistency(
            first=older.size, second=newer.size, first_root=older.root, second_root=newer.root, proof=self.path
        )
        return older, newer


def _checkpoint(text: str) -> SignedNote:
    """A note whose text is a checkpoint; raises :class:`NoteError` for any other."""
    note = SignedNote.parse(text)
    Checkpoint.parse(note.text)
    return note


def _hashes(path: Iterable[bytes]) -> str:
    return "".join(f"{base64.b64encode(hashed).decode()}\n" for hashed in path)


def _path(lines: Sequence[str]) -> tuple[bytes, ...]:
    if len(lines) > _MAX_HASHES:
        raise NoteError(f"a proof of {len(lines)} hashes; no tree has more than {_MAX_HASHES} on a path")
    return tuple(decode_base64(line, "a hash of the proof") for line in lines)
