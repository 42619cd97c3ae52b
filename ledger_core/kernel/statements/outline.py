"""What the rules of the log and belief read of a statement, read off its canonical bytes without building it.

Six kinds make up nearly all of a log: seals, the four kinds of entries, and generations. The bytes of each are matched by one
expression (:mod:`.shapes`), and what its record type compares across fields is compared here. *Fewer* bytes have an outline than
:func:`~.codec.decode_statement` admits, never others: what has one decodes, and its statement has the same outline.
"""

from __future__ import annotations

import re
from binascii import unhexlify
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.records import MAX_BYTES, Record
from ledger_core.kernel.statements.codec import STATEMENT_TYPES, Statement, content_refs
from ledger_core.kernel.statements.entries import DeclaredParent, EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.generation import ClaimRange, ContextRegion, GenerationRecorded
from ledger_core.kernel.statements.sealing import EntryObserved, SealMinted
from ledger_core.kernel.statements.shapes import expression

_BYTES_PER_TOKEN = 4


class Sealed(NamedTuple):
    """Of a seal: what decides where it comes from, and what an audit of it may do."""

    attestation: str
    effect: str
    origin_host: str | None
    reach: str
    tool: str
    observed_at: str | None


class Recorded(NamedTuple):
    """Of a generation: what decides what a measurement of it may do."""

    attestation: str
    weights_digest: str | None
    is_exact: bool
    """Whether prompt ids, response ids and weights are known."""


class Outline(NamedTuple):
    """One statement of an outlined kind; ids are 32 raw bytes."""

    kind: str
    event_id: bytes
    source_fact_id: bytes
    scope: bytes
    """Canonical bytes of the scope."""
    content: tuple[bytes, ...]
    """Canonical bytes of each content reference, in field order."""
    referred: tuple[bytes, ...] = ()
    """Of an observation its seal, of a claim its declared parents, of a generation the entries of its context in order."""
    ppm: tuple[int, ...] = ()
    """Weights of the declared parents."""
    generation: bytes | None = None
    """Of a claim."""
    family: str | None = None
    """Predicate family of an observation."""
    sealed: Sealed | None = None
    recorded: Recorded | None = None


_KIND = b'],"kind":"'
_END = b',"visibility_class":"private"}'

_Start = tuple[str, bytes, bytes, bytes]
"""The first fields of an outline."""


def outline(encoded: bytes) -> Outline | None:
    """The outline of canonical bytes; None where they have none: decode them to know what they are."""
    start = encoded.rfind(_KIND) + len(_KIND)
    kind = encoded[start : encoded.find(b'"', start)]
    read = _READ.get(kind)
    if read is None or len(encoded) > MAX_BYTES:
        return None
    match = _expression(kind).fullmatch(encoded)
    if match is None:
        return None
    fact = b'{"kind":"%b","scope":%b}' % (kind, encoded[match.start("scope") : -len(_END)])
    name, event_id = read.kind, digests.domain(Prefix.ACCEPTED_EVENT, encoded)
    return read.rest(match, (name, event_id, digests.domain(Prefix.SOURCE_FACT, fact), match["scope"]))


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _read_seal(match: re.Match[bytes], start: _Start) -> Outline:
    attestation, effect, host, reach, tool, at, *content = match.group(
        "attestation", "effect", "origin_host", "reach", "tool", "observed_at", "args", "result"
    )
    sealed = Sealed(attestation.decode(), effect.decode(), _text(host), reach.decode(), tool.decode(), _text(at))
    return Outline(*start, tuple(content), sealed=sealed)


def _read_observation(match: re.Match[bytes], start: _Start) -> Outline:
    content, seal, family = match.group("content", "seal", "family")
    return Outline(*start, (content,), (unhexlify(seal),), family=family.decode())


def _read_given(match: re.Match[bytes], start: _Start) -> Outline:
    return Outline(*start, (match["content"],))


def _read_claim(match: re.Match[bytes], start: _Start) -> Outline | None:
    content, generation, first, stop, parents = match.group("content", "generation", "start", "stop", "parents")
    if (generation is None) != (first is None) or (first is not None and int(first) >= int(stop)):
        return None
    found = _PARENT().findall(parents)
    if any(left >= right for (left, _), (right, _) in pairwise(found)):
        return None
    referred = tuple([unhexlify(entry) for entry, _ in found])
    ppm = tuple([int(weight) for _, weight in found])
    return Outline(*start, (content,), referred, ppm, None if generation is None else unhexlify(generation))


def _read_generation(match: re.Match[bytes], start: _Start) -> Outline | None:
    claims, context, attestation, weights, prompt, prompt_length, response, response_length, tokens = match.group(
        "claims",
        "context",
        "attestation",
        "weights",
        "prompt",
        "prompt_length",
        "response",
        "response_length",
        "tokens",
    )
    regions = _REGION().findall(context)
    if not (_claims_fit(claims, int(response_length)) and _regions_fit(regions, prompt_length)):
        return None
    content = tuple([ref for ref in (prompt, response, tokens) if ref is not None])
    referred = tuple([unhexlify(entry) for entry, _, _, _ in regions if entry])
    recorded = Recorded(attestation.decode(), _text(weights), None not in (prompt, tokens, weights))
    return Outline(*start, content, referred, recorded=recorded)


def _claims_fit(claims: bytes, response_length: int) -> bool:
    """Whether the byte ranges of claims rise through the response."""
    position = 0
    for start, stop in _CLAIM_RANGE().findall(claims):
        if int(start) < position or int(stop) <= int(start):
            return False
        position = int(stop)
    return position <= response_length


