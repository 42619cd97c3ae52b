"""Other people's JSON, read without trust: a value that is not of the expected kind counts as absent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ledger_core.connectors.reading import canonical
from ledger_core.kernel import digests

_LONGEST_FACT = 80
_SHARED_TEXT = 120
"""Characters from which a text that several samples have is a passage they share and no label."""


def as_mapping(value: object) -> Mapping[str, object]:
    """``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """``value`` where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str | None:
    """``value`` where it is a string with something in it."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """``value`` where it is a whole number of at least 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: object) -> float | None:
    """``value`` where it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def digest_of(value: object) -> str:
    """Identity of a JSON value."""
    return digests.body_hex(canonical(value))


def facts(record: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Fields by which records may belong together: short plain values as they are, long texts by their digest."""
    for name, value in record.items():
        if isinstance(value, bool | int) or (isinstance(value, str) and 0 < len(value) <= _LONGEST_FACT):
            yield name, str(value)
        elif isinstance(value, str) and len(value) >= _SHARED_TEXT:
            yield name, f"a text of {len(value)} characters ({digest_of(value)[:8]})"
