"""Entries that nobody sealed: what people gave, and what a model derived or guessed."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope
from ledger_core.kernel.types import Count, Digest, Items, Ppm, ascending


class EntryGivenBody(Record):
    """A message of the system or the user: tier `given`, outside the belief order, never in a quorum."""

    content: ContentRef
    role: Literal["system", "user"]


class EntryGiven(Envelope):
    """`entry.given`."""

    kind: Literal["entry.given"]
    body: EntryGivenBody


class ByteRange(Record):
    """A half-open UTF-8 byte range of a generation's response."""

    start: Count
    stop: Count

    @model_validator(mode="after")
    def _is_not_empty(self) -> ByteRange:
        if self.start >= self.stop:
            raise ValueError(f"byte range {self.start}..{self.stop} is empty")
        return self


class DeclaredParent(Record):
    """A dependence that the agent declared, with its weight."""

    entry: Digest
    ppm: Ppm


class ClaimBody(Record):
    """A claim of a model, with the range of the generation that says it and the parents it declares."""

    content: ContentRef
    generation: Digest | None
    parents: Items[DeclaredParent]
    span: ByteRange | None

    @model_validator(mode="after")
    def _span_belongs_to_a_generation(self) -> ClaimBody:
        if (self.generation is None) != (self.span is None):
            raise ValueError("a claim names a generation and its byte range together, or neither")
        ascending("declared parents", [parent.entry for parent in self.parents])
        return self


class EntryDerived(Envelope):
    """`entry.derived`: asks for the tier `derived`, which the fold grants only over a boundary-recorded generation."""

    kind: Literal["entry.derived"]
    body: ClaimBody


class EntryConjectured(Envelope):
    """`entry.conjectured`."""

    kind: Literal["entry.conjectured"]
    body: ClaimBody
