"""Names for places on the page: readable, unique, and the same for the same document."""

from __future__ import annotations

import re

from evals.errors import ReportError

_OTHER = re.compile(r"[^A-Za-z0-9_.]+")


def slug(*parts: str) -> str:
    """An HTML id from a few words; signs that could mean something elsewhere become dashes."""
    minus = "-minus-".join("-".join(parts).split("−"))
    name = _OTHER.sub("-", minus).strip("-")
    return name or "item"


class Anchors:
    """Hands out ids for one page and sees to it that none is given twice."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def __call__(self, *parts: object) -> str:
        """A new id from the parts; a repetition gets a number."""
        base = slug(*(str(part) for part in parts))
        self._given[base] = self._given.get(base, 0) + 1
        turn = self._given[base]
        if turn == 1:
            return base
        name = f"{base}.{turn}"
        if name in self._given:
            raise ReportError(f"the ids {base!r} and {name!r} collide; rename one of the rows")
        return name
