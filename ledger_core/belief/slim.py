"""Statements without what belief never reads, for whoever keeps as many of them as a log has.

A slim statement is of its own kind and answers to its own id; everything else that is not listed here is gone, and
asking for it is an error. It is never encoded, appended or shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ledger_core.kernel.records import Record
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.sealing import EntryObserved, SealMinted
from ledger_core.kernel.types import EventId

_READ: Final[dict[type[Record], tuple[str, ...]]] = {
    SealMinted: ("attestation", "effect", "origin_host", "reach", "runner", "source_id", "tool"),
    EntryObserved: ("predicate_family", "seal"),
    EntryGiven: (),
    EntryDerived: ("generation", "parents"),
    EntryConjectured: ("generation", "parents"),
    GenerationRecorded: ("attestation", "context", "prompt_tokens", "response_tokens", "weights_digest"),
}
"""What the strata read of a body."""

_ENVELOPE: Final = ("kind", "observed_at")
_NO_FIELDS: Final[set[str]] = set()
"""One set for all: pydantic gives every record one of its own."""


def slim(statement: Statement, shared: Callable[[str], str]) -> Statement:
    """``statement`` with what belief reads of it; ``shared`` gives one string for equal ids."""
    fields = _READ.get(type(statement))
    if fields is None:
        return statement
    whole_type: Any = type(statement)
    body_type: Any = type(statement.body)
    kept = {name: _share(getattr(statement.body, name), shared) for name in fields}
    small = body_type.model_construct(_fields_set=_NO_FIELDS, **kept)
    envelope = {name: getattr(statement, name) for name in _ENVELOPE}
    whole: Statement = whole_type.model_construct(_fields_set=_NO_FIELDS, body=small, **envelope)
    whole.__dict__["event_id"] = EventId(shared(statement.event_id))  # where the record keeps what it has computed
    return whole


def _share(value: object, shared: Callable[[str], str]) -> object:
    return shared(value) if isinstance(value, str) else value
