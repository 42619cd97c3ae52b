"""The closed set of statement kinds: decode, family, and which events each kind refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.records import MAX_BYTES, Record, explain
from ledger_core.kernel.statements.control import (
    BlobErased,
    CriteriaRegistered,
    KeyBound,
    LedgerGenesis,
    PolicyActivated,
)
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.evaluation import TrialRecorded
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.kernel.statements.sealing import EntryObserved, ReplayAudited, SealMinted
from ledger_core.kernel.statements.verdicts import (
    CascadeFired,
    CascadeRefused,
    IndependenceAssessed,
    ReputationAdjusted,
    VerdictFiled,
    VerdictReversed,
)

Statement = (
    SealMinted
    | EntryObserved
    | EntryGiven
    | EntryDerived
    | EntryConjectured
    | GenerationRecorded
    | EdgesMeasured
    | VerdictFiled
    | IndependenceAssessed
    | CascadeFired
    | CascadeRefused
    | ReputationAdjusted
    | VerdictReversed
    | ReplayAudited
    | LedgerGenesis
    | PolicyActivated
    | CriteriaRegistered
    | KeyBound
    | BlobErased
    | TrialRecorded
)
"""Any statement the log admits."""

LogFamily = Literal["control", "evidence"]
FAMILIES: tuple[LogFamily, ...] = ("control", "evidence")
CONTROL_KINDS = frozenset({"ledger.genesis", "policy.activated", "criteria.registered", "key.bound"})
ENTRY_KINDS = frozenset({"entry.observed", "entry.given", "entry.derived", "entry.conjectured"})
CLAIM_KINDS = frozenset({"entry.derived", "entry.conjectured"})

STATEMENT_TYPES: dict[str, type[Statement]] = {
    str(get_args(cls.model_fields["kind"].annotation)[0]): cls for cls in get_args(Statement)
}
"""Kind -> record type, for every kind there is."""

_ADAPTER: TypeAdapter[Statement] = TypeAdapter(Annotated[Statement, Field(discriminator="kind")])


def decode_statement(data: bytes) -> Statement:
    """Decode canonical bytes into the typed statement.

    Raises:
        StatementError: not a known kind, not its fields, or not the canonical encoding of them.
    """
    if len(data) > MAX_BYTES:
        raise StatementError(f"a statement of {len(data)} bytes is over the limit of {MAX_BYTES}")
    try:
        statement = _ADAPTER.validate_json(data)
    except ValidationError as error:
        raise explain(error) from error
    if statement.encoded != data:
        raise StatementError(f"{statement.kind}: the bytes are not the canonical encoding of what they say")
    return statement


def family_of(kind: str) -> LogFamily:
    """The log family a kind belongs to."""
    return "control" if kind in CONTROL_KINDS else "evidence"


@dataclass(frozen=True, slots=True)
class Reference:
    """A statement's reference to an earlier event, and the kinds it may be of."""

    field: str
    event_id: str
    kinds: frozenset[str]


def _one(name: str, kinds: frozenset[str]) -> Callable[[Any], Iterator[Reference]]:
    def read(body: Any) -> Iterator[Reference]:
        event_id = getattr(body, name)
        if event_id is not None:
            yield Reference(name, event_id, kinds)

    return read


def _many(name: str, kinds: frozenset[str], attribute: str | None = None) -> Callable[[Any], Iterator[Reference]]:
    def read(body: Any) -> Iterator[Reference]:
        for item in getattr(body, name):
            event_id = item if attribute is None else getattr(item, attribute)
            if event_id is not None:
                yield Reference(name, event_id, kinds)

    return read


def _kinds(*names: str) -> frozenset[str]:
    return frozenset(names)


_SEAL = _kinds("seal.minted")
_GENERATION = _kinds("generation.recorded")
_VERDICT = _kinds("verdict.filed")
_CLAIM_REFERENCES = (_one("generation", _GENERATION), _many("parents", ENTRY_KINDS, "entry"))

_REFERENCES: dict[str, tuple[Callable[[Any], Iterator[Reference]], ...]] = {
    "entry.observed": (_one("seal", _SEAL),),
    "entry.derived": _CLAIM_REFERENCES,
    "entry.conjectured": _CLAIM_REFERENCES,
    "generation.recorded": (_many("context", ENTRY_KINDS, "entry"),),
    "edges.measured": (
        _one("generation", _GENERATION),
        _one("claim", CLAIM_KINDS),
        _many("entries", ENTRY_KINDS, "entry"),
        _one("predecessor", _kinds("edges.measured")),
    ),
    "verdict.filed": (_one("target", ENTRY_KINDS), _one("candidate", ENTRY_KINDS)),
    "independence.assessed": (_one("first", ENTRY_KINDS), _one("second", ENTRY_KINDS)),
    "cascade.fired": (
        _one("target", ENTRY_KINDS),
        _one("verdict", _VERDICT),
        _many("members", ENTRY_KINDS),
        _many("attenuated", ENTRY_KINDS, "entry"),
    ),
    "cascade.refused": (_one("target", ENTRY_KINDS), _one("verdict", _VERDICT)),
    "reputation.adjusted": (_one("target", ENTRY_KINDS),),
    "verdict.reversed": (_one("verdict", _VERDICT), _one("predecessor", _kinds("verdict.reversed"))),
    "replay.audited": (_one("seal", _SEAL), _one("predecessor", _kinds("replay.audited"))),
    "policy.activated": (_one("predecessor", _kinds("policy.activated")),),
    "trial.recorded": (_one("criteria", _kinds("criteria.registered")),),
}


def content_refs(record: Record) -> Iterator[ContentRef]:
    """Every content reference inside ``record``, in field order."""
    for name in _citing_fields(type(record)):
        value = getattr(record, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, ContentRef):
                yield item
            elif isinstance(item, Record):
                yield from content_refs(item)


@cache
def _citing_fields(record_type: type[Record]) -> tuple[str, ...]:
    """Fields under which a content reference can stand at all: a walk over a large ledger asks about nothing else."""
    fields = record_type.model_fields.items()
    return tuple(name for name, field in fields if _may_cite(field.annotation))


def _may_cite(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation is ContentRef or bool(_citing_fields(annotation))
    return any(_may_cite(argument) for argument in get_args(annotation))


def references(statement: Statement) -> tuple[Reference, ...]:
    """Every event the statement refers to, with the kinds it may be of; lineage included."""
    found = [ref for read in _REFERENCES.get(statement.kind, ()) for ref in read(statement.body)]
    superseded = statement.representation.lineage.event_id
    if superseded is not None:
        found.append(Reference("lineage", superseded, frozenset({statement.kind})))
    return tuple(found)
