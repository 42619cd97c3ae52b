"""Checkpoints of a ledger: made from its trees, kept apart from its log, and what they say against it later.

A note file holds the verifier keys that whoever keeps it trusts, one a line, and signed notes, oldest first. One lies in
every home (``checkpoints/<tenant>/<project>/notes``), apart from the ledgers' folders, so that a ledger that is emptied
or restored does not take it along. An *anchor* is such a file in another place, which whoever can write the home cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ledger_core.kernel.errors import NoteError, UnknownReferenceError, VerificationError
from ledger_core.kernel.statements import FAMILIES, LogFamily, Scope
from ledger_core.kernel.text import is_contract_id
from ledger_core.signing.bindings import bind_key
from ledger_core.signing.checkpoint import Checkpoint, origin_of
from ledger_core.signing.keys import SigningKey, VerifierKey
from ledger_core.signing.leaves import leaf_of
from ledger_core.signing.notes import SignedNote
from ledger_core.signing.proofs import ConsistencyProof, InclusionProof
from ledger_core.signing.tree import GrowingTree
from ledger_core.stores.files import FileLock, make_directories, storage_errors, write_whole
from ledger_core.stores.ledger import Ledger

_FOLDER = "checkpoints"
_FILE = "notes"
_SIGNING = "signing"
_KEY_FILE = "checkpoint.key"


def note_file(home: Path, scope: Scope) -> Path:
    """Where a home keeps the checkpoints of ``scope``."""
    return home / _FOLDER / scope.tenant_namespace / scope.project_namespace / _FILE


def key_file(home: Path) -> Path:
    """Where a home keeps the private key that signs its checkpoints."""
    return home / _SIGNING / _KEY_FILE


def checkpointed_scopes(home: Path) -> tuple[Scope, ...]:
    """Every scope that ``home`` holds checkpoints of, sorted: each had a ledger once."""
    places = sorted(file.parent for file in (home / _FOLDER).glob(f"*/*/{_FILE}"))
    return tuple(
        Scope.make(tenant_namespace=place.parent.name, project_namespace=place.name)
        for place in places
        if is_contract_id(place.parent.name) and is_contract_id(place.name)
    )


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint and the note that carries it."""

    checkpoint: Checkpoint
    note: SignedNote


