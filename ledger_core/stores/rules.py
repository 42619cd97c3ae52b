"""The rules of appending, stated once for every store.

A store opens a transaction, hands it to :func:`append_all` and commits; an exception means rollback. In order, for each
statement:

1. its bytes pass the decoding gate and its scope is the ledger's;
2. the same event id again is a replay: nothing happens;
3. the first statement of a ledger is its genesis, and there is one;
4. the same fact is fresh only if the lineage supersedes the current event of that fact, else it is a collision;
5. every reference names an earlier event (of the log or of this batch) of a kind that may stand there;
6. a policy succeeds the policy in force; a measurement is of a claim of its generation and lists exactly the ablatable
   entries of that generation's context;
7. its content is durable, or was erased on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from ledger_core.kernel import log
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import AppendError, CollisionError, StoreError, UnknownReferenceError
from ledger_core.kernel.log import Position, Receipt
from ledger_core.kernel.statements import (
    ENTRY_KINDS,
    FAMILIES,
    LogFamily,
    Scope,
    Statement,
    content_refs,
    decode_statement,
    family_of,
    references,
)
from ledger_core.kernel.statements.control import LedgerGenesis, PolicyActivated
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.outline import Outline, outline
from ledger_core.stores.protocols import BlobStore, Delivery, Fresh, Outcome, Replayed, StoredEvent

SHARD = 0
"""One shard and one writer to start with; positions carry the number from day one."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a family's log."""

    offset: int
    chain: str
    recorded_at: str
    """Of the last event; empty where there is none, which sorts before every timestamp."""


class Known(Protocol):
    """What the rules look up of what came before."""

    def event(self, event_id: str) -> StoredEvent | None:
        """The event, or None."""
        ...

    def kind(self, event_id: str) -> str | None:
        """The kind of an event, or None."""
        ...

    def current(self, source_fact_id: str) -> StoredEvent | None:
        """The latest event about a fact, or None."""
        ...

    def genesis(self) -> StoredEvent | None:
        """The first control event, or None."""
        ...

    def policy_head(self) -> StoredEvent | None:
        """The last `policy.activated`, or None."""
        ...


class Transaction(Known, Protocol):
    """What a store offers while it holds its lock; sees what was added in the same transaction."""

    def tail(self, family: LogFamily) -> Tail | None:
        """The end of ``family``, or None where it is empty."""
        ...

    def add(self, event: StoredEvent) -> None:
        """Put ``event`` at the end of its family."""
        ...


def append_all(
    transaction: Transaction,
    statements: Sequence[Statement],
    delivery: Delivery,
    *,
    scope: Scope,
    blobs: BlobStore,
) -> tuple[Outcome, ...]:
    """Append ``statements`` in order; raises on the first that the rules refuse."""
    return tuple(_append(transaction, statement, delivery, scope, blobs) for statement in statements)


def _append(
    transaction: Transaction, unchecked: Statement, delivery: Delivery, scope: Scope, blobs: BlobStore
) -> Outcome:
    encoded = unchecked.encoded  # what is appended are these bytes, whatever else the object holds
    read = outline(encoded)
    if read is not None and _is_plainly_fresh(transaction, read, scope):
        statement: Statement | None = None
        digest, kind, fact = read.event_id.hex(), read.kind, read.source_fact_id.hex()
        content: Iterable[ContentRef] = map(_content_ref, read.content)
    else:
        statement = decode_statement(encoded)
        known = transaction.event(statement.event_id)
        if known is not None:
            return Replayed(known.event_id, known.family, known.position)
        check_rules(transaction, statement, scope)
        digest, kind, fact = statement.event_id, statement.kind, statement.source_fact_id
        content = content_refs(statement.body)  # an envelope cites none
    for ref in content:
        blobs.require_durable(ref)
    event = _seal_into_chain(transaction, digest, kind, encoded, delivery)
    # What is known already needs no decoding: what a cached property keeps under its name, it does not compute.
    vars(event).update(kind=kind, source_fact_id=fact)
    if statement is not None:
        vars(event).update(statement=statement)
    transaction.add(event)
    return Fresh(event.event_id, event.family, event.position)


