"""The policy `secrets-v1`: find, replace, look again, and withhold what cannot be cleaned."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import unicodedata2

from ledger_core.redaction.assignments import ASSIGNMENTS
from ledger_core.redaction.findings import WITHHELD, Finding, marker
from ledger_core.redaction.shapes import SHAPES, STRONG
from ledger_core.redaction.views import snap, views

POLICY: Final = "secrets-v1"
_PASSES = 4
"""Replacing a secret can bring another to light; a text that is not clean by then is withheld."""
_INVISIBLE = dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without the secrets that were found in it."""

    text: str
    found: tuple[tuple[str, int], ...]
    """Kind and number of what was replaced, sorted by kind."""
    withheld: str | None
    """Why the whole text was withheld; None where it was not."""


def redact(text: str) -> Redaction:
    """``text`` with every secret replaced by ``[REDACTED:kind]``; what is JSON stays JSON.

    Applying it again changes nothing. Time is linear in the text for every layer of escapes it holds.
    """
    counts: Counter[str] = Counter()
    clean = text
    findings = scan(clean)
    for _ in range(_PASSES):
        if not findings:
            break
        counts.update(finding.kind for finding in findings)
        clean = _replace(clean, findings)
        findings = scan(clean)
    remaining = findings[0].kind if findings else _hidden(clean)
    found = tuple(sorted(counts.items()))
    if remaining is not None:
        return Redaction(WITHHELD, found, f"{POLICY}: a secret of kind {remaining} remained after redaction")
    return Redaction(clean, found, None)


def scan(text: str) -> tuple[Finding, ...]:
    """Where ``text`` holds secrets: disjoint ranges in order, none of which cuts an escape sequence."""
    found: list[Finding] = []
    for view in views(text):
        for finding in _shapes_in(view.text):
            start, stop = snap(text, view.origin(finding.start), view.origin(finding.stop))
            if start < stop:
                found.append(Finding(start, stop, finding.kind, _escaped(finding.quote, view.depth)))
    return tuple(_disjoint(found))


def _shapes_in(text: str) -> Iterator[Finding]:
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
            current = Finding(current.start, max(current.stop, finding.stop), current.kind, current.quote)
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
