"""Does a ledger still say what was written to it? Walks everything and names the first divergence.

The walk recomputes, for each event in order: its offset and position, the decoding gate, the event id, the receipt, the
chain link, and the rules of appending over what came before; then the ends of the logs, what was kept of them
(checkpoints, proofs, append receipts), the store's own indexes, every blob, and the receipts of conclusions against the
fold. What lies after the last checkpoint that somebody else keeps can still be cut off unseen by whoever owns the file.
"""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from ledger_core.belief.columns import Columns, Read
from ledger_core.belief.log_fold import LogFold
from ledger_core.belief.receipts import ReceiptMismatch, check_receipts
from ledger_core.kernel import digests, log
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
from ledger_core.kernel.log import ReceiptOutline, position_bytes, receipt_outline
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import LogFamily, Statement, content_refs, family_of
from ledger_core.kernel.statements.control import LedgerGenesis, PolicyActivated
from ledger_core.kernel.statements.outline import Outline, outline
from ledger_core.kernel.statements.verdicts import VerdictFiled
from ledger_core.kernel.types import EventId
from ledger_core.signing.bindings import bound_keys
from ledger_core.stores.cited import Cited
from ledger_core.stores.divergence import Divergence, DivergenceKind
from ledger_core.stores.kept import Kept, TreeWatch
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import IndexedRow, StoredEvent
from ledger_core.stores.rows import number, stored
from ledger_core.stores.rules import SHARD, check_rules
from ledger_core.stores.walked import Walked

__all__ = ["Divergence", "DivergenceKind", "VerificationReport", "verify"]


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
    ledger: Ledger, *, kept: Sequence[Kept] = (), content: bool = True, belief: LogFold | None = None
) -> VerificationReport:
    """Walk ``ledger``; never raises for what is wrong with it.

    ``kept`` is what was kept of the ledger, for it to agree with; without ``content`` the blobs are left out, for a ledger
    that came without them. ``belief``, empty so far, takes in every evidence statement that passed, so that whoever folds
    a verified ledger reads it once; where the report names a divergence, what it then believes counts for nothing.
    """
    cited = Cited(ledger) if content else None
    walk = _Walk(ledger, TreeWatch(ledger.scope, kept), belief, cited)
    try:
        divergence = walk.divergence()
        if cited is not None:
            cited.settle()
    finally:
        if cited is not None:
            cited.close()
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


class _Receipt(NamedTuple):
    """The receipt that was read last."""

    encoded: bytes
    outline: ReceiptOutline | None
    digest: bytes

    @classmethod
    def of(cls, encoded: bytes) -> _Receipt:
        return cls(encoded, receipt_outline(encoded), digests.domain(Prefix.APPEND_RECEIPT, encoded))

    def link(self, previous: str, position: bytes, event_id: bytes) -> str:
        """The chain digest of an event with this receipt, at a position in canonical bytes."""
        return log.chain_link(unhexlify(previous), position, event_id, self.digest).hex()


