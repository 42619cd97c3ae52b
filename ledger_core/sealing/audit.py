"""Replay audits: a later look at a seal's origin, or at the stored bytes where nobody may ask the origin.

| outcome | found |
|---|---|
| `match` | a re-fetch at the sealed origin gave the sealed bytes |
| `mismatch` | it gave others, and the origin does not say that they changed since |
| `stale` | it gave others, and the origin says that they changed since |
| `unavailable` | the origin did not answer, or another one did; or nothing is left to look at |
| `not_comparable` | what comes back need not be the same: a nondeterministic tool, or erased content |
| `intact` | no re-fetch was possible; the stored bytes are what the seal says |
| `tampered` | the stored bytes are not |

Only a deterministic, read-only seal of our own boundary whose tool is still registered unchanged is ever run again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ledger_core.belief.index import chain_heads
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import (
    BlobError,
    CollisionError,
    SealError,
    UnknownReferenceError,
    UnserialisableError,
)
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.facts import successor_fact
from ledger_core.kernel.statements.sealing import AuditOutcome, ReplayAudited, ReplayAuditedBody, SealMinted
from ledger_core.kernel.types import EventId
from ledger_core.redaction import POLICY
from ledger_core.sealing.boundary import prepare
from ledger_core.sealing.registry import RegisteredTool, ToolRegistry
from ledger_core.sealing.results import Content, Spool, result_content
from ledger_core.sealing.running import Finished, Invocation
from ledger_core.sealing.secrets import SecretSource, no_secrets
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import BlobStatus

NAMESPACE: Final = "veritas.replay"
_VERSION: Final = "1"

REFETCHED: Final = frozenset({"match", "mismatch", "stale"})
"""Outcomes that only asking the origin can have."""
_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a seal showed."""

    outcome: AuditOutcome
    why: str
    """In a sentence, for people: what was done, or why no more could be."""
    observed: Content | None = None
    """What a re-fetch gave."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A look and what it put into the log."""

    seal: EventId
    outcome: AuditOutcome
    why: str
    observed: ContentRef | None
    filed: tuple[EventId, ...]
    """The audit statements, one for each head of the seal's chain that the look answers; empty where it answers none:
    a look at the stored bytes alone replaces nothing that a re-fetch found."""


