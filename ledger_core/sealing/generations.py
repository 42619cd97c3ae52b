"""The model boundary: records exactly what a model saw and said, whatever runs the model.

A call that knows its token ids, the weights and where each context entry stands among the prompt's tokens is recorded
so that the very same tokens can be scored later. A call that says a secret is not: its text is redacted, its ids and
weights are left out, and no measurement of it may ever lower a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from ledger_core.kernel.claims import SPLITTER, CiteKind, find_cites, split_sentences
from ledger_core.kernel.content import TEXT, TOKENS, ContentRef, content_ref
from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.log import Role
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.entries import (
    ByteRange,
    ClaimBody,
    DeclaredParent,
    EntryConjectured,
    EntryDerived,
)
from ledger_core.kernel.statements.facts import claim_fact, message_fact
from ledger_core.kernel.statements.generation import (
    ClaimRange,
    ContextRegion,
    GenerationRecorded,
    GenerationRecordedBody,
)
from ledger_core.kernel.tokens import pack_tokens
from ledger_core.kernel.types import PPM, EventId
from ledger_core.redaction import POLICY, redact, scan
from ledger_core.stores.protocols import Outcome

NAMESPACE: Final = "veritas.model"
_VERSION: Final = "1"
Decoding = Literal["greedy", "sampled", "constrained", "unknown"]


@dataclass(frozen=True, slots=True)
class ContextSpan:
    """A stretch of the prompt, in order: one entry's text, or template."""

    entry: str | None
    """None: template."""
    start: int | None = None
    """First token; None where the token ids are unknown."""
    stop: int | None = None
    """One past the last token."""
    group: str | None = None
    """Entries of one group are ablated together, as a tool call and its result are; alone where None."""
    is_ablatable: bool = True
    """False for the system prompt and the question being answered, which count as template."""


class ModelCall(Protocol):
    """What recording needs of a model call; any object with these attributes will do."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def weights_digest(self) -> str | None:
        """SHA-256 of the weights in hex; None where they are not known."""
        ...

    @property
    def prompt_ids(self) -> Sequence[int] | None:
        """Token ids that the model was given; None where they are not known."""
        ...

    @property
    def response_ids(self) -> Sequence[int] | None:
        """Token ids that it gave; None where they are not known."""
        ...

    @property
    def response(self) -> str:
        """What it said."""
        ...

    @property
    def decoding(self) -> Decoding:
        """How tokens were chosen."""
        ...

    @property
    def context(self) -> Sequence[ContextSpan]:
        """What the prompt consists of, in order; tiles the prompt's ids where they are known."""
        ...


class GenerationSink(Protocol):
    """Where generations go: a :class:`~ledger_core.stores.Ledger`, or a client of one."""

    @property
    def scope(self) -> Scope:
        """The scope that the statements are of."""
        ...

    def policy(self) -> Policy:
        """The policy in force."""
        ...

    def put_blobs(self, many: Sequence[tuple[bytes, str]]) -> tuple[ContentRef, ...]:
        """Store several (bytes, media type) durably."""
        ...

    def append(
        self, statements: Iterable[Statement], *, role: Role, context_head: str | None = None
    ) -> tuple[Outcome, ...]:
        """Append in one transaction; the same again is a replay."""
        ...


@dataclass(frozen=True, slots=True)
class PlainCall:
    """A model call as plain values; without ids and digest, that of a model that shows text only, such as a remote one."""

    model: str
    response: str
    context: Sequence[ContextSpan]
    decoding: Decoding = "unknown"
    weights_digest: str | None = None
    prompt_ids: Sequence[int] | None = None
    response_ids: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class RecordedClaim:
    """A claim of a recorded response."""

    entry: EventId
    text: str
    start: int
    """First byte in the response."""
    stop: int


@dataclass(frozen=True, slots=True)
class RecordedGeneration:
    """A model call as it stands in the ledger."""

    generation: EventId
    response: str
    """What was said, without secrets."""
    claims: tuple[RecordedClaim, ...]