@dataclass(frozen=True, slots=True)
class NoteBook:
    """The content of a note file."""

    keys: tuple[VerifierKey, ...] = ()
    checkpoints: tuple[SignedCheckpoint, ...] = ()
    """In the order of the file."""

    def of(self, scope: Scope) -> tuple[SignedCheckpoint, ...]:
        """The checkpoints of one ledger."""
        origins = {origin_of(scope, family) for family in FAMILIES}
        return tuple(each for each in self.checkpoints if each.checkpoint.origin in origins)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The ledgers that the file says something about, sorted."""
        subjects = {each.checkpoint.origin: each.checkpoint.subject for each in self.checkpoints}
        named = {subject[0] for subject in subjects.values() if subject is not None}
        return tuple(sorted(named, key=lambda scope: (scope.tenant_namespace, scope.project_namespace)))

    def latest(self, scope: Scope, family: LogFamily) -> SignedCheckpoint | None:
        """The last checkpoint of one tree."""
        origin = origin_of(scope, family)
        return next((each for each in reversed(self.checkpoints) if each.checkpoint.origin == origin), None)


def read_notes(path: Path) -> NoteBook:
    """The note file at ``path``; an empty one where there is none.

    Signatures are not checked here: :func:`~ledger_core.stores.verify.verify` says of each what is wrong with it.

    Raises:
        NoteError: something in it is neither a verifier key nor a signed checkpoint.
        StoreError: it cannot be read.
    """
    if not path.exists():
        return NoteBook()
    try:
        with storage_errors(path):
            text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NoteError(f"{path} is no note file: not UTF-8 ({error.reason})") from error
    if text and not text.endswith("\n"):
        raise NoteError(f"{path} is cut short: its last line has no end")
    keys: list[VerifierKey] = []
    checkpoints: list[SignedCheckpoint] = []
    for block in _blocks(text):
        try:
            if "\n\n" in block:
                note = SignedNote.parse(block)
                checkpoints.append(SignedCheckpoint(Checkpoint.parse(note.text), note))
            else:
                keys.append(VerifierKey.parse(block.removesuffix("\n")))
        except NoteError as error:
            raise NoteError(f"{path}: {error}") from error
    return NoteBook(tuple(keys), tuple(checkpoints))


def _blocks(text: str) -> list[str]:
    """Single lines, and signed checkpoints: three lines, a blank one, signature lines."""
    blocks: list[str] = []
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    at = 0
    while at < len(lines):
        start = at
        at += 1
        if lines[start + 3 : start + 4] == ["\n"]:
            at += 3
            while at < len(lines) and lines[at].startswith("— "):
                at += 1
        blocks.append("".join(lines[start:at]))
    return blocks


def add_notes(path: Path, notes: Iterable[SignedNote], key: VerifierKey) -> None:
    """Add ``notes`` that are not there yet, and ``key`` as one to trust, at the end of the file; durable on return.

    What stands in the file stays; it is replaced whole, so that a crash leaves the old file or the new one.

    Raises:
        NoteError: what stands there is no note file.
        StorageFullError: it cannot be written.
    """
    with storage_errors(path):
        make_directories(path.parent)
    with FileLock(path.with_name(f".{path.name}.lock")).held(), storage_errors(path):
        book = read_notes(path)
        known = {each.note for each in book.checkpoints}
        added = "" if key in book.keys else f"{key}\n"
        added += "".join(note.encode() for note in notes if note not in known)
        if not added:
            return
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        write_whole(path, (before + added).encode())


class LedgerTrees:
    """The two trees of a ledger, read from its log as far as it goes."""

    def __init__(self, ledger: Ledger) -> None:
        """Read everything; :meth:`refresh` reads on."""
        self._ledger = ledger
        self._trees: dict[LogFamily, GrowingTree] = {family: GrowingTree() for family in FAMILIES}
        self.refresh()

    def refresh(self) -> None:
        """Take in what was appended since."""
        for family, tree in self._trees.items():
            for event in self._ledger.events(family, len(tree)):
                tree.append(leaf_of(event).hashed())

    def size(self, family: LogFamily) -> int:
        """Leaves of the tree of ``family``."""
        return len(self._trees[family])

    def checkpoint(self, family: LogFamily, size: int | None = None) -> Checkpoint:
        """The tree of ``family`` at ``size``, now by default; raises :class:`MerkleError` for size 0."""
        tree = self._trees[family]
        at = len(tree) if size is None else size
        return Checkpoint(origin_of(self._ledger.scope, family), at, tree.root(at))

    def holds(self, checkpoint: Checkpoint) -> bool:
        """Whether the tree of the checkpoint's log begins with what it pins."""
        subject = checkpoint.subject
        if subject is None or subject[0] != self._ledger.scope:
            return False
        tree = self._trees[subject[1]]
        return checkpoint.size <= len(tree) and tree.root(checkpoint.size) == checkpoint.root

    def prove_inclusion(self, event_id: str, note: SignedNote) -> InclusionProof:
        """That an event stands in the log that the checkpoint in ``note`` pins.

        Raises:
            UnknownReferenceError: there is no such event, or it was appended after the checkpoint.
            VerificationError: the checkpoint is not of this log.
        """
        event = self._ledger.event(event_id)
        leaf, checkpoint = leaf_of(event), Checkpoint.parse(note.text)
        if not self.holds(checkpoint) or checkpoint.origin != origin_of(self._ledger.scope, event.family):
            raise VerificationError(f"{checkpoint.origin} at size {checkpoint.size} is no checkpoint of this log")
        if leaf.index >= checkpoint.size:
            raise UnknownReferenceError(
                f"event {event_id} stands at {event.offset}, the checkpoint ends at {checkpoint.size}; "
                "make a newer one with `veritas checkpoint`"
            )
        path = self._trees[event.family].inclusion(leaf.index, checkpoint.size)
        return InclusionProof(leaf, leaf.index, path, note)

    def prove_consistency(self, older: SignedNote, newer: SignedNote) -> ConsistencyProof:
        """That the log of ``newer`` begins with that of ``older``.

        Raises:
            VerificationError: one of them is not of this log, or the first is the newer.
        """
        first, second = Checkpoint.parse(older.text), Checkpoint.parse(newer.text)
        for checkpoint in (first, second):
            if not self.holds(checkpoint):
                raise VerificationError(f"{checkpoint.origin} at size {checkpoint.size} is no checkpoint of this log")
        subject = second.subject
        if subject is None or first.origin != second.origin or first.size > second.size:
            raise VerificationError(
                f"{second.origin} at size {second.size} extends nothing of {first.origin} at size {first.size}"
            )
        return ConsistencyProof(self._trees[subject[1]].consistency(first.size, second.size), older, newer)


def make_checkpoint(
    ledger: Ledger, key: SigningKey, files: Sequence[Path], trees: LedgerTrees | None = None, *, bind: bool = True
) -> tuple[SignedCheckpoint, ...]:
    """Sign both trees as they stand, and add the notes to every one of ``files``.

    With ``bind`` the log first says that ``key`` signs for it; without, nothing is appended, and equal ledgers stay equal
    whoever signs them. Whether the ledger verifies is the caller's to know: a signature says that the log is this one, not
    that it is right. The same ledger gives the same notes, and what a file holds already is not added again. ``trees``
    saves reading the log again.

    Raises:
        VerificationError: one of ``files`` holds a checkpoint that this log does not begin with; nothing is signed.
        MerkleError: the evidence log is empty.
        NoteError, StorageFullError: a file is no note file, or cannot be written.
    """
    if bind:
        ledger.append((bind_key(ledger.scope, key.verifier),), role="operator")
    if trees is None:
        trees = LedgerTrees(ledger)
    else:
        trees.refresh()
    for path in files:
        for earlier in read_notes(path).of(ledger.scope):
            if not trees.holds(earlier.checkpoint):
                raise VerificationError(
                    f"{path} holds checkpoint {earlier.checkpoint.origin} at size {earlier.checkpoint.size}, "
                    "which this log does not begin with: it was cut off or rewritten; `veritas verify` says where"
                )
    made = tuple(
        SignedCheckpoint(checkpoint, key.sign(checkpoint.text))
        for checkpoint in (trees.checkpoint(family) for family in FAMILIES)
    )
    for path in files:
        add_notes(path, [each.note for each in made], key.verifier)
    return made
