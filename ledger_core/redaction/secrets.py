"""The policy `secrets-v1`: find, replace, look again, and withhold what cannot be cleaned."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import unicodedata2

from ledger_core.redaction.assignments import ASSIGNMENTS
from ledger_core.redaction.findings import WITHHELD, Finding, marker, without_markers
from ledger_core.redaction.json_strings import JsonStrings
from ledger_core.redaction.shapes import SHAPES, STRONG
from ledger_core.redaction.views import View, has_bare_quote, layers, percent_decoded, snap, unescaped

POLICY: Final = "secrets-v1"
_PASSES = 4
"""Replacing a secret can bring another to light; a text that is not clean by then is withheld."""
_MIN_TELLING = 8
_MAX_TELLING = 1024
_MAX_REMEMBERED = 256
_INVISIBLE = dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without the secrets that were found in it."""

    text: str
    found: tuple[tuple[str, int], ...]
    """Kind and number of what was replaced, sorted by kind."""
    withheld: str | None
    """Why the whole text was withheld; None where it was not."""
    values: tuple[str, ...]
    """Secrets that are telling enough to be looked for where nothing beside them gives them away; at most 256."""


def redact(text: str, known: tuple[str, ...] = ()) -> Redaction:
    """``text`` with every secret replaced by ``[REDACTED:kind]``; what is JSON stays JSON.

    A value that was found once is a secret wherever it stands in the text; ``known`` are values found elsewhere.
    Applying it again changes nothing. Time is linear in the text for every layer of escapes and every known value.
    """
    counts: Counter[str] = Counter()
    values: tuple[str, ...] = ()
    clean = text
    findings = scan(clean, known)
    for _ in range(_PASSES):
        if not findings:
            break
        counts.update(finding.kind for finding in findings)
        values = remembered(values, (finding.value for finding in findings if finding.value))
        clean = _replace(clean, findings)
        findings = scan(clean, remembered(known, values))
    remaining = findings[0].kind if findings else _hidden(clean)
    found = tuple(sorted(counts.items()))
    if remaining is not None:
        reason = f"{POLICY}: a secret of kind {remaining} remained after redaction"
        return Redaction(WITHHELD, found, reason, values)
    return Redaction(clean, found, None, values)


def remembered(known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    """``known`` with ``more`` behind it, each once, in order, and no more than can be looked for in linear time."""
    return tuple(dict.fromkeys((*known, *more)))[:_MAX_REMEMBERED]


def scan(text: str, known: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """Where ``text`` holds secrets: disjoint ranges in order, none of which cuts an escape sequence."""
    found = list(_plainly(text, known))
    strings = JsonStrings.of(text) if found or "\\" in text else None
    if strings is None:
        found += _in_layers(text, known)
    else:
        found = _in_json(strings, found, known)
    return tuple(_disjoint(found))


def _in_json(strings: JsonStrings, plain: list[Finding], known: tuple[str, ...]) -> list[Finding]:
    """The plain findings that leave the JSON as it is, and those behind the escapes of its strings.

    Where a string holds JSON itself, only what is found in that JSON counts, or the string as a whole.
    """
    found: list[Finding] = []
    nested: set[int] = set()
    for start, stop in zip(strings.starts, strings.stops, strict=True):
        view = unescaped(View(strings.text[start:stop], 0))
        if view is not None:
            if JsonStrings.of(view.text) is not None:
                nested.add(start)
            found += _in_string(view, start, known)
    for finding in filter(None, map(strings.fitted, plain)):
        span = strings.around(finding)
        if span is None or span[0] not in nested or span == (finding.start, finding.stop):
            found.append(finding)
    return found


def _plainly(text: str, known: tuple[str, ...]) -> Iterator[Finding]:
    """Secrets that show without undoing a JSON escape."""
    view = View(text, 0)
    for each in (view, percent_decoded(text)):
        if each is not None:
            yield from _mapped(each, _shapes_in(each.text, known), text)


def _in_string(view: View, start: int, known: tuple[str, ...]) -> Iterator[Finding]:
    """Secrets in what the JSON string that begins at ``start`` says."""
    for finding in scan(view.text, known):
        yield replace(
            finding,
            start=start + view.origin(finding.start),
            stop=start + view.origin(finding.stop),
            quote=_escaped(finding.quote, 1),
        )


def _in_layers(text: str, known: tuple[str, ...]) -> Iterator[Finding]:
    """Secrets behind escapes in a text that is no JSON but may quote some."""
    for view in layers(text):
        for finding in _mapped(view, _shapes_in(view.text, known), text):
            if not has_bare_quote(text, finding.start, finding.stop):
                yield finding


def _mapped(view: View, findings: Iterable[Finding], text: str) -> Iterator[Finding]:
    """Findings of ``view`` as ranges of ``text``, with the value of those that are worth remembering."""
    for finding in findings:
        start, stop = snap(text, view.origin(finding.start), view.origin(finding.stop))
        if start < stop:
            value = view.text[finding.start : finding.stop]
            quote = _escaped(finding.quote, view.depth)
            yield Finding(start, stop, finding.kind, quote, value if _is_telling(value) else "")


def _is_telling(value: str) -> bool:
    """Whether a value can hardly stand in a text by accident."""
    return (
        _MIN_TELLING <= len(value) <= _MAX_TELLING
        and value == without_markers(value)
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


def _shapes_in(text: str, known: tuple[str, ...]) -> Iterator[Finding]:
    for value in known:
        start = text.find(value)
        while start >= 0:
            yield Finding(start, start + len(value), "repeated")
            start = text.find(value, start + len(value))
    lowered = text.lower()
    for shape in SHAPES:
        yield from shape.find(text, lowered)
    for names in ASSIGNMENTS:
        yield from names.find(text, lowered)


def _disjoint(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Overlapping findings as one, of the kind that starts first and, of those, is longest."""
    current: Finding | None = None
    for finding in sorted(findings, key=lambda item: (item.start, -item.stop, item.kind)):
        if current is not None and finding.start < current.stop:
            stop = max(current.stop, finding.stop)
            current = replace(current, stop=stop, value=current.value or finding.value)
            continue
        if current is not None:
            yield current
        current = finding
    if current is not None:
        yield current


def _replace(text: str, findings: tuple[Finding, ...]) -> str:
    parts: list[str] = []
    done = 0
    for finding in findings:
        parts += (text[done : finding.start], finding.quote, marker(finding.kind), finding.quote)
        done = finding.stop
    return "".join((*parts, text[done:]))


def _escaped(quote: str, depth: int) -> str:
    for _ in range(depth):
        quote = json.dumps(quote)[1:-1]
    return quote


def _hidden(text: str) -> str | None:
    """The kind of a secret that shows once invisible and compatibility characters are normalised away.

    Such a secret has no place in the text that could be replaced with confidence.
    """
    if text.isascii():
        return None
    plain: str = unicodedata2.normalize("NFKC", text.translate(_INVISIBLE))
    lowered = plain.lower()
    for shape in STRONG:
        for finding in shape.find(plain, lowered):
            return finding.kind
    return None