class GenerationRecorder:
    """Records the model calls of one run."""

    def __init__(
        self,
        ledger: GenerationSink,
        record_key: str,
        *,
        decode: Callable[[Sequence[int]], str] | None = None,
        namespace: str = NAMESPACE,
    ) -> None:
        """``decode`` spells token ids; without it the prompt's ids are not looked through for secrets."""
        self._ledger = ledger
        self._key = record_key
        self._decode = decode
        self._namespace = namespace
        self._author = Author(ledger.scope, namespace, _VERSION, redaction_policy=POLICY)

    def record(
        self,
        call: ModelCall,
        *,
        step: int,
        renderer: str | None = None,
        context_head: str | None = None,
        parents: Mapping[str, int] | None = None,
        claims: bool = True,
    ) -> RecordedGeneration:
        """Record ``call`` and, with ``claims``, each sentence of its response as an entry, in one transaction.

        ``context_head`` is the evidence head that its context was rendered from. Every claim declares ``parents``
        (entry -> ppm) and what it cites as ``[n]`` or ``[entry:…]``; one that declares none is a conjecture.

        Raises:
            StatementError: a context that does not tile the prompt, or another field that says which.
            UnknownReferenceError: a context entry or parent that is no entry of this ledger.
            CollisionError: the run's step is another call already.
        """
        response = redact(call.response).text
        shown = call if self._is_clean(call, response) else PlainCall(call.model, response, _unplaced(call.context))
        blobs: list[tuple[bytes, str]] = []

        def content(data: bytes, media_type: str) -> ContentRef:
            blobs.append((data, media_type))
            return content_ref(data, media_type)

        said = response.encode()
        generation = self._author.write(
            GenerationRecorded,
            message_fact(self._namespace, self._key, step),
            generation_body(
                shown,
                response=content(said, TEXT),
                prompt_tokens=None if shown.prompt_ids is None else content(pack_tokens(shown.prompt_ids), TOKENS),
                response_tokens=None
                if shown.response_ids is None
                else content(pack_tokens(shown.response_ids), TOKENS),
                policy=self._ledger.policy().digest(),
                renderer=renderer,
            ),
        )
        statements: list[Statement] = [generation]
        recorded: list[RecordedClaim] = []
        for span in generation.body.claims if claims else ():
            start, stop = span.byte_start, span.byte_stop
            text = said[start:stop].decode()
            declared = {**cited(text, call.context), **(parents or {})}
            part = content(said[start:stop], TEXT)
            claim = claim_of(self._author, generation.event_id, part, (start, stop), declared, derived=bool(declared))
            statements.append(claim)
            recorded.append(RecordedClaim(claim.event_id, text, start, stop))
        self._ledger.put_blobs(blobs)
        self._ledger.append(statements, role="recorder", context_head=context_head)
        return RecordedGeneration(generation.event_id, response, tuple(recorded))

    def _is_clean(self, call: ModelCall, response: str) -> bool:
        if response != call.response:
            return False
        return self._decode is None or call.prompt_ids is None or not scan(self._decode(call.prompt_ids))


def generation_body(
    call: ModelCall,
    *,
    response: ContentRef,
    prompt_tokens: ContentRef | None,
    response_tokens: ContentRef | None,
    policy: str | None,
    renderer: str | None,
) -> GenerationRecordedBody:
    """The body of a boundary-recorded generation over content that is stored already.

    Raises:
        StatementError: the context does not tile the prompt, or another field that says which.
    """
    text = call.response
    return GenerationRecordedBody.make(
        attestation="boundary",
        claims=tuple(
            ClaimRange.make(byte_start=start, byte_stop=stop, form="sentence")
            for start, stop in (split_sentences(text) if text.strip() else ())
        ),
        context=_regions(call.context),
        decoding=call.decoding,
        model=call.model,
        policy=policy,
        prompt_tokens=prompt_tokens,
        renderer=renderer,
        response=response,
        response_tokens=response_tokens,
        splitter=SPLITTER,
        weights_digest=call.weights_digest,
    )


def claim_of(
    author: Author,
    generation: str,
    content: ContentRef,
    span: tuple[int, int],
    parents: Mapping[str, int],
    *,
    derived: bool,
) -> EntryDerived | EntryConjectured:
    """The claim at the byte range ``span`` of ``generation``, with its declared parents (entry -> ppm).

    ``derived`` is what it asks to be; what it is, the fold decides.
    """
    body = ClaimBody.make(
        content=content,
        generation=generation,
        parents=declared_parents(parents),
        span=ByteRange.make(start=span[0], stop=span[1]),
    )
    fact = claim_fact(author.producer, generation, *span)
    return author.write(EntryDerived, fact, body) if derived else author.write(EntryConjectured, fact, body)


def declared_parents(parents: Mapping[str, int]) -> tuple[DeclaredParent, ...]:
    """Entry -> ppm as a statement holds it."""
    return tuple(DeclaredParent.make(entry=entry, ppm=ppm) for entry, ppm in sorted(parents.items()))


def cited(text: str, context: Sequence[ContextSpan]) -> dict[str, int]:
    """The context entries that ``text`` cites, at full weight: ``[n]`` counts them from 1, ``[entry:…]`` begins an id."""
    shown = list(dict.fromkeys(span.entry for span in context if span.entry is not None))
    found: dict[str, int] = {}
    for cite in find_cites(text):
        if cite.kind is CiteKind.NUMBER and 0 < int(cite.value) <= len(shown):
            found[shown[int(cite.value) - 1]] = PPM
        elif cite.kind is CiteKind.ENTRY:
            found.update(dict.fromkeys((entry for entry in shown if entry.startswith(cite.value)), PPM))
    return found


def _regions(context: Sequence[ContextSpan]) -> tuple[ContextRegion, ...]:
    """The context as a generation states it; units are numbered as they first occur."""
    units: dict[str, int] = {}
    regions: list[ContextRegion] = []
    for span in context:
        unit = None
        if span.entry is not None and span.is_ablatable:
            unit = units.setdefault(span.group or span.entry, len(units))
        elif span.entry is None and span.group is not None:
            raise StatementError(f"template text is never ablated, and is given the group {span.group!r}")
        regions.append(ContextRegion.make(entry=span.entry, token_start=span.start, token_stop=span.stop, unit=unit))
    return tuple(regions)


def _unplaced(context: Sequence[ContextSpan]) -> tuple[ContextSpan, ...]:
    return tuple(ContextSpan(span.entry, None, None, span.group, span.is_ablatable) for span in context)
