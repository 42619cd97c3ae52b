"""A place in a text that holds a secret, and the markers that take its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

WITHHELD = "[WITHHELD:secrets-v1]"
"""Stands for a whole text in which secrets remained; the reason is the policy that could not clean it."""

_MARKER = re.compile(r"\[(?:REDACTED:[a-z0-9-]{1,32}|WITHHELD:secrets-v1)\]")


def marker(kind: str) -> str:
    """What replaces a secret of ``kind``: plain ASCII without quote or backslash, so JSON around it stays JSON."""
    return f"[REDACTED:{kind}]"


def without_markers(text: str) -> str:
    """``text`` without what earlier redaction put into it."""
    return _MARKER.sub("", text)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A half-open character range of a text."""

    start: int
    stop: int
    kind: str
    quote: str = ""
    """Quote to put around the marker where the secret was a bare JSON number."""
    value: str = ""
    """The secret with its escapes undone, where it is telling enough to be looked for elsewhere."""
