"""Does a ledger still say what was written to it? Walks everything and names the first divergence.

The walk recomputes, for each event in order: its offset and position, the decoding gate, the event id, the receipt, the
chain link, and the rules of appending over what came before; then the ends of the logs, what was kept of them
(checkpoints, proofs, append receipts), the store's own indexes, every blob, and the receipts of conclusions against the
fold. What lies after the last checkpoint that somebody else keeps can still be cut off unseen by whoever owns the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from ledger_core.belief.receipts import PolicyOf, ReceiptMismatch, check_receipts
from ledger_core.kernel import digests, log
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.errors import (
    AppendError,
    CollisionError,
    LedgerError,
    PolicyError,
    StatementError,
    StoreError,
    UnknownReferenceError,
    VerificationError,
)
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import LogFamily, Statement, content_refs, family_of
from ledger_core.kernel.statements.control import BlobErased, LedgerGenesis, PolicyActivated
from ledger_core.kernel.types import EventId
from ledger_core.signing.bindings import bound_keys
from ledger_core.stores.divergence import Divergence, DivergenceKind
from ledger_core.stores.kept import Kept, TreeWatch
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import BlobStatus, StoredEvent
from ledger_core.stores.rules import SHARD, check_rules
from ledger_core.stores.walked import Walked

__all__ = ["Divergence", "DivergenceKind", "ReceiptCheck", "VerificationReport", "verify"]

ReceiptCheck = Callable[[Iterable[Statement], PolicyOf], Sequence[ReceiptMismatch]]
"""Compares the evidence log's receipts of conclusions with those that the fold gives."""


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What a walk over the whole ledger found."""

    head: str | None
    """Evidence head as recomputed; None where the walk did not get that far."""
    control_head: str | None
    events: int
    """Events that were walked without divergence."""
    blobs: int
    """Distinct blobs that are present and correct."""
    erased: int
    """Distinct blobs that were erased on purpose."""
    first_divergence: Divergence | None

    def require(self) -> None:
        """Raise :class:`VerificationError` naming the first divergence, if there is one."""
        if self.first_divergence is not None:
            raise VerificationError(f"the ledger does not verify: {self.first_divergence}; restore a backup")


def verify(
    ledger: Ledger,
    *,
    check: ReceiptCheck | None = None,
    kept: Sequence[Kept] = (),
    content: bool = True,
    reader: Callable[[Statement], None] | None = None,
) -> VerificationReport:
    """Walk ``ledger``; never raises for what is wrong with it.

    ``check`` recomputes receipts of conclusions, as :func:`~ledger_core.belief.receipts.check_receipts` does where none
    is given; ``kept`` is what was kept of the ledger, for it to agree with; without ``content`` the blobs are left out,
    for a ledger that came without them. ``reader`` is shown every evidence statement that passed, in order, so that
    whoever folds a verified ledger need not decode it again.
    """
    walk = _Walk(ledger, TreeWatch(ledger.scope, kept), reader, content=content)
    divergence = None
    try:
        walk.control()
        walk.evidence(check or partial(check_receipts, fetch=ledger.statement))
        walk.kept()
        walk.index()
        walk.content()
        walk.conclusions()
    except _DivergedError as found:
        divergence = found.divergence
    return VerificationReport(
        head=walk.heads.get("evidence"),
        control_head=walk.heads.get("control"),
        events=walk.events,
        blobs=walk.blobs,
        erased=walk.erased,
        first_divergence=divergence,
    )


class _DivergedError(Exception):
    def __init__(self, divergence: Divergence) -> None:
        super().__init__(str(divergence))
        self.divergence = divergence


@dataclass(slots=True)
class _Link:
    """Where the walk stands in one family."""

    chain: str
    offset: int = 0
    recorded_at: str = ""
    policies_seen: int = 0


class _Walk:
    def __init__(
        self, ledger: Ledger, watch: TreeWatch, reader: Callable[[Statement], None] | None, *, content: bool
    ) -> None:
        self._ledger = ledger
        self._watch = watch
        self._reader = reader
        self._walked = Walked(ledger.store.event)
        self._cited = _Cited(ledger) if content else None
        self._policies: list[str] = []
        self._genesis: StoredEvent | None = None
        self._epoch = ""
        self.heads: dict[LogFamily, str] = {}
        self.events = 0
        self._mismatches: Sequence[ReceiptMismatch] = ()
        self._incomparable: LedgerError | None = None

    @property
    def blobs(self) -> int:
        return 0 if self._cited is None else self._cited.present

    @property
    def erased(self) -> int:
        return 0 if self._cited is None else self._cited.erased

    def control(self) -> None:
        first = next(self._read("control", 0), None)
        if first is None:
            _diverge(DivergenceKind.GENESIS, "control", 1, None, "the control log is empty")
        statement = self._decode(first)
        if not isinstance(statement, LedgerGenesis) or statement.scope != self._ledger.scope:
            detail = f"the first control event is no genesis of this scope but a `{statement.kind}`"
            _diverge(DivergenceKind.GENESIS, "control", first.offset, first.event_id, detail)
        self._genesis = first
        self._epoch = log.epoch_id(statement.scope, statement.body.shard_count, statement.body.partition_seed)
        for _ in self._family("control"):
            pass

    def evidence(self, check: ReceiptCheck) -> None:
        """Walk the evidence log while ``check`` recomputes its conclusions, so that nothing is decoded twice for it."""
        walk = self._family("evidence")
        try:
            self._mismatches = check(walk, self._policy_of)
        except LedgerError as error:
            self._incomparable = error
        for _ in walk:
            pass

    def _policy_of(self, verdict: EventId) -> Policy:
        """The policy that was in force when ``verdict`` was filed."""
        filed = self._walked.event(verdict)
        in_force = None if filed is None else self._walked.event(str(filed.receipt.policy_head))
        if in_force is None or not isinstance(in_force.statement, PolicyActivated):
            raise PolicyError(f"verdict {verdict} was filed while no policy was in force")
        return in_force.statement.body.policy

    def _family(self, family: LogFamily) -> Iterator[Statement]:
        """The statements of ``family``, each after it passed; at the end, the end of the log."""
        assert self._genesis is not None, "the control log is walked first"
        # The id is recomputed: the stored one is what is being checked.
        genesis_id = digests.domain_hex(Prefix.ACCEPTED_EVENT, self._genesis.encoded)
        link = _Link(chain=log.genesis_chain(genesis_id, self._epoch, family, SHARD))
        for event in self._read(family, 0):
            self._step(family, link, event)
            self.events += 1
            yield event.statement
        self.heads[family] = link.chain
        try:
            recorded, count = self._ledger.head(family), self._ledger.count(family)
        except LedgerError as error:
            _diverge(DivergenceKind.HEAD, family, link.offset + 1, None, str(error))
        if (recorded, count) != (link.chain, link.offset):
            detail = f"the log ends at {link.offset} with {link.chain}, recorded are {count} events and {recorded}"
            _diverge(DivergenceKind.HEAD, family, link.offset + 1, None, detail)

    def _read(self, family: LogFamily, after: int) -> Iterator[StoredEvent]:
        last = after
        try:
            for event in self._ledger.events(family, after):
                yield event
                last = event.offset
        except StoreError as error:
            _diverge(DivergenceKind.UNREADABLE, family, last + 1, None, str(error))

    def _decode(self, event: StoredEvent) -> Statement:
        try:
            return event.statement
        except StatementError as error:
            _diverge(DivergenceKind.STATEMENT, event.family, event.offset, event.event_id, str(error))

    def _step(self, family: LogFamily, link: _Link, event: StoredEvent) -> None:
        def fail(kind: DivergenceKind, detail: str) -> NoReturn:
            _diverge(kind, family, link.offset + 1, event.event_id, detail)

        if event.offset != link.offset + 1:
            fail(DivergenceKind.OFFSET, f"offset {link.offset + 1} is missing, the next event has {event.offset}")
        if (event.position.epoch_id, event.position.shard) != (self._epoch, SHARD):
            fail(DivergenceKind.POSITION, f"epoch {event.position.epoch_id}, shard {event.position.shard}")
        statement = self._decode(event)
        if statement.event_id != event.event_id:
            fail(DivergenceKind.EVENT_ID, f"the bytes have event id {statement.event_id}, stored is {event.event_id}")
        if family_of(statement.kind) != family:
            fail(DivergenceKind.FAMILY, f"`{statement.kind}` belongs to the other family")
        self._check_receipt(link, event, fail)
        chain = log.append_chain(link.chain, event.position, event.event_id, event.receipt_bytes)
        if chain != event.chain:
            fail(DivergenceKind.CHAIN, f"the chain gives {chain}, stored is {event.chain}")
        self._check_rules(statement, fail)
        if statement.kind == "policy.activated":
            self._policies.append(event.event_id)
        self._walked.add(event)
        self._watch.see(event)
        if self._cited is not None:
            self._cited.see(event)
        if self._reader is not None and family == "evidence":
            self._reader(statement)
        link.chain, link.offset, link.recorded_at = chain, event.offset, event.receipt.recorded_at

    def _check_receipt(self, link: _Link, event: StoredEvent, fail: Callable[[DivergenceKind, str], NoReturn]) -> None:
        try:
            receipt = event.receipt
        except StatementError as error:
            fail(DivergenceKind.RECEIPT, str(error))
        if receipt.recorded_at != max(receipt.received_at, link.recorded_at):
            fail(DivergenceKind.RECEIPT, f"recorded at {receipt.recorded_at}, the event before at {link.recorded_at}")
        if receipt.policy_head is None:
            seen = 0
        elif receipt.policy_head in self._policies:
            seen = self._policies.index(receipt.policy_head) + 1
        else:
            fail(DivergenceKind.RECEIPT, f"policy head {receipt.policy_head} is no policy that was in force")
        if seen < link.policies_seen or (event.family == "control" and seen != len(self._policies)):
            fail(DivergenceKind.RECEIPT, f"policy head {receipt.policy_head} was not in force any more")
        link.policies_seen = seen

    def _check_rules(self, statement: Statement, fail: Callable[[DivergenceKind, str], NoReturn]) -> None:
        try:
            check_rules(self._walked, statement, self._ledger.scope)
        except CollisionError as error:
            fail(DivergenceKind.FACT, str(error))
        except UnknownReferenceError as error:
            fail(DivergenceKind.REFERENCE, str(error))
        except AppendError as error:
            fail(DivergenceKind.RULE, str(error))
        except StoreError as error:
            fail(DivergenceKind.UNREADABLE, str(error))

    def kept(self) -> None:
        """What was kept of the ledger, against the logs as they are."""
        control = (event.statement for event in self._walked.control)
        for found in self._watch.findings(bound_keys(control)):
            raise _DivergedError(found)

    def index(self) -> None:
        """The store's own indexes against the statements."""
        try:
            for family, offset, detail in self._ledger.store.index_errors():
                _diverge(DivergenceKind.INDEX, family, offset, None, detail)
        except StoreError as error:
            _diverge(DivergenceKind.UNREADABLE, "control", None, None, str(error))

    def content(self) -> None:
        """Every blob that any statement cites."""
        found = None if self._cited is None else self._cited.divergence()
        if found is not None:
            raise _DivergedError(found)

    def conclusions(self) -> None:
        """What came of recomputing the receipts of conclusions."""
        if self._incomparable is not None:
            detail = f"conclusions cannot be recomputed: {self._incomparable}"
            _diverge(DivergenceKind.FOLD, "evidence", None, None, detail)
        for mismatch in self._mismatches:
            verdict = None if mismatch.verdict is None else self._walked.event(mismatch.verdict)
            _diverge(
                DivergenceKind.FOLD,
                "evidence",
                None if verdict is None else verdict.offset,
                mismatch.verdict,
                f"{len(mismatch.found)} receipts say {list(mismatch.found)}, the fold gives {list(mismatch.expected)}",
            )