class ReplayAuditor:
    """Audits the seals of one ledger with the tools of one registry."""

    def __init__(
        self,
        ledger: Ledger,
        registry: ToolRegistry,
        *,
        clock: Callable[[], str],
        secrets: SecretSource = no_secrets,
    ) -> None:
        """``clock`` gives strict timestamps; read once an audit, when the look has ended."""
        self._ledger = ledger
        self._registry = registry
        self._clock = clock
        self._secrets = secrets
        self._author = Author(ledger.scope, NAMESPACE, _VERSION, redaction_policy=POLICY)
        self._audits: dict[str, dict[EventId, ReplayAudited]] = {}
        self._read_to = 0

    def audit(self, seal_id: str) -> Audit:
        """Look at the origin of the seal again, or else at its stored bytes, and file what was found.

        Raises:
            UnknownReferenceError: no seal of this ledger.
            ToolError: its tool is async and an event loop is running; await :meth:`aaudit`.
        """
        seal = self._seal(seal_id)
        planned = self._planned(seal)
        return self._conclude(
            seal, planned if isinstance(planned, Look) else self._judged(seal, planned, planned.run())
        )

    async def aaudit(self, seal_id: str) -> Audit:
        """As :meth:`audit`, from async code; the ledger is read and written in a thread."""
        seal = await asyncio.to_thread(self._seal, seal_id)
        planned = await asyncio.to_thread(self._planned, seal)
        look = planned if isinstance(planned, Look) else self._judged(seal, planned, await planned.run_async())
        return await asyncio.to_thread(self._conclude, seal, look)

    def refetched(
        self, seal_id: str, observed: ContentRef, *, fetched_at: str, modified_at: str | None = None
    ) -> Audit:
        """File what somebody else's re-fetch at the sealed origin gave: the boundary's, where this is its ledger.

        ``observed`` is stored already; ``modified_at`` is when, by the origin's own word, it last changed. The outcome
        is computed and never stated. The same look again is a replay.

        Raises:
            UnknownReferenceError: no seal of this ledger.
            SealError: the seal may not be run again, so that nothing can have been fetched.
        """
        seal = self._seal(seal_id)
        reason = _never_again(seal)
        if reason is not None:
            raise SealError(f"seal {seal_id} is not fetched again: {reason}")
        look = self._tampering(seal) or _compared(seal, observed, modified_at)
        return self._file(seal, look, observed, fetched_at)

    def _seal(self, seal_id: str) -> SealMinted:
        statement = self._ledger.statement(seal_id)
        if not isinstance(statement, SealMinted):
            raise UnknownReferenceError(
                f"{seal_id} is a `{statement.kind}`, not a seal; name the seal of an observation"
            )
        return statement

    def _planned(self, seal: SealMinted) -> Look | Invocation:
        """The run that would fetch the result again, or the look that is left where there may be none."""
        body = seal.body
        tampered = self._tampering(seal)
        if tampered is not None:
            return tampered
        stored = self._ledger.blob_status(body.result)
        if stored is BlobStatus.ERASED:
            return Look("not_comparable", "the result was erased on purpose and is not fetched again")
        tool = self._registry.by_digest(None if body.reacquisition is None else body.reacquisition.tool_digest)
        reason = _never_again(seal) or _not_with(tool)
        if reason is None and body.determinism == "nondeterministic":
            return Look("not_comparable", "the tool need not give the same twice")
        if reason is None and tool is not None:
            planned = self._invocation(seal, tool)
            if not isinstance(planned, str):
                return planned
            reason = planned
        if stored is BlobStatus.MISSING:
            return Look("unavailable", f"{reason}, and the stored bytes are missing")
        return Look("intact", f"{reason}; the stored bytes are those that were sealed")

    def _tampering(self, seal: SealMinted) -> Look | None:
        stored = {self._ledger.blob_status(ref) for ref in (seal.body.result, seal.body.args)}
        if BlobStatus.CORRUPT in stored:
            return Look("tampered", "the stored bytes are not those that were sealed")
        return None

    def _invocation(self, seal: SealMinted, tool: RegisteredTool) -> Invocation | Look | str:
        try:
            arguments = self._ledger.read_blob(seal.body.args)
        except BlobError:
            return "its arguments are gone"
        try:
            return prepare(tool, arguments, self._secrets)
        except SealError as error:
            return Look("unavailable", f"the tool cannot be run: {error}")

    def _judged(self, seal: SealMinted, invocation: Invocation, finished: Finished) -> Look:
        returned = finished.returned
        if returned is None or finished.outcome != "ok":
            return Look("unavailable", f"the origin gave no result ({finished.error or finished.outcome})")
        if invocation.tool.registration.origin == "final_peer" and returned.peer != seal.body.origin_host:
            return Look("unavailable", f"{returned.peer} answered, the seal is of {seal.body.origin_host}")
        try:
            observed = result_content(returned, invocation.known)
        except UnserialisableError as error:
            return Look("unavailable", str(error))
        return replace(_compared(seal, observed.ref, returned.modified_at), observed=observed)

    def _conclude(self, seal: SealMinted, look: Look) -> Audit:
        return self._file(seal, look, self._stored(look.observed), self._clock())

    def _file(self, seal: SealMinted, look: Look, observed: ContentRef | None, at: str) -> Audit:
        overtaken = 0
        while True:
            chain = self._chain(seal.event_id)
            told = _same_look(chain, look.outcome, observed, at)
            if told:
                return Audit(seal.event_id, look.outcome, look.why, observed, told)
            statements = tuple(
                self._statement(seal, look, observed, at, head) for head in _answered(look.outcome, chain)
            )
            try:
                self._ledger.append(statements, role="sealer")
            except CollisionError:  # another auditor was faster; its audit is the one to answer now
                overtaken += 1
                if overtaken == _ATTEMPTS:
                    raise
                continue
            filed = tuple(statement.event_id for statement in statements)
            return Audit(seal.event_id, look.outcome, look.why, observed, filed)

    def _statement(
        self, seal: SealMinted, look: Look, observed: ContentRef | None, at: str, head: EventId | None
    ) -> ReplayAudited:
        body = ReplayAuditedBody.make(observed=observed, outcome=look.outcome, predecessor=head, seal=seal.event_id)
        return self._author.write(ReplayAudited, successor_fact(NAMESPACE, seal.event_id, head), body, observed_at=at)

    def _stored(self, content: Content | None) -> ContentRef | None:
        if content is None:
            return None
        try:
            if isinstance(content.data, Spool):
                return self._ledger.put_blob_stream(content.data.chunks(), content.ref.media_type)
            return self._ledger.put_blob(content.data, content.ref.media_type)
        except BlobError:  # what came back is content that was erased on purpose
            return None

    def _chain(self, seal_id: EventId) -> Mapping[EventId, ReplayAudited]:
        """Every audit of the seal so far."""
        for event in self._ledger.events(after=self._read_to):
            self._read_to = event.offset
            if isinstance(event.statement, ReplayAudited):
                audits = self._audits.setdefault(event.statement.body.seal, {})
                audits[event.statement.event_id] = event.statement
        return self._audits.get(seal_id, {})


