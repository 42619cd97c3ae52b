"""The ledger of one scope: its events, its blobs, the policy in force, and a clock that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from ledger_core.kernel import log
from ledger_core.kernel.content import DEFAULT_PROTECTION_DOMAIN, ContentRef, content_ref
from ledger_core.kernel.errors import AppendError, StoreError, UnknownReferenceError
from ledger_core.kernel.log import Role
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import FAMILIES, LogFamily, Scope, Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import LedgerGenesis, LedgerGenesisBody, PolicyActivated, PolicyActivatedBody
from ledger_core.kernel.statements.envelope import SourceFact
from ledger_core.kernel.statements.facts import FIRST, successor_fact
from ledger_core.kernel.timestamps import check_timestamp
from ledger_core.stores.blobs import MemoryBlobStore
from ledger_core.stores.files import LOCK_WAIT_SECONDS
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.place import Place
from ledger_core.stores.protocols import BlobStatus, BlobStore, Channel, Delivery, EventStore, Outcome, StoredEvent

PRODUCER = "veritas.ledger"
PRODUCER_VERSION = "1"

Now = str | Callable[[], str]
"""A strict timestamp, or a function that gives one."""


class Ledger:
    """Append, read and look up statements and their content in one scope."""

    def __init__(self, store: EventStore, blobs: BlobStore, *, now: Now, principal: str = "local") -> None:
        """Over an opened store; most callers want :meth:`open` or :meth:`in_memory`."""
        self.store = store
        self.blobs = blobs
        self.scope = store.scope
        self._now = now
        self._principal = principal

    @classmethod
    def open(
        cls,
        where: Path | Place,
        scope: Scope,
        *,
        now: Now,
        policy: Policy,
        policy_name: str,
        principal: str = "local",
        wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> Self:
        """The ledger of ``scope`` at ``where``; a new one gets its genesis and ``policy`` as its first policy.

        An existing ledger keeps the policy in force; :meth:`activate_policy` changes it.

        Raises:
            LedgerVersionError, LedgerBusyError, StorageFullError: see the message.
        """
        place = Place.of(where)
        blobs = place.blobs(scope)
        ledger = cls(place.events(scope, blobs, wait_seconds), blobs, now=now, principal=principal)
        try:
            ledger._begin(policy, policy_name)
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def existing(
        cls,
        where: Path | Place,
        scope: Scope,
        *,
        now: Now,
        principal: str = "local",
        wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> Self:
        """The ledger of ``scope`` as it is, genesis or not: for readers, who know that it exists, and for verification.

        Raises: as :meth:`open`.
        """
        place = Place.of(where)
        blobs = place.blobs(scope)
        return cls(place.events(scope, blobs, wait_seconds), blobs, now=now, principal=principal)

    @classmethod
    def in_memory(cls, scope: Scope, *, now: Now, policy: Policy, policy_name: str, principal: str = "local") -> Self:
        """A new ledger that lives as long as the object."""
        blobs = MemoryBlobStore()
        ledger = cls(MemoryEventStore(scope, blobs), blobs, now=now, principal=principal)
        ledger._begin(policy, policy_name)
        return ledger

    @staticmethod
    def exists(where: Path | Place, scope: Scope) -> bool:
        """Whether there is a ledger of ``scope`` at ``where``."""
        return Place.of(where).exists(scope)

    def _begin(self, policy: Policy, policy_name: str) -> None:
        if not self._is_new():
            return
        opening = genesis_statements(self.scope, policy, policy_name)
        try:
            self.append(opening, role="admin")
        except AppendError:
            # Two processes began at once with different policies: the first stands, as in any existing ledger.
            if self._is_new():
                raise

    def _is_new(self) -> bool:
        """Whether nothing at all is there: a damaged ledger is opened as it is, for verification to judge."""
        return not any(
            self.store.count(family) or next(self.store.events(family), None) is not None for family in FAMILIES
        )

    def append(
        self,
        statements: Iterable[Statement],
        *,
        role: Role,
        channel: Channel = "embedded",
        context_head: str | None = None,
    ) -> tuple[Outcome, ...]:
        """Append ``statements`` in one transaction; see :meth:`EventStore.append` for what is refused.

        ``context_head`` is the evidence head that the context of the generations among them was rendered from.
        """
        delivery = Delivery(
            principal_id=self._principal,
            role=role,
            channel=channel,
            received_at=self.now(),
            context_head=context_head,
        )
        return self.store.append(tuple(statements), delivery)

    def activate_policy(self, policy: Policy, name: str) -> Outcome:
        """Put ``policy`` in force after the present one; the policy already in force is replayed."""
        head = self._policy_event()
        body = head.statement.body
        if isinstance(body, PolicyActivatedBody) and (body.policy, body.name) == (policy, name):
            (outcome,) = self.append((head.statement,), role="operator")
            return outcome
        statement = _policy_statement(self.scope, policy, name, head.event_id)
        (outcome,) = self.append((statement,), role="operator")
        return outcome

    def put_blob(self, data: bytes, media_type: str) -> ContentRef:
        """Store ``data`` durably; raises :class:`BlobError` where it was erased on purpose."""
        ref = content_ref(data, media_type)
        self.blobs.put(data)
        return ref

    def put_blobs(self, many: Sequence[tuple[bytes, str]]) -> tuple[ContentRef, ...]:
        """Store several (bytes, media type) durably, cheaper than one by one."""
        refs = tuple(content_ref(data, media_type) for data, media_type in many)
        self.blobs.put_all(data for data, _ in many)
        return refs

    def put_blob_stream(self, chunks: Iterable[bytes], media_type: str) -> ContentRef:
        """Store bytes that come in pieces, without holding them in memory; see :meth:`BlobStore.put_stream`."""
        stored = self.blobs.put_stream(chunks)
        return ContentRef.make(
            algorithm="ostk-body-v1",
            byte_length=stored.byte_length,
            digest=stored.digest,
            media_type=media_type,
            protection_domain_id=DEFAULT_PROTECTION_DOMAIN,
        )

    def read_blob(self, ref: ContentRef) -> bytes:
        """The verified bytes of ``ref``; raises :class:`BlobError` for missing, corrupt or erased content."""
        return self.blobs.read(ref)

    def blob_status(self, ref: ContentRef) -> BlobStatus:
        """What the blob store can say about ``ref``."""
        return self.blobs.status(ref)

    def events(self, family: LogFamily = "evidence", after: int = 0) -> Iterator[StoredEvent]:
        """The events of ``family`` beyond offset ``after``, in order."""
        return self.store.events(family, after)

    def event(self, event_id: str) -> StoredEvent:
        """The event; raises :class:`UnknownReferenceError` where there is none."""
        event = self.store.event(event_id)
        if event is None:
            raise UnknownReferenceError(f"{event_id} is no event of this ledger; check the id and the scope")
        return event

    def statement(self, event_id: str) -> Statement:
        """The statement of an event; raises :class:`UnknownReferenceError` where there is none."""
        return self.event(event_id).statement

    def head(self, family: LogFamily = "evidence") -> str:
        """The chain digest of ``family``: what pins everything in it."""
        return self.store.head(family)

    def count(self, family: LogFamily = "evidence") -> int:
        """Number of events in ``family``."""
        return self.store.count(family)

    def policy(self) -> Policy:
        """The policy in force."""
        statement = self._policy_event().statement
        if not isinstance(statement, PolicyActivated):
            raise StoreError(f"the policy head is a `{statement.kind}`; run `veritas verify`")
        return statement.body.policy

    def _policy_event(self) -> StoredEvent:
        event = self.store.policy_head()
        if event is None:
            raise StoreError("this ledger has no policy in force; run `veritas verify`")
        return event

    def now(self) -> str:
        """The present, from the clock that was handed in."""
        return check_timestamp(self._now() if callable(self._now) else self._now)

    def close(self) -> None:
        """Release files; the ledger is of no use afterwards."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def scope_folder(where: Path | Place, scope: Scope) -> Path:
    """Where the files of the ledger of ``scope`` lie."""
    return Place.of(where).folder(scope)


