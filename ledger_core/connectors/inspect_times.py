"""When an Inspect sample's model calls and tool calls happened, by the log's own events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from ledger_core.kernel.errors import StrictProfileError
from ledger_core.kernel.timestamps import from_datetime

Span = tuple[str | None, str | None]
"""When something began and when its result was there; null where the log does not say."""

_UNKNOWN: Span = (None, None)


@dataclass(frozen=True, slots=True)
class Times:
    """Spans by the id of the message that a model call produced, and by the id of a tool call."""

    messages: Mapping[str, Span]
    calls: Mapping[str, Span]

    def of_message(self, message_id: str | None) -> Span:
        """Of the model call that produced a message."""
        return _UNKNOWN if message_id is None else self.messages.get(message_id, _UNKNOWN)

    def of_call(self, call_id: str | None) -> Span:
        """Of a tool call."""
        return _UNKNOWN if call_id is None else self.calls.get(call_id, _UNKNOWN)


def times_of(sample: Mapping[str, object]) -> Times:
    """The times of a sample; an id that two events share has none, since nothing says which of them is meant."""
    messages: dict[str, Span] = {}
    calls: dict[str, Span] = {}
    for event in _events(sample):
        span = (_instant(event.get("timestamp")), _instant(event.get("completed")))
        kind = event.get("event")
        table = calls if kind == "tool" else messages
        for key in (event.get("id"),) if kind == "tool" else _produced(event):
            if isinstance(key, str):
                table[key] = span if table.get(key, span) == span else _UNKNOWN
    return Times(messages, calls)


def _events(sample: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The sample's events; logs of 2024 kept them under `transcript`."""
    transcript = sample.get("transcript")
    events = sample.get("events") or (transcript.get("events") if isinstance(transcript, dict) else None)
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and event.get("event") in {"model", "tool"}:
            yield event


def _produced(event: Mapping[str, object]) -> Iterator[object]:
    """Ids of the messages that a model call produced."""
    output = event.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict):
            yield message.get("id")


def _instant(value: object) -> str | None:
    """A strict timestamp; null where the log gives none or none with an offset from UTC."""
    if not isinstance(value, str):
        return None
    try:
        return from_datetime(datetime.fromisoformat(value))
    except (ValueError, StrictProfileError):
        return None
