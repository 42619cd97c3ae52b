"""OpenAI chat JSONL: one conversation a line, ``{"messages": […]}`` or the bare list."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ledger_core.connectors.messages import read_messages
from ledger_core.connectors.reading import cannot_read, check_utf8, describe, optional_text, read_json, record_digest
from ledger_core.connectors.transcript import Message, Reading, RecordError, Reject, TranscriptRecord
from ledger_core.kernel.errors import ConnectorError


def read_chat(path: Path) -> Reading:
    """The conversations of ``path``; a line that is none is rejected with its number.

    Raises:
        ConnectorError: a file that is missing, empty, not UTF-8, or in which no line is JSON.
    """
    return Reading(check_utf8(path), _records(path))


def _records(path: Path) -> Iterator[TranscriptRecord | Reject]:
    found_json = False
    first: RecordError | None = None
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                place = f"line {number}"
                text = line.removeprefix(codecs.BOM_UTF8).strip()
                if not text:
                    continue
                try:
                    value = read_json(text)
                except RecordError as error:
                    first = first or RecordError(f"{place}: {error}")
                    yield Reject(place, str(error))
                    continue
                found_json = found_json or isinstance(value, (dict, list))
                yield _record(value, place)
    except OSError as error:
        raise cannot_read(path, error) from error
    if not found_json:
        raise ConnectorError(
            f"{path}: no line is a JSON conversation ({first or 'no line is an object or a list'}); "
            "write one conversation a line, or name the file's own format"
        )


def _record(value: object, place: str) -> TranscriptRecord | Reject:
    try:
        return TranscriptRecord(place=place, own_id=None, digest=record_digest(value), messages=_messages(value))
    except RecordError as error:
        return Reject(place, str(error))


def _messages(value: object) -> tuple[Message, ...]:
    if isinstance(value, list):
        return read_messages(value)
    if not isinstance(value, dict) or "messages" not in value:
        raise RecordError(f'is {describe(value)} without `messages`; a line is {{"messages": […]}} or a list')
    model = optional_text(value.get("model"))
    return tuple(
        replace(message, model=message.model or model) if message.role == "assistant" else message
        for message in read_messages(value["messages"])
    )
