"""A transcript record as statements: the least that can be claimed about what somebody else recorded.

What people said is given. A tool's result is an imported seal with the observation in it: mutating, local, of unknown
determinism, by a foreign runner on no known host. What an assistant said is a foreign generation whose token ids and
weights are unknown, and whose sentences and tool calls are claims on everything before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ledger_core.connectors.context import Context
from ledger_core.connectors.preparing import (
    Blob,
    PreparedCall,
    Scrubber,
    prepare_response,
    safe_id,
    unknown_arguments,
)
from ledger_core.connectors.transcript import Message, Role, TranscriptRecord
from ledger_core.kernel.claims import SPLITTER
from ledger_core.kernel.content import TEXT, ContentRef, content_ref
from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.records import MAX_BYTES, Record
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import Author, StatementT
from ledger_core.kernel.statements.entries import (
    ByteRange,
    ClaimBody,
    EntryConjectured,
    EntryDerived,
    EntryGiven,
    EntryGivenBody,
)
from ledger_core.kernel.statements.envelope import SourceFact
from ledger_core.kernel.statements.facts import call_fact, claim_fact, message_fact
from ledger_core.kernel.statements.generation import GenerationRecorded, GenerationRecordedBody
from ledger_core.kernel.statements.sealing import EntryObserved, EntryObservedBody, SealMinted, SealMintedBody
from ledger_core.redaction import POLICY

PRODUCER_VERSION = "1"
"""Of this mapping: another one says the same facts in another representation."""

_UNKNOWN = "unknown"
_ANY_FAMILY = "*"


@dataclass(slots=True)
class Batch:
    """Statements that are appended in one transaction, and the content they cite."""

    statements: list[Statement] = field(default_factory=list)
    blobs: list[Blob] = field(default_factory=list)


class RecordMapper:
    """Maps records of one format into one scope."""

    def __init__(self, scope: Scope, format_name: str, scrubber: Scrubber) -> None:
        self._namespace = f"import.{format_name}"
        self._format = format_name
        self._author = Author(scope, self._namespace, PRODUCER_VERSION, redaction_policy=POLICY)
        self._scrubber = scrubber

    def batches(self, record: TranscriptRecord, record_key: str) -> Iterator[Batch]:
        """One batch for each message, in order; statements refer to statements of earlier batches.

        Raises:
            StatementError: a message that no statement can hold; names it.
        """
        self._scrubber.begin_record()
        writer = _RecordWriter(self._author, self._namespace, self._format, record_key, self._scrubber)
        for step, message in enumerate(record.messages):
            try:
                yield writer.write(step, message)
            except StatementError as error:
                raise StatementError(f"message {step}: {error}") from error

    def record_key(self, record: TranscriptRecord, ordinal: int) -> str:
        """The source's own id, or the digest of the record and its ordinal among equals."""
        if record.own_id is not None:
            return "/".join(safe_id(part) for part in record.own_id)
        return f"{record.digest}/{ordinal}"


class _RecordWriter:
    """The statements of one record; the context grows with every message."""

    def __init__(self, author: Author, namespace: str, source: str, record_key: str, scrubber: Scrubber) -> None:
        self._author = author
        self._namespace = namespace
        self._source = source
        self._key = record_key
        self._scrubber = scrubber
        self._context = Context()
        self._batch = Batch()
        self._writers: Mapping[Role, Callable[[int, Message], None]] = {
            "system": self._given,
            "user": self._given,
            "tool": self._observed,
            "assistant": self._generated,
        }

    def write(self, step: int, message: Message) -> Batch:
        self._batch = Batch()
        self._writers[message.role](step, message)
        return self._batch

    def _given(self, step: int, message: Message) -> None:
        role = "system" if message.role == "system" else "user"
        content = self._put(self._scrubber.blob(message.text, TEXT))
        body = EntryGivenBody.make(content=content, role=role)
        given = self._write(EntryGiven, message_fact(self._namespace, self._key, step), body, message)
        add = self._context.add_system if role == "system" else self._context.add_user
        add(given.event_id)

    def _observed(self, step: int, message: Message) -> None:
        call = self._context.call(message.answers)
        tool = self._scrubber.name(message.tool or (_UNKNOWN if call is None else call.tool))
        result = self._put(self._scrubber.blob(message.text, TEXT))
        body = SealMintedBody.make(
            args=self._put(unknown_arguments() if call is None else call.arguments),
            attestation="imported",
            determinism="unknown",
            effect="mutating",
            origin_host=None,
            outcome=message.outcome,
            reach="local",
            reacquisition=None,
            result=result,
            runner="foreign",
            source_id=self._scrubber.name(f"{self._source}:{tool}"),
            tool=tool,
        )
        fact = call_fact(self._namespace, self._key, step, safe_id(message.answers or "none"))
        seal = self._write(SealMinted, fact, body, message)
        observation = EntryObservedBody.make(
            content=result, predicate_family=_ANY_FAMILY, record_pointer=None, seal=seal.event_id
        )
        observed = self._write(EntryObserved, fact, observation, message)
        self._context.add_result(observed.event_id, message.answers)

    def _generated(self, step: int, message: Message) -> None:
        self._context.begin_response()
        response = prepare_response(message, self._scrubber)
        body = GenerationRecordedBody.make(
            attestation="imported",
            claims=response.claims,
            context=self._context.regions(),
            decoding="unknown",
            model=self._scrubber.name(message.model or _UNKNOWN),
            policy=None,
            prompt_tokens=None,
            renderer=None,
            response=self._put((response.content, TEXT)),
            response_tokens=None,
            splitter=SPLITTER,
            weights_digest=None,
        )
        fact = message_fact(self._namespace, self._key, step)
        generation = self._write(GenerationRecorded, fact, body, message)
        if len(generation.encoded) > MAX_BYTES:
            raise StatementError(
                f"its context of {len(body.context)} entries needs {len(generation.encoded)} bytes, over the limit "
                f"of {MAX_BYTES}; split the transcript"
            )
        parents = self._context.parents(response.content.decode(), response.claims)
        sentences = len(response.claims) - len(response.calls)
        entries: list[tuple[str, PreparedCall | None]] = []
        for index, (claim, blob) in enumerate(zip(response.claims, response.claim_blobs, strict=True)):
            claim_body = ClaimBody.make(
                content=self._put(blob),
                generation=generation.event_id,
                parents=parents[index],
                span=ByteRange(start=claim.byte_start, stop=claim.byte_stop),
            )
            of = claim_fact(self._namespace, generation.event_id, claim.byte_start, claim.byte_stop)
            statement_type = EntryDerived if parents[index] else EntryConjectured
            entry = self._write(statement_type, of, claim_body, message)
            entries.append((entry.event_id, response.calls[index - sentences] if index >= sentences else None))
        for entry_id, call in entries:
            if call is None:
                self._context.add_claim(entry_id)
            else:
                self._context.add_call(entry_id, call.call_id, call.tool, call.arguments)

    def _write(self, statement_type: type[StatementT], fact: SourceFact, body: Record, message: Message) -> StatementT:
        """A statement with the message's own times, in the batch."""
        statement = self._author.write(
            statement_type, fact, body, occurred_at=message.occurred_at, observed_at=message.observed_at
        )
        self._batch.statements.append(statement)
        return statement

    def _put(self, blob: Blob) -> ContentRef:
        self._batch.blobs.append(blob)
        return content_ref(*blob)
