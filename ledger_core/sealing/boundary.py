"""The tool boundary: runs registered tools, and lets the agent see a result only once it is sealed.

Executing and delivering are two steps. What was executed is kept until it is delivered, and delivered again with the
same bytes, its time included: a retry is a replay in the log and never a second run of the tool.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from ledger_core.kernel import digests, jcs
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.errors import LedgerError, SealError, StatementError, ToolError, TrustFieldError
from ledger_core.kernel.log import Role
from ledger_core.kernel.records import TRUST_FIELDS
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.sealing import EntryObserved
from ledger_core.kernel.types import EventId
from ledger_core.sealing.minting import Executed, Place, declared_records, seal_statements
from ledger_core.sealing.registry import RegisteredTool, ToolRegistry
from ledger_core.sealing.results import (
    Content,
    Spool,
    canonical_json,
    failure_content,
    result_content,
    timeout_content,
)
from ledger_core.sealing.running import Finished, Invocation, Outcome
from ledger_core.sealing.scrub import scrub_json
from ledger_core.sealing.secrets import SecretSource, no_secrets, resolve
from ledger_core.stores.protocols import Outcome as AppendOutcome

NAMESPACE = "veritas.shim"

BOUNDARY_FIELDS = frozenset(
    {
        "attestation",
        "determinism",
        "effect",
        "host",
        "observed_at",
        "origin",
        "origin_host",
        "outcome",
        "peer",
        "reach",
        "runner",
        "seal",
        "source",
        "source_id",
    }
)
"""What only the boundary states about a call; a caller who states it is refused with the field's name."""


class SealSink(Protocol):
    """Where seals go: a :class:`~ledger_core.stores.Ledger`, or a client of one."""

    @property
    def scope(self) -> Scope:
        """The scope that the statements are of."""
        ...

    def put_blobs(self, many: Sequence[tuple[bytes, str]]) -> tuple[ContentRef, ...]:
        """Store several (bytes, media type) durably."""
        ...

    def put_blob_stream(self, chunks: Iterable[bytes], media_type: str) -> ContentRef:
        """Store bytes that come in pieces durably."""
        ...

    def append(self, statements: Iterable[Statement], *, role: Role) -> tuple[AppendOutcome, ...]:
        """Append in one transaction; the same again is a replay."""
        ...


@dataclass(frozen=True, slots=True)
class Observation:
    """An entry that a seal gave."""

    entry: EventId
    content: ContentRef