class _Walk:
    def __init__(self, ledger: Ledger, watch: TreeWatch, belief: LogFold | None, cited: Cited | None) -> None:
        self._ledger = ledger
        self._watch = watch
        # Nobody who only verifies keeps judgements.
        self._columns = Columns() if belief is None else belief.columns
        self._take: Callable[[Read], object] = self._columns.add if belief is None else belief.take
        self._scope = ledger.scope.canonical_bytes()
        self._walked = Walked(ledger.store.event, self._columns)
        self._cited = cited
        self._policies: list[str] = []
        self._receipt = _Receipt.of(b"")
        self._genesis: StoredEvent | None = None
        self._epoch = ""
        self.heads: dict[LogFamily, str] = {}
        self.events = 0
        self._compared = True
        """Whether the index columns of every row said what its statement says."""
        self._mismatches: Sequence[ReceiptMismatch] = ()
        self._incomparable: LedgerError | None = None

    def divergence(self) -> Divergence | None:
        """Walk everything; the first thing that is wrong."""
        try:
            for part in (self.control, self.evidence, self.kept, self.index, self.content, self.conclusions):
                part()
        except _DivergedError as found:
            return found.divergence
        return None

    @property
    def blobs(self) -> int:
        return 0 if self._cited is None else self._cited.present

    @property
    def erased(self) -> int:
        return 0 if self._cited is None else self._cited.erased

    def control(self) -> None:
        row = next(self._read("control"), None)
        if row is None:
            _diverge(DivergenceKind.GENESIS, "control", 1, None, "the control log is empty")
        first = stored(row)
        statement = self._decode(first)
        if not isinstance(statement, LedgerGenesis) or statement.scope != self._ledger.scope:
            detail = f"the first control event is no genesis of this scope but a `{statement.kind}`"
            _diverge(DivergenceKind.GENESIS, "control", first.offset, first.event_id, detail)
        self._genesis = first
        self._epoch = log.epoch_id(statement.scope, statement.body.shard_count, statement.body.partition_seed)
        for _ in self._family("control"):
            pass

    def evidence(self) -> None:
        """Walk the evidence log and recompute its conclusions meanwhile, so that nothing is read twice for it."""
        walk = self._family("evidence")
        try:
            self._mismatches = check_receipts(walk, self._policy_of, self._reach_of)
        except LedgerError as error:
            self._incomparable = error
        for _ in walk:
            pass

    def _reach_of(self, verdict: VerdictFiled) -> Sequence[Statement]:
        return self._columns.around(verdict, self._ledger.statement)

    def _policy_of(self, verdict: EventId) -> Policy:
        """The policy that was in force when ``verdict`` was filed."""
        filed = self._walked.event(verdict)
        in_force = None if filed is None else self._walked.event(str(filed.receipt.policy_head))
        if in_force is None or not isinstance(in_force.statement, PolicyActivated):
            raise PolicyError(f"verdict {verdict} was filed while no policy was in force")
        return in_force.statement.body.policy

    def _family(self, family: LogFamily) -> Iterator[Read]:
        """The statements of ``family``, each after it passed; at the end, the end of the log."""
        assert self._genesis is not None, "the control log is walked first"
        # The id is recomputed: the stored one is what is being checked.
        genesis_id = digests.domain_hex(Prefix.ACCEPTED_EVENT, self._genesis.encoded)
        link = _Link(chain=log.genesis_chain(genesis_id, self._epoch, family, SHARD))
        for row in self._read(family):
            read = self._step(family, link, row)
            self.events += 1
            yield read
        self.heads[family] = link.chain
        try:
            recorded, count = self._ledger.head(family), self._ledger.count(family)
        except LedgerError as error:
            _diverge(DivergenceKind.HEAD, family, link.offset + 1, None, str(error))
        if (recorded, count) != (link.chain, link.offset):
            detail = f"the log ends at {link.offset} with {link.chain}, recorded are {count} events and {recorded}"
            _diverge(DivergenceKind.HEAD, family, link.offset + 1, None, detail)

    def _read(self, family: LogFamily) -> Iterator[IndexedRow]:
        last = 0
        try:
            for page in self._ledger.store.pages(family):
                yield from page
                last = number(page[-1][2])
        except StoreError as error:
            _diverge(DivergenceKind.UNREADABLE, family, last + 1, None, str(error))

    def _decode(self, event: StoredEvent) -> Statement:
        try:
            return event.statement
        except StatementError as error:
            _diverge(DivergenceKind.STATEMENT, event.family, event.offset, event.event_id, str(error))

    def _step(self, family: LogFamily, link: _Link, row: IndexedRow) -> Read:
        """Check the next event and remember it: by its outline where that leaves no question, else as a whole."""
        read = self._soundly_outlined(link, row) if family == "evidence" else None
        if self._watch.idle and read is not None:
            self._take(read)
            if self._cited is not None:
                self._cited.see(row, read.content)
            link.chain, link.offset = row[7], row[2]
            return read
        event = stored(row)
        return self._remember(family, link, row, event, self._whole(family, link, event) if read is None else read)

    def _remember(self, family: LogFamily, link: _Link, row: IndexedRow, event: StoredEvent, read: Read) -> Read:
        """Let everybody who keeps something of the log see an event that passed."""
        self._watch.see(event)
        if isinstance(read, Outline):
            content: Iterable[bytes] = read.content
        else:
            content = (ref.canonical_bytes() for ref in content_refs(read))
            self._compared = self._compared and row[8:] == (read.kind, read.source_fact_id)
            if self._cited is not None:
                self._cited.announce(read)
            if family == "evidence":
                self._walked.note_fact(unhexlify(read.source_fact_id))
            else:
                self._walked.add_control(event)
        if family == "evidence":
            self._take(read)
        if self._cited is not None:
            self._cited.see(row, content)
        link.chain, link.offset = event.chain, event.offset
        return read

    def _soundly_outlined(self, link: _Link, row: IndexedRow) -> Outline | None:
        """The outline of an event with which nothing can be wrong; None where that takes more than a look to say."""
        event_id, _, offset, epoch, shard, encoded, receipt_bytes, chain, kind, fact = row
        if not (type(offset) is type(shard) is int and type(encoded) is type(receipt_bytes) is bytes):
            return None  # a damaged file's columns do not keep to their declared types
        if self._receipt.encoded != receipt_bytes:  # events of one append share theirs
            self._receipt = _Receipt.of(receipt_bytes)
        read, receipt = outline(encoded), self._receipt.outline
        if read is None or receipt is None:
            return None
        sound = (
            offset == link.offset + 1
            and epoch == self._epoch
            and shard == SHARD
            and read.event_id.hex() == event_id
            and receipt.recorded_at == max(receipt.received_at, link.recorded_at)
            and link.policies_seen > 0
            and receipt.policy_head == self._policies[link.policies_seen - 1]
            and read.scope == self._scope
            and self._receipt.link(link.chain, position_bytes(offset, epoch, shard), read.event_id) == chain
            and self._walked.admit(read)
        )
        if not sound:
            return None
        link.recorded_at = receipt.recorded_at
        if kind != read.kind or fact != read.source_fact_id.hex():
            self._compared = False
        return read

    def _whole(self, family: LogFamily, link: _Link, event: StoredEvent) -> Statement:
        """Check everything about an event, in the order in which what is wrong is named."""

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
        link.recorded_at = event.receipt.recorded_at
        return statement

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
            for family, offset, detail in self._ledger.store.index_errors(compared=self._compared):
                _diverge(DivergenceKind.INDEX, family, offset, None, detail)
        except StoreError as error:
            _diverge(DivergenceKind.UNREADABLE, "control", None, None, str(error))

    def content(self) -> None:
        """Every blob that any statement cites."""
        if self._cited is None:
            return
        self._cited.settle()
        found = self._cited.divergence()
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


def _diverge(
    kind: DivergenceKind, family: LogFamily, offset: int | None, event_id: str | None, detail: str
) -> NoReturn:
    raise _DivergedError(Divergence(kind, family, offset, event_id, detail))
