"""The strings of a JSON text: what may be replaced in it without breaking it."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from ledger_core.redaction.findings import Finding

_OPENINGS = ("{", "[", '"')
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"", re.DOTALL)
_SCALAR = re.compile(r"[-+.0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class JsonStrings:
    """Where the strings of a valid JSON text begin and end, quotes excluded."""

    text: str
    starts: tuple[int, ...]
    stops: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> JsonStrings | None:
        """The strings of ``text``; None where it is no JSON object, array or string."""
        if not text.lstrip().startswith(_OPENINGS):
            return None
        try:
            json.loads(text, parse_int=len, parse_float=len)
        except (ValueError, RecursionError):
            return None
        spans = [match.span(1) for match in _STRING.finditer(text)]
        return cls(text, tuple(start for start, _ in spans), tuple(stop for _, stop in spans))

    def around(self, finding: Finding) -> tuple[int, int] | None:
        """The string in which ``finding`` begins; None where it begins outside of strings."""
        index = bisect_right(self.starts, finding.start) - 1
        return (self.starts[index], self.stops[index]) if index >= 0 and finding.start <= self.stops[index] else None

    def fitted(self, finding: Finding) -> Finding | None:
        """``finding`` where replacing it leaves JSON: inside one string, or one bare scalar that becomes a string."""
        span = self.around(finding)
        if span is not None:
            return finding if finding.stop <= span[1] and finding.quote != '"' else None
        scalar = _SCALAR.match(self.text, finding.start)
        return replace(finding, stop=scalar.end()) if scalar is not None and finding.quote == '"' else None