@dataclass(frozen=True, slots=True)
class SealedCall:
    """A call as it stands in the ledger; what the agent may see is the content of its observations."""

    seal: EventId
    outcome: Outcome
    observations: tuple[Observation, ...]
    """The whole result, or each record that the tool's registration declares."""

    @property
    def entry(self) -> EventId:
        """The first observation: the only one unless the tool declares records."""
        return self.observations[0].entry


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A call that was executed and is not known to be in the ledger."""

    place: Place
    outcome: Outcome
    contents: tuple[Content, ...]
    statements: tuple[Statement, ...]


@dataclass
class ToolBoundary:
    """Runs the tools of one registry for one run of an agent."""

    sink: SealSink
    registry: ToolRegistry
    record_key: str
    """The run's own id."""
    clock: Callable[[], str]
    """Gives strict timestamps; read once for each call, when it has ended."""
    secrets: SecretSource = no_secrets
    namespace: str = NAMESPACE
    first_step: int = 0
    """Number of the first call: a run that goes on in another process counts on."""
    _next_step: int = field(init=False, repr=False)
    _running: set[Place] = field(default_factory=set, init=False, repr=False)
    _undelivered: dict[Place, tuple[str, Undelivered]] = field(default_factory=dict, init=False, repr=False)
    _sealed: dict[Place, tuple[str, SealedCall]] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin to count."""
        self._next_step = self.first_step

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        step: int | None = None,
        call_id: str = "call",
        **uninvited: object,
    ) -> SealedCall:
        """Run ``tool`` and seal what comes of it; an exception or a timeout of the tool is sealed like a result.

        An interruption from outside (a cancelled task, Ctrl-C) is sealed as an error as well, and passed on.

        ``step`` and ``call_id`` say which call of the run this is, the next step unless given: the same again gives
        the same seal, without running the tool.

        Raises:
            TrustFieldError: the caller states what only the boundary may; names the field.
            ToolError: no such tool; or its result contradicts its registration.
            UnserialisableError: arguments or a result without canonical bytes; nothing was written.
            SealError: the call id was used for another call.
            StoreError: executed, but not stored; call again with the same step and call id, or :meth:`deliver`.
        """
        refuse_uninvited(uninvited)
        with self._taken(step, call_id) as place:
            planned = self._planned(place, tool, arguments)
            if isinstance(planned, SealedCall):
                return planned
            try:
                finished = planned.run()
            except LedgerError:
                raise
            except BaseException as interruption:  # the tool may have acted: sealed, and passed on
                self._conclude(planned, place, Finished("error", error=interruption))
                raise
            return self._conclude(planned, place, finished)

    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        step: int | None = None,
        call_id: str = "call",
        **uninvited: object,
    ) -> SealedCall:
        """As :meth:`call`, from async code; storing happens in a thread."""
        refuse_uninvited(uninvited)
        with self._taken(step, call_id) as place:
            planned = await asyncio.to_thread(self._planned, place, tool, arguments)
            if isinstance(planned, SealedCall):
                return planned
            try:
                finished = await planned.run_async()
            except LedgerError:
                raise
            except BaseException as interruption:
                cut_short = Finished("error", error=interruption)
                await asyncio.shield(asyncio.to_thread(self._conclude, planned, place, cut_short))
                raise
            return await asyncio.shield(asyncio.to_thread(self._conclude, planned, place, finished))

    def reserve_step(self) -> int:
        """A step that no other call of this boundary gets, for a call that is to be made again under its id."""
        with self._lock:
            return self._step(None)

    def _step(self, wanted: int | None) -> int:
        """``wanted``, or the next one; whatever was wanted once is never the next one."""
        step = self._next_step if wanted is None else wanted
        self._next_step = max(self._next_step, step + 1)
        return step

    @property
    def undelivered(self) -> tuple[Undelivered, ...]:
        """Calls that were executed and could not be stored."""
        return tuple(call for _, call in self._undelivered.values())

    def deliver(self, call: Undelivered) -> SealedCall:
        """Store ``call``: content first, then its statements in one transaction; again is a replay."""
        self.sink.put_blobs(
            [(each.data, each.ref.media_type) for each in call.contents if isinstance(each.data, bytes)]
        )
        for each in call.contents:
            if isinstance(each.data, Spool):
                self.sink.put_blob_stream(each.data.chunks(), each.ref.media_type)
        self.sink.append(call.statements, role="sealer")
        seal, *observed = call.statements
        sealed = SealedCall(
            seal=seal.event_id,
            outcome=call.outcome,
            observations=tuple(
                Observation(each.event_id, each.body.content) for each in observed if isinstance(each, EntryObserved)
            ),
        )
        kept = self._undelivered.pop(call.place, None)
        if kept is not None:
            self._sealed[call.place] = (kept[0], sealed)
        return sealed

    @contextmanager
    def _taken(self, step: int | None, call_id: str) -> Iterator[Place]:
        """The place of a call, held against another call of the same place while it runs."""
        with self._lock:
            place = Place(self.namespace, self.record_key, self._step(step), call_id)
            if place in self._running:
                raise SealError(
                    f"call {call_id!r} of step {place.step} is running; wait for it, or give this one an id of its own"
                )
            self._running.add(place)
        try:
            yield place
        finally:
            with self._lock:
                self._running.remove(place)

    def _planned(self, place: Place, name: str, arguments: Mapping[str, Any]) -> Invocation | SealedCall:
        """What is still to be done for a call; the sealed call where it was made before."""
        tool = self.registry.tool(name)
        canonical = canonical_json(dict(arguments), "the arguments")
        identity = _identity(tool, canonical)
        sealed, waiting = self._sealed.get(place), self._undelivered.get(place)
        before = sealed or waiting
        if before is not None and before[0] != identity:
            raise SealError(
                f"call {place.call_id!r} of step {place.step} was another call; give this one an id of its own"
            )
        if sealed is not None:
            return sealed[1]
        return prepare(tool, canonical, self.secrets) if waiting is None else self.deliver(waiting[1])

    def _conclude(self, invocation: Invocation, place: Place, finished: Finished) -> SealedCall:
        call = self._executed(invocation, place, finished)
        self._undelivered[place] = (invocation.identity, call)
        return self.deliver(call)

    def _executed(self, invocation: Invocation, place: Place, finished: Finished) -> Undelivered:
        registration = invocation.tool.registration
        returned = finished.returned
        if returned is not None:
            result = result_content(returned, invocation.known)
        elif finished.error is not None:
            result = failure_content(finished.error, invocation.known)
        else:
            result = timeout_content(invocation.tool.timeout_seconds or 0)
        executed = Executed(
            registration=registration,
            outcome=finished.outcome,
            args=Content.of(invocation.args),
            args_redacted=invocation.args.is_changed,
            result=result,
            peer=None if returned is None else returned.peer,
            has_answer=returned is not None,
            observed_at=self.clock(),
        )
        records = declared_records(registration, result, invocation.known)
        statements = seal_statements(self.sink.scope, place, executed, records)
        contents = (executed.args, result, *(record.content for record in records if record.pointer is not None))
        return Undelivered(place, finished.outcome, contents, statements)


_SECRETS = "secrets"


def prepare(tool: RegisteredTool, canonical: bytes, secrets: SecretSource) -> Invocation:
    """``tool`` with the arguments that ``canonical`` spells, and the secrets that its registration names.

    The tool gets what is sealed, read back from the bytes, so that a later run gets exactly the same.

    Raises:
        ToolError: the caller gives the tool an argument that only the boundary gives it.
        SealError: a secret that is not there, or is too short to be one.
    """
    arguments = jcs.parse(canonical)
    assert isinstance(arguments, dict), "canonical bytes of a mapping"
    values = resolve(tool.registration.secret_refs, secrets)
    if values and _SECRETS in arguments:
        raise ToolError(f"the tool {tool.registration.name!r} is given its secrets by the boundary, not by a caller")
    own = tuple(values.values())
    args = scrub_json(canonical, own)
    return Invocation(
        tool=tool,
        arguments={**arguments, _SECRETS: values} if values else dict(arguments),
        identity=_identity(tool, canonical),
        args=args,
        known=(*own, *args.values),
    )


def _identity(tool: RegisteredTool, canonical: bytes) -> str:
    """What tells one call from another of the same place."""
    return digests.framed_hex(Prefix.CONFIG, (tool.registration.name.encode(), canonical))


def refuse_uninvited(fields: Mapping[str, object]) -> None:
    """Raise for whatever a caller states beyond what it is asked for; trust and origin are refused by their names."""
    for name in sorted(fields, key=lambda name: (name not in TRUST_FIELDS | BOUNDARY_FIELDS, name)):
        _refuse(name)


def _refuse(name: str) -> NoReturn:
    if name in TRUST_FIELDS:
        raise TrustFieldError(f"{name}: trust is never stated by a request, it is computed; remove this field")
    if name in BOUNDARY_FIELDS:
        raise TrustFieldError(f"{name}: only the tool boundary states this about a call; remove this field")
    raise StatementError(f"{name}: no such field; remove it")