def _compared(seal: SealMinted, observed: ContentRef, modified_at: str | None) -> Look:
    """What a re-fetch shows: the bytes it gave against the sealed ones."""
    sealed = seal.body.result
    if (observed.digest, observed.byte_length) == (sealed.digest, sealed.byte_length):
        return Look("match", "a re-fetch gave the sealed bytes")
    if seal.body.determinism != "deterministic":
        return Look("not_comparable", "the tool gave something else, which it may")
    if modified_at is not None and seal.observed_at is not None and modified_at > seal.observed_at:
        return Look("stale", f"the origin says that it changed at {modified_at}")
    return Look("mismatch", "a re-fetch gave other bytes, and the origin does not say that they changed")


def _never_again(seal: SealMinted) -> str | None:
    """Why a seal is not run again by anybody, or None."""
    body = seal.body
    if body.attestation == "imported":
        return "an imported seal was not made here"
    if body.effect == "mutating":
        return "a mutating tool is never run again"
    if body.outcome != "ok" or body.reacquisition is None:
        return "the seal has no procedure to fetch it again"
    return None


def _not_with(tool: RegisteredTool | None) -> str | None:
    """Why it is not run again here: the registry decides what a tool does, and not what a seal says of it."""
    if tool is None:
        return "its tool is not registered, or was registered otherwise"
    return "a mutating tool is never run again" if tool.registration.effect == "mutating" else None


def _heads(chain: Mapping[EventId, ReplayAudited]) -> tuple[EventId, ...]:
    return chain_heads({key: _predecessor(audit) for key, audit in chain.items()})


def _same_look(
    chain: Mapping[EventId, ReplayAudited], outcome: AuditOutcome, observed: ContentRef | None, at: str
) -> tuple[EventId, ...]:
    """The heads that say the very same of the same moment: a look is filed once, however often it is told."""
    said = (outcome, observed, at)
    return tuple(
        head
        for head in _heads(chain)
        if (chain[head].body.outcome, chain[head].body.observed, chain[head].observed_at) == said
    )


def _answered(outcome: AuditOutcome, chain: Mapping[EventId, ReplayAudited]) -> tuple[EventId | None, ...]:
    """The heads of a seal's audit chain that a look may succeed; None begins a chain."""
    return tuple(head for head in _heads(chain) if _answers(outcome, head, chain)) if chain else (None,)


def _answers(outcome: AuditOutcome, head: EventId, chain: Mapping[EventId, ReplayAudited]) -> bool:
    """Whether a look may take the place of ``head``: one that asked nobody replaces nothing that the origin said.

    Otherwise corrupting and restoring the stored bytes, or taking the tool off the registry, would lift a suspension.
    """
    if outcome in REFETCHED or outcome == "tampered":
        return True
    if chain[head].body.outcome in REFETCHED:
        return False
    audit: ReplayAudited | None = chain[head]
    while audit is not None:
        if audit.body.outcome in REFETCHED:
            return audit.body.outcome == "match"
        before = _predecessor(audit)
        audit = None if before is None else chain.get(before)
    return True


def _predecessor(audit: ReplayAudited) -> EventId | None:
    predecessor = audit.body.predecessor
    return None if predecessor is None else EventId(predecessor)
