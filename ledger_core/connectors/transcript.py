"""The neutral transcript: what every format's reader yields and the one mapper takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ledger_core.kernel.digests import DigestHex

Role = Literal["system", "user", "assistant", "tool"]
Outcome = Literal["ok", "error", "timeout"]


class RecordError(Exception):
    """One record cannot be read; it goes on the reject list and the rest is imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that an assistant message asks for."""

    name: str
    arguments: object
    """A JSON value; the text itself where it was no JSON that RFC 8785 admits."""
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; its timestamps are the source's own, in the strict profile, or null."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant."""
    answers: str | None = None
    """Of a tool: the id of the call it is the result of."""
    tool: str | None = None
    """Of a tool: its name, where the message says it."""
    outcome: Outcome = "ok"
    model: str | None = None
    occurred_at: str | None = None
    observed_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRecord:
    """One conversation."""

    place: str
    """Where in the file it stands, for people."""
    own_id: tuple[str, ...] | None
    """The source's own identifier; None where it has none."""
    digest: DigestHex
    """Of the record's canonical JSON: the identity of a record without an own id."""
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that was not imported."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """An opened file."""

    total: int | None
    """Records in the file, where that is known beforehand: for progress only."""
    records: Iterator[TranscriptRecord | Reject]
