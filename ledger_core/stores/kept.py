"""What somebody kept of a ledger, against the ledger as it is now: checkpoints, proofs and append receipts.

A chain proves that a log is what its head says; only something from outside can say that it was once another. A tree is
watched while the log is walked, in logarithmic memory: its root at every size that a checkpoint names, and the leaf at
every place that a proof or receipt names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ledger_core.kernel.errors import LedgerError, NoteError, SignatureError
from ledger_core.kernel.merkle import node_hash
from ledger_core.kernel.statements import FAMILIES, LogFamily, Scope
from ledger_core.signing.checkpoint import Checkpoint
from ledger_core.signing.keys import VerifierKey
from ledger_core.signing.leaves import Leaf, leaf_of
from ledger_core.signing.notes import SignedNote
from ledger_core.signing.proofs import CONSISTENCY, INCLUSION, ConsistencyProof, InclusionProof
from ledger_core.signing.receipts import RECEIPT, check_receipt
from ledger_core.stores.checkpoints import NoteBook, SignedCheckpoint, read_notes
from ledger_core.stores.divergence import Divergence, DivergenceKind
from ledger_core.stores.protocols import StoredEvent

Proof = InclusionProof | ConsistencyProof | SignedNote
"""An inclusion proof, a consistency proof, or an append receipt."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One file that somebody kept."""

    source: str
    """Where it lies, for messages."""
    book: NoteBook = field(default_factory=NoteBook)
    """Its keys are trusted, for whoever keeps the file put them there."""
    proofs: tuple[Proof, ...] = ()


def read_kept(path: Path) -> Kept:
    """An anchor, a proof or an append receipt, told apart by its first line.

    Raises:
        NoteError, StatementError: it is none of these, or not there.
    """
    if not path.is_file():
        raise NoteError(f"{path} is no file; name an anchor, a proof or an append receipt")
    text = path.read_text(encoding="utf-8", errors="replace")
    first = text.partition("\n")[0]
    if first == INCLUSION:
        return Kept(str(path), proofs=(InclusionProof.parse(text),))
    if first == CONSISTENCY:
        return Kept(str(path), proofs=(ConsistencyProof.parse(text),))
    if first == RECEIPT:
        return Kept(str(path), proofs=(SignedNote.parse(text),))
    book = read_notes(path)
    if not book.checkpoints:
        raise NoteError(f"{path} holds no checkpoint, proof or receipt")
    return Kept(str(path), book)