def _is_plainly_fresh(transaction: Transaction, read: Outline, scope: Scope) -> bool:
    """Whether every rule certainly admits a new statement; where not, it takes the whole statement to say why.

    An event that is there already has a fact that is there: one look tells that neither is.
    """
    return (
        read.scope == scope.canonical_bytes()
        and transaction.genesis() is not None
        and transaction.current(read.source_fact_id.hex()) is None
        and references_fit(read, lambda event_id: transaction.kind(event_id.hex()))
    )


def references_fit(read: Outline, kind: Callable[[bytes], str | None]) -> bool:
    """Whether everything an outlined statement refers to is there and of a kind that may stand there."""
    kinds = [kind(event_id) for event_id in read.referred]
    if read.kind == "entry.observed":
        return kinds == ["seal.minted"]
    if read.generation is not None and kind(read.generation) != "generation.recorded":
        return False
    return ENTRY_KINDS.issuperset(kinds)


def require_empty(transaction: Transaction) -> None:
    """Raise :class:`AppendError` where the log has begun: only an empty one can take over another's events as they are."""
    for family in FAMILIES:
        tail = transaction.tail(family)
        if tail is not None:
            raise AppendError(
                f"this ledger holds {tail.offset} {family} events already; choose an empty scope or another --home"
            )


def check_rules(known: Known, statement: Statement, scope: Scope) -> None:
    """Hold ``statement`` to every rule that what came before it decides; raises :class:`AppendError`."""
    if statement.scope != scope:
        raise AppendError(f"{statement.kind} is of scope {_name(statement.scope)}, this ledger is {_name(scope)}")
    _check_genesis(known, statement)
    _check_fact(known, statement)
    _check_references(known, statement)
    _check_policy_succession(known, statement)
    _check_measurement(known, statement)


def _name(scope: Scope) -> str:
    return f"{scope.tenant_namespace}/{scope.project_namespace}"


def _check_genesis(known: Known, statement: Statement) -> None:
    opened = known.genesis() is not None
    if isinstance(statement, LedgerGenesis):
        if opened:
            raise AppendError("a ledger has one genesis, and this ledger is open")
    elif not opened:
        raise AppendError(f"the first statement of a ledger is `ledger.genesis`, not `{statement.kind}`")


def _check_fact(known: Known, statement: Statement) -> None:
    current = known.current(statement.source_fact_id)
    superseded = statement.representation.lineage.event_id
    if current is None:
        if superseded is not None:
            raise UnknownReferenceError(
                f"{statement.kind} supersedes {superseded}, which is no event about the same source fact"
            )
        return
    if superseded == current.event_id:
        return
    same = current.statement.representation_key == statement.representation_key
    raise CollisionError(
        f"{statement.kind} {statement.event_id} and {current.event_id} say different things about one source fact"
        + (" in one representation" if same else f"; to replace it, declare lineage `supersedes` {current.event_id}"),
        source_fact_id=statement.source_fact_id,
        held=current.event_id,
        refused=statement.event_id,
    )


def _check_references(known: Known, statement: Statement) -> None:
    for reference in references(statement):
        kind = known.kind(reference.event_id)
        if kind is None:
            raise UnknownReferenceError(
                f"{statement.kind}.{reference.field} refers to {reference.event_id}, which is no event of this ledger; "
                "append that first"
            )
        if kind not in reference.kinds:
            raise UnknownReferenceError(
                f"{statement.kind}.{reference.field} refers to {reference.event_id}, a `{kind}`; "
                f"admitted: {', '.join(sorted(reference.kinds))}"
            )


def _check_policy_succession(known: Known, statement: Statement) -> None:
    if not isinstance(statement, PolicyActivated):
        return
    head = known.policy_head()
    expected = None if head is None else head.event_id
    if statement.body.predecessor != expected:
        raise AppendError(
            f"policy `{statement.body.name}` succeeds {statement.body.predecessor}, in force is {expected}; "
            "read the policy in force again"
        )
    genesis = known.genesis()
    if head is None and genesis is not None and isinstance(genesis.statement, LedgerGenesis):
        promised = genesis.statement.body.policy_digest
        if statement.body.policy.digest() != promised:
            raise AppendError(f"genesis promises the policy of digest {promised}, not `{statement.body.name}`")