def list_scopes(where: Path | Place) -> tuple[Scope, ...]:
    """Every scope that has a ledger at ``where``, sorted by tenant and project."""
    return Place.of(where).scopes()


def genesis_statements(scope: Scope, policy: Policy, policy_name: str) -> tuple[LedgerGenesis, PolicyActivated]:
    """The first two statements of a ledger: a function of scope and policy, so equal inputs give equal heads."""
    body = LedgerGenesisBody.make(
        format_version=1,
        partition_seed=log.ZERO_SEED,
        policy_digest=policy.digest(),
        scope=scope,
        shard_count=1,
    )
    fact = SourceFact.make(key="genesis", namespace=PRODUCER, object="ledger", revision=FIRST)
    return (
        Author(scope, PRODUCER, PRODUCER_VERSION).write(LedgerGenesis, fact, body),
        _policy_statement(scope, policy, policy_name, None),
    )


def _policy_statement(scope: Scope, policy: Policy, name: str, predecessor: str | None) -> PolicyActivated:
    body = PolicyActivatedBody.make(name=name, policy=policy, predecessor=predecessor)
    fact = successor_fact(PRODUCER, "policy", predecessor)
    return Author(scope, PRODUCER, PRODUCER_VERSION).write(PolicyActivated, fact, body)