def _regions_fit(regions: list[tuple[bytes, bytes, bytes, bytes]], prompt_length: bytes | None) -> bool:
    """Whether the regions tile the prompt, or none has a place where it is not known; and only an entry is a unit."""
    if any(unit and not entry for entry, _, _, unit in regions):
        return False
    if prompt_length is None:
        return not any(start or stop for _, start, stop, _ in regions)
    position = 0
    for _, start, stop, _ in regions:
        if not start or not stop or int(start) != position or int(stop) < position:
            return False
        position = int(stop)
    return position * _BYTES_PER_TOKEN == int(prompt_length)


class _Reader(NamedTuple):
    kind: str
    rest: Callable[[re.Match[bytes], _Start], Outline | None]
    groups: Mapping[str, str]
    """Path of a field -> group that holds it."""


_CLAIM_GROUPS = {
    "body.content": "content",
    "body.generation": "generation",
    "body.parents": "parents",
    "body.span.start": "start",
    "body.span.stop": "stop",
}
_SEAL_GROUPS = {
    f"body.{name}": name for name in ("args", "attestation", "effect", "origin_host", "reach", "result", "tool")
}
_GENERATION_GROUPS = {
    "body.attestation": "attestation",
    "body.claims": "claims",
    "body.context": "context",
    "body.prompt_tokens": "prompt",
    "body.prompt_tokens.byte_length": "prompt_length",
    "body.response": "response",
    "body.response.byte_length": "response_length",
    "body.response_tokens": "tokens",
    "body.weights_digest": "weights",
}
_OBSERVATION_GROUPS = {"body.content": "content", "body.predicate_family": "family", "body.seal": "seal"}

_READ: Mapping[bytes, _Reader] = MappingProxyType(
    {
        reader.kind.encode(): reader
        for reader in (
            _Reader("seal.minted", _read_seal, {**_SEAL_GROUPS, "observed_at": "observed_at"}),
            _Reader("entry.observed", _read_observation, _OBSERVATION_GROUPS),
            _Reader("entry.given", _read_given, {"body.content": "content"}),
            _Reader("entry.derived", _read_claim, _CLAIM_GROUPS),
            _Reader("entry.conjectured", _read_claim, _CLAIM_GROUPS),
            _Reader("generation.recorded", _read_generation, _GENERATION_GROUPS),
        )
    }
)
OUTLINED_KINDS = frozenset(reader.kind for reader in _READ.values())
"""Kinds that have outlines."""


@cache
def _expression(kind: bytes) -> re.Pattern[bytes]:
    reader = _READ[kind]
    return re.compile(expression(STATEMENT_TYPES[reader.kind], {**reader.groups, "scope": "scope"}).encode())


def _items(record: type[Record], *fields: str) -> Callable[[], re.Pattern[bytes]]:
    """An expression whose groups are ``fields`` of each ``record`` in the inside of an array; made when first asked for."""
    return cache(lambda: re.compile(expression(record, {field: field for field in fields}).encode()))


_PARENT = _items(DeclaredParent, "entry", "ppm")
_CLAIM_RANGE = _items(ClaimRange, "byte_start", "byte_stop")
_REGION = _items(ContextRegion, "entry", "token_start", "token_stop", "unit")


def outline_of(statement: Statement) -> Outline | None:
    """The outline of a whole statement, whatever its bytes look like; None for other kinds."""
    take = _TAKE.get(type(statement))
    if take is None:
        return None
    start = (
        str(statement.kind),
        unhexlify(statement.event_id),
        unhexlify(statement.source_fact_id),
        statement.scope.canonical_bytes(),
        tuple(ref.canonical_bytes() for ref in content_refs(statement.body)),
    )
    return take(statement, start)


_Whole = tuple[str, bytes, bytes, bytes, tuple[bytes, ...]]


def _take_seal(seal: SealMinted, start: _Whole) -> Outline:
    body = seal.body
    sealed = Sealed(body.attestation, body.effect, body.origin_host, body.reach, body.tool, seal.observed_at)
    return Outline(*start, sealed=sealed)


def _take_observation(entry: EntryObserved, start: _Whole) -> Outline:
    return Outline(*start, (unhexlify(entry.body.seal),), family=entry.body.predicate_family)


def _take_given(_: EntryGiven, start: _Whole) -> Outline:
    return Outline(*start)


def _take_claim(claim: EntryDerived | EntryConjectured, start: _Whole) -> Outline:
    body = claim.body
    referred = tuple(unhexlify(parent.entry) for parent in body.parents)
    generation = None if body.generation is None else unhexlify(body.generation)
    return Outline(*start, referred, tuple(parent.ppm for parent in body.parents), generation)


def _take_generation(generation: GenerationRecorded, start: _Whole) -> Outline:
    body = generation.body
    referred = tuple(unhexlify(region.entry) for region in body.context if region.entry is not None)
    return Outline(*start, referred, recorded=Recorded(body.attestation, body.weights_digest, body.is_exact))


_TAKE: Mapping[type[Statement], Callable[[Any, _Whole], Outline]] = MappingProxyType(
    {
        SealMinted: _take_seal,
        EntryObserved: _take_observation,
        EntryGiven: _take_given,
        EntryDerived: _take_claim,
        EntryConjectured: _take_claim,
        GenerationRecorded: _take_generation,
    }
)
