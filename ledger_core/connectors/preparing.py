"""A message on its way into the ledger: without secrets, split into claims, as the bytes that will be stored.

Redaction comes first, so that nothing after it (ranges, claims, cites) ever sees a secret.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from ledger_core.connectors.messages import call_json
from ledger_core.connectors.reading import canonical
from ledger_core.connectors.transcript import Message, ToolCall
from ledger_core.kernel.claims import split_sentences
from ledger_core.kernel.content import JSON, TEXT
from ledger_core.kernel.errors import CanonicalError
from ledger_core.kernel.statements.generation import ClaimRange
from ledger_core.kernel.text import check_foreign_name
from ledger_core.redaction import redact, remembered, scan

_NO_ARGUMENTS = b"null"
Blob = tuple[bytes, str]
"""Bytes and their media type."""


@dataclass(slots=True)
class Scrubber:
    """Redacts and keeps count; a secret found in a record stays one for the rest of that record.

    Only for the rest: what a message becomes must not depend on what is appended after it.
    """

    redactions: Counter[str] = field(default_factory=Counter)
    withheld: int = 0
    _names: dict[str, str] = field(default_factory=dict)
    _known: tuple[str, ...] = ()

    def begin_record(self) -> None:
        """Forget the secrets of the record before."""
        self._known = ()

    def text(self, text: str) -> str:
        """``text`` without secrets."""
        return self.blob(text, TEXT)[0].decode()

    def blob(self, text: str, media_type: str) -> Blob:
        """``text`` without secrets, as bytes; what was withheld whole is text, whatever it was."""
        result = redact(text, self._known)
        self._known = remembered(self._known, result.values)
        self.redactions.update(dict(result.found))
        if result.withheld is not None:
            self.withheld += 1
            media_type = TEXT
        return result.text.encode(), media_type

    def name(self, name: str) -> str:
        """A foreign name as a statement may hold it: a forbidden character or too many leave its digest."""
        if name not in self._names:
            clean = redact(name).text
            try:
                self._names[name] = check_foreign_name(clean)
            except CanonicalError:
                self._names[name] = _digest(clean)
        return self._names[name]


def _digest(name: str) -> str:
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()


def safe_id(value: str) -> str:
    """An id of the source for use in a key: one that looks like a secret leaves its digest."""
    return _digest(value) if scan(value) else value


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A tool call as stored."""

    call_id: str | None
    tool: str
    arguments: Blob
    claim: Blob
    """Canonical JSON of name and arguments."""


@dataclass(frozen=True, slots=True)
class Response:
    """What an assistant said: its text, then each call on a line of its own."""

    content: bytes
    claims: tuple[ClaimRange, ...]
    """Sentences tile the text; calls follow."""
    claim_blobs: tuple[Blob, ...]
    """One for each claim: exactly the bytes of its range."""
    calls: tuple[PreparedCall, ...]
    """Of the last claims, in order."""


def prepare_call(call: ToolCall, scrubber: Scrubber) -> PreparedCall:
    """``call`` without secrets; arguments that were no JSON stay text."""
    text = call.arguments
    arguments = scrubber.blob(text, TEXT) if isinstance(text, str) else scrubber.blob(canonical(text).decode(), JSON)
    return PreparedCall(
        call_id=call.call_id,
        tool=scrubber.name(call.name),
        arguments=arguments,
        claim=scrubber.blob(call_json(call), JSON),
    )


def prepare_response(message: Message, scrubber: Scrubber) -> Response:
    """The response of an assistant's message.

    An empty message has no claims, and neither has one of white space alone.
    """
    calls = tuple(prepare_call(call, scrubber) for call in message.calls)
    text = scrubber.text(message.text)
    if calls and text.strip() and not text.endswith("\n"):
        text += "\n"
    content = text.encode()
    spans = split_sentences(text) if text.strip() else ()
    claims = [ClaimRange.make(byte_start=start, byte_stop=stop, form="sentence") for start, stop in spans]
    blobs: list[Blob] = [(content[start:stop], TEXT) for start, stop in spans]
    for index, call in enumerate(calls):
        if index:
            content += b"\n"
        start = len(content)
        content += call.claim[0]
        claims.append(ClaimRange.make(byte_start=start, byte_stop=len(content), form="tool_call"))
        blobs.append(call.claim)
    return Response(content, tuple(claims), tuple(blobs), calls)


def unknown_arguments() -> Blob:
    """Stands for the arguments of a result whose call the transcript does not show."""
    return _NO_ARGUMENTS, JSON