def _check_measurement(known: Known, statement: Statement) -> None:
    if not isinstance(statement, EdgesMeasured):
        return
    body = statement.body
    generation = known.event(body.generation)
    claim = known.event(body.claim)
    assert generation is not None, "references were checked"
    assert claim is not None, "references were checked"
    if not isinstance(claim.statement, EntryDerived | EntryConjectured) or (
        claim.statement.body.generation != body.generation
    ):
        raise UnknownReferenceError(f"claim {body.claim} is not a claim of generation {body.generation}")
    assert isinstance(generation.statement, GenerationRecorded), "references were checked"
    ablatable = {region.entry for region in generation.statement.body.context if region.unit is not None}
    listed = {measured.entry for measured in body.entries}
    if listed != ablatable:
        stray = sorted(listed - ablatable)
        missing = sorted(str(entry) for entry in ablatable - listed)
        raise UnknownReferenceError(
            f"a measurement lists exactly the ablatable context entries of generation {body.generation}: "
            + (f"{stray[0]} is none" if stray else f"{missing[0]} is missing")
        )


def _seal_into_chain(
    transaction: Transaction, event_id: str, kind: str, encoded: bytes, delivery: Delivery
) -> StoredEvent:
    family = family_of(kind)
    policy = transaction.policy_head()
    genesis = transaction.genesis()
    opening = _decoded(encoded if genesis is None else genesis.encoded)
    if not isinstance(opening, LedgerGenesis):
        raise StoreError(f"the first control event is `{opening.kind}`, not `ledger.genesis`: verify this ledger")
    epoch = _epoch(
        opening.scope.tenant_namespace,
        opening.scope.project_namespace,
        opening.body.shard_count,
        opening.body.partition_seed,
    )
    tail = transaction.tail(family) or Tail(0, log.genesis_chain(opening.event_id, epoch, family, SHARD), "")
    receipt, receipt_bytes = _receipt(
        delivery,
        delivery.context_head if kind == "generation.recorded" else None,
        None if policy is None else policy.event_id,
        max(delivery.received_at, tail.recorded_at),
    )
    position = Position.unchecked(str(tail.offset + 1), epoch, SHARD)
    event = StoredEvent(
        event_id=event_id,
        family=family,
        position=position,
        encoded=encoded,
        receipt_bytes=receipt_bytes,
        chain=log.append_chain(tail.chain, position, event_id, receipt_bytes),
    )
    vars(event).update(receipt=receipt)
    return event


@lru_cache(maxsize=64)
def _content_ref(encoded: bytes) -> ContentRef:
    """A reference; an observation's is its seal's, and a message may be said again."""
    return ContentRef.decode(encoded)


@lru_cache(maxsize=64)
def _decoded(encoded: bytes) -> Statement:
    """A ledger's genesis, which every append asks for."""
    return decode_statement(encoded)


@lru_cache(maxsize=64)
def _epoch(tenant: str, project: str, shard_count: int, partition_seed: str) -> str:
    """The same for every event of a ledger."""
    scope = Scope.make(tenant_namespace=tenant, project_namespace=project)
    return log.epoch_id(scope, shard_count, partition_seed)


@lru_cache(maxsize=64)
def _receipt(
    delivery: Delivery, context_head: str | None, policy_head: str | None, recorded_at: str
) -> tuple[Receipt, bytes]:
    """A receipt and its bytes, which the events of one append share more often than not."""
    receipt = Receipt.make(
        channel=delivery.channel,
        context_head=context_head,
        delivery_id=delivery.delivery_id,
        policy_head=policy_head,
        principal_id=delivery.principal_id,
        received_at=delivery.received_at,
        recorded_at=recorded_at,
        role=delivery.role,
    )
    return receipt, receipt.canonical_bytes()