class TreeWatch:
    """The trees of a log that is being walked, as far as ``kept`` asks about them."""

    def __init__(self, scope: Scope, kept: Sequence[Kept]) -> None:
        self._scope = scope
        self._kept = kept
        self._peaks: dict[LogFamily, list[tuple[int, bytes]]] = {family: [] for family in FAMILIES}
        self._count: dict[LogFamily, int] = dict.fromkeys(FAMILIES, 0)
        self._roots: dict[tuple[LogFamily, int], bytes | None] = {}
        self._leaves: dict[tuple[LogFamily, int], Leaf | None] = {}
        for checkpoint, _ in self._checkpoints():
            subject = checkpoint.checkpoint.subject
            if subject is not None:
                self._roots[subject[1], checkpoint.checkpoint.size] = None
        for each in kept:
            for proof in each.proofs:
                leaf = _leaf_in(proof)
                if leaf is not None:
                    self._leaves[leaf.family, leaf.index] = None
        self._epoch: str | None = None
        self.idle = not (self._roots or self._leaves)
        """Whether nothing is asked about, so that no event has to be seen."""

    def see(self, event: StoredEvent) -> None:
        """Take in the next event of its family, whose chain has been checked."""
        if self.idle:
            return
        family, leaf = event.family, leaf_of(event)
        self._epoch = leaf.position.epoch_id
        at = self._count[family]
        if (family, at) in self._leaves:
            self._leaves[family, at] = leaf
        level, hashed, peaks = 0, leaf.hashed(), self._peaks[family]
        while peaks and peaks[-1][0] == level:
            hashed = node_hash(peaks.pop()[1], hashed)
            level += 1
        peaks.append((level, hashed))
        self._count[family] = at + 1
        if (family, at + 1) in self._roots:
            root = peaks[-1][1]
            for _, peak in reversed(peaks[:-1]):
                root = node_hash(peak, root)
            self._roots[family, at + 1] = root

    def findings(self, bound: Iterable[VerifierKey]) -> Iterator[Divergence]:
        """What is wrong, signatures first, then in the order of the log; ``bound`` are the keys that the log binds."""
        trusted = tuple({key for each in self._kept for key in each.book.keys} | {*bound})
        leaves: list[tuple[Leaf, str]] = []
        for each in self._kept:
            yield from self._signed(each)
            for proof in each.proofs:
                try:
                    leaf = _require(proof, trusted)
                except SignatureError as error:
                    yield _found(DivergenceKind.SIGNATURE, "evidence", None, f"{each.source}: {error}")
                except LedgerError as error:
                    yield _found(DivergenceKind.PROOF, "evidence", None, f"{each.source}: {error}")
                else:
                    yield from self._foreign(proof, leaf, each.source)
                    if leaf is not None:
                        leaves.append((leaf, each.source))
        for family in FAMILIES:
            yield from self._compared(family, [pair for pair in leaves if pair[0].family == family])

    def _signed(self, kept: Kept) -> Iterator[Divergence]:
        for each in kept.book.of(self._scope):
            try:
                each.note.require(kept.book.keys)
            except SignatureError as error:
                _, family = each.checkpoint.subject or (self._scope, FAMILIES[0])
                yield _found(DivergenceKind.SIGNATURE, family, None, f"{kept.source}: {error}")

    def _foreign(self, proof: Proof, leaf: Leaf | None, source: str) -> Iterator[Divergence]:
        """A sound proof about another ledger proves nothing about this one."""
        for note in _notes_in(proof):
            checkpoint = Checkpoint.parse(note.text)
            if checkpoint.subject is None or checkpoint.subject[0] != self._scope:
                detail = f"{source} is about {checkpoint.origin}, which is no log of this ledger"
                yield _found(DivergenceKind.CHECKPOINT, "evidence", None, detail)
        if leaf is not None and self._epoch not in (None, leaf.position.epoch_id):
            detail = f"{source} is about epoch {leaf.position.epoch_id}, this ledger's is {self._epoch}"
            yield _found(DivergenceKind.CHECKPOINT, leaf.family, None, detail)

    def _compared(self, family: LogFamily, leaves: Sequence[tuple[Leaf, str]]) -> Iterator[Divergence]:
        """The first departure of one family: single events first, for they say exactly where."""
        count = self._count[family]
        ordered = sorted(leaves, key=lambda pair: pair[0].index)
        for leaf, source in ordered:
            now = self._leaves[family, leaf.index]
            if now is not None and now != leaf:
                detail = f"{source} holds event {leaf.event_id} with chain {leaf.chain}, the log {now.chain}"
                yield Divergence(DivergenceKind.FORKED, family, leaf.index + 1, now.event_id, detail)
        agreed = 0
        mine = [pair for pair in self._checkpoints() if pair[0].checkpoint.subject == (self._scope, family)]
        for each, source in sorted(mine, key=lambda pair: pair[0].checkpoint.size):
            checkpoint, root = each.checkpoint, self._roots[family, each.checkpoint.size]
            if root is None:
                detail = f"{source} pins {checkpoint.size} events, the log ends at {count}"
                yield _found(DivergenceKind.TRUNCATED, family, count + 1, detail)
            elif root != checkpoint.root:
                detail = (
                    f"events {agreed + 1} to {checkpoint.size} are not those that {source} pins "
                    f"(root {checkpoint.root.hex()} kept, {root.hex()} now)"
                )
                yield _found(DivergenceKind.FORKED, family, agreed + 1, detail)
            else:
                agreed = checkpoint.size
        for leaf, source in ordered:
            if leaf.index >= count:
                detail = f"{source} holds event {leaf.event_id} at {leaf.index + 1}, the log ends at {count}"
                yield _found(DivergenceKind.TRUNCATED, family, count + 1, detail)

    def _checkpoints(self) -> Iterator[tuple[SignedCheckpoint, str]]:
        for each in self._kept:
            for signed in each.book.of(self._scope):
                yield signed, each.source
            for proof in each.proofs:
                for note in _notes_in(proof):
                    yield SignedCheckpoint(Checkpoint.parse(note.text), note), each.source


def _notes_in(proof: Proof) -> tuple[SignedNote, ...]:
    if isinstance(proof, InclusionProof):
        return (proof.checkpoint,)
    return (proof.older, proof.newer) if isinstance(proof, ConsistencyProof) else ()


def _leaf_in(proof: Proof) -> Leaf | None:
    """The leaf that a proof or receipt is about, unchecked; None where there is none, or none that can be read."""
    if isinstance(proof, InclusionProof):
        return proof.leaf
    if isinstance(proof, ConsistencyProof):
        return None
    try:
        return Leaf.decode(proof.text.partition("\n")[2].removesuffix("\n").encode())
    except LedgerError:
        return None


def _require(proof: Proof, trusted: Sequence[VerifierKey]) -> Leaf | None:
    """The leaf that ``proof`` proves, None for consistency; raises what is wrong with it."""
    if isinstance(proof, SignedNote):
        return check_receipt(proof, trusted)
    proof.require(trusted)
    return proof.leaf if isinstance(proof, InclusionProof) else None


def _found(kind: DivergenceKind, family: LogFamily, offset: int | None, detail: str) -> Divergence:
    return Divergence(kind, family, offset, None, detail)