@dataclass(frozen=True, slots=True)
class _Absence:
    """A blob that is not what an event cites, and what the store says of it."""

    family: LogFamily
    offset: int
    event_id: str
    ref: ContentRef
    status: BlobStatus

    def divergence(self) -> Divergence:
        kind = {
            BlobStatus.MISSING: DivergenceKind.BLOB_MISSING,
            BlobStatus.CORRUPT: DivergenceKind.BLOB_CORRUPT,
            BlobStatus.ERASED: DivergenceKind.BLOB_ERASED,
        }[self.status]
        detail = f"content {self.ref.digest} of {self.ref.byte_length} bytes ({self.ref.media_type})"
        return Divergence(kind, self.family, self.offset, self.event_id, detail)


class _Cited:
    """The content that walked events cite: looked at once, judged when all erasures are known."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen: set[bytes] = set()
        self._announced: set[str] = set()
        self._erased: list[_Absence] = []
        self._first_loss: _Absence | None = None
        self.present = 0

    @property
    def erased(self) -> int:
        """Distinct blobs that were erased on purpose, as far as is known."""
        return sum(absence.ref.digest in self._announced for absence in self._erased)

    def see(self, event: StoredEvent) -> None:
        """Look at what ``event`` cites for the first time."""
        statement = event.statement
        if isinstance(statement, BlobErased):
            self._announced.add(statement.body.content_digest)
        if self._first_loss is not None:
            return  # nothing that comes later can be the first divergence
        for ref in content_refs(statement):
            key = bytes.fromhex(ref.digest) + f"{ref.byte_length} {ref.media_type}".encode()
            if key in self._seen:
                continue
            self._seen.add(key)
            status = self._ledger.blob_status(ref)
            if status is BlobStatus.PRESENT:
                self.present += 1
                continue
            absence = _Absence(event.family, event.offset, event.event_id, ref, status)
            if status is BlobStatus.ERASED:
                self._erased.append(absence)
            else:
                self._first_loss = absence
                return

    def divergence(self) -> Divergence | None:
        """The first blob that is not what it must be."""
        unannounced = (absence for absence in self._erased if absence.ref.digest not in self._announced)
        first = next(unannounced, self._first_loss)
        return None if first is None else first.divergence()


def _diverge(
    kind: DivergenceKind, family: LogFamily, offset: int | None, event_id: str | None, detail: str
) -> NoReturn:
    raise _DivergedError(Divergence(kind, family, offset, event_id, detail))
