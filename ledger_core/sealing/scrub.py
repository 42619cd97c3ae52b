"""Secrets out of whatever a tool was given or gave, before a byte of it is stored.

Whole values go through :func:`~ledger_core.redaction.redact`, which keeps JSON to its structure. Streams are cleaned in
windows that see some text on either side, so that neither a secret nor the name beside it is cut in two; there JSON is
text like any other. Bytes that are no UTF-8 pass through unchanged, and what is spelled in ASCII among them is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger_core.kernel import jcs
from ledger_core.kernel.content import JSON, TEXT
from ledger_core.kernel.errors import CanonicalError
from ledger_core.redaction import redact, remembered, scan
from ledger_core.redaction.findings import WITHHELD, Finding, marker

Known = tuple[str, ...]
"""Secrets that are known before anything is read: the values of the call's secret references."""

WINDOW_BYTES = 256 << 10
MARGIN_BYTES = 32 << 10
"""What a window sees beyond the bytes it decides about, before and after them; no secret is expected to be longer."""
_LOSSLESS = ("utf-8", "surrogateescape")
_LONGEST_TAIL, _HIGH_BITS, _CONTINUATION = 3, 0xC0, 0x80
"""Of a UTF-8 character: its continuation bytes, and how they are told."""


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """Bytes without secrets."""

    data: bytes
    media_type: str
    is_changed: bool
    """Whether anything was taken out."""
    values: tuple[str, ...] = ()
    """Secrets found, to be looked for in what belongs to the same call."""


def scrub_json(canonical: bytes, known: Known = ()) -> Scrubbed:
    """Canonical JSON without secrets, canonical again; what cannot stay JSON is withheld whole, as text."""
    result = redact(canonical.decode(), known)
    data = result.text.encode()
    if result.withheld is not None:
        return Scrubbed(data, TEXT, is_changed=True, values=result.values)
    if data == canonical:
        return Scrubbed(canonical, JSON, is_changed=False)
    try:
        again = jcs.encode(jcs.parse(data))
    except CanonicalError:  # two keys were secrets and are now one
        return Scrubbed(WITHHELD.encode(), TEXT, is_changed=True, values=result.values)
    return Scrubbed(again, JSON, is_changed=True, values=result.values)


def scrub_text(text: str, known: Known = ()) -> Scrubbed:
    """``text`` without secrets."""
    result = redact(text, known)
    return Scrubbed(result.text.encode(), TEXT, result.text != text, result.values)


def scrub_bytes(data: bytes, media_type: str, known: Known = ()) -> Scrubbed:
    """``data`` without secrets; the very same bytes where it holds none."""
    text = data.decode(*_LOSSLESS)
    result = redact(text, known)
    if result.text == text:
        return Scrubbed(data, media_type, is_changed=False)
    kept = TEXT if result.withheld is not None else media_type
    return Scrubbed(result.text.encode(*_LOSSLESS), kept, is_changed=True, values=result.values)


class StreamScrubber:
    """Cleans bytes that come in pieces, holding about one window of them."""

    def __init__(self, known: Known = (), window: int = WINDOW_BYTES, margin: int = MARGIN_BYTES) -> None:
        """``window`` bytes are decided about at a time, seeing ``margin`` bytes on either side."""
        self._known = known
        self._window = window
        self._margin = margin
        self._before = b""
        self._waiting = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take in ``chunk``; gives what can be decided."""
        self._waiting += chunk
        while len(self._waiting) >= self._window + self._margin:
            yield self._decide(_character_boundary(self._waiting, self._window))

    def close(self) -> bytes:
        """What is left: all of it, and then as a whole, where the stream was no longer than a window."""
        if not self._before:
            return scrub_bytes(bytes(self._waiting), TEXT, self._known).data
        return self._decide(len(self._waiting))

    def _decide(self, wanted: int) -> bytes:
        """Clean and give up the first ``wanted`` waiting bytes, or so many that no secret is cut."""
        before = self._before.decode(*_LOSSLESS)
        text = before + self._waiting[: wanted + self._margin].decode(*_LOSSLESS)
        start = len(before)
        stop = start + len(self._waiting[:wanted].decode(*_LOSSLESS))
        findings = scan(text, self._known)
        for finding in findings:
            if finding.start < stop < finding.stop:
                stop = finding.stop
        self._known = remembered(self._known, (finding.value for finding in findings if finding.value))
        raw = text[start:stop].encode(*_LOSSLESS)
        clean = _replaced(text, start, stop, findings)
        if not clean.isascii() or len(clean) != stop - start:
            clean = redact(clean, self._known).text
        self._before = (self._before + raw)[-self._margin :]
        del self._waiting[: len(raw)]
        return clean.encode(*_LOSSLESS)


def _character_boundary(data: bytearray, wanted: int) -> int:
    """The last place at or before ``wanted`` that cuts no UTF-8 character; ``wanted`` itself where none is near."""
    near = range(wanted, max(0, wanted - _LONGEST_TAIL) - 1, -1)
    return next((place for place in near if data[place] & _HIGH_BITS != _CONTINUATION), wanted)


def _replaced(text: str, start: int, stop: int, findings: tuple[Finding, ...]) -> str:
    """``text[start:stop]`` with a marker for each finding in it; one that began before was marked with what is gone."""
    parts: list[str] = []
    done = start
    for finding in findings:
        if finding.stop <= start or finding.start >= stop:
            continue
        if finding.start >= start:
            parts += (text[done : finding.start], finding.quote, marker(finding.kind), finding.quote)
        done = finding.stop
    return "".join((*parts, text[done:stop]))
