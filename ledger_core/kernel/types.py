"""Field types of the canonical records: each says what bytes it admits, none coerces.

Integers only: weights in parts per million (``Ppm``), attenuation and belief in parts of 10⁹ (``PartsOfU``),
log-probability differences in micro-nats (``MicroNats``). Text fields hold names and identifiers; free text is a blob.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, NewType, TypeVar

from pydantic import AfterValidator, Field

from ledger_core.kernel.errors import CanonicalError
from ledger_core.kernel.text import check_foreign_name, check_text
from ledger_core.kernel.timestamps import check_timestamp

EventId = NewType("EventId", str)
"""Identity of a statement: ``domain("ostk-accepted-event-v1", canonical(statement))`` in lower-case hex."""

PPM = 1_000_000
"""One, in parts per million: the unit M of weights."""

U = 1_000_000_000
"""One, in the unit of attenuation and belief."""

MAX_INTEGER = 2**53 - 1
_MAX_FACT_BYTES = 512
MAX_ITEMS = 4096
"""Most elements of one array under the strict profile."""

_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)+")
_Item = TypeVar("_Item")


def _located(check: Callable[[str], str]) -> Callable[[str], str]:
    """``check`` as a validator whose refusal names the field: pydantic gives a place to a ValueError only."""

    def validate(value: str) -> str:
        try:
            return check(value)
        except CanonicalError as error:
            raise ValueError(str(error)) from error

    return validate


_located_text = _located(check_text)


def _check_fact_text(value: str) -> str:
    if not value or len(value.encode()) > _MAX_FACT_BYTES:
        raise ValueError(f"a source-fact part has 1 to {_MAX_FACT_BYTES} bytes; digest what is longer")
    return _located_text(value)


def _check_pointer(value: str) -> str:
    if _POINTER.fullmatch(_check_fact_text(value)) is None:
        raise ValueError("not an RFC 6901 pointer to a member: '/', then members with '~' and '/' as '~0' and '~1'")
    return value


def ascending(name: str, keys: list[_Item] | tuple[_Item, ...], order: Callable[[_Item], str] = str) -> None:
    """Hold a set to its one spelling: raises ValueError unless ``keys`` rise strictly, so that each occurs once."""
    ranks = [order(key) for key in keys]
    if any(left >= right for left, right in pairwise(ranks)):
        raise ValueError(f"{name} are sorted, each once")


Items = Annotated[tuple[_Item, ...], Field(max_length=MAX_ITEMS)]
"""An array of at most 4,096 elements: what the strict profile admits."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ContractId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,127}$")]
ArmName = Annotated[str, Field(pattern=r"^[0-9a-z][0-9a-z_.-]{0,127}$")]
"""An arm by the specification's name, such as ``2m``: the one name of ours that may start with a digit."""

Family = Annotated[str, Field(pattern=r"^(\*|[a-z][a-z0-9_.-]{0,127})$")]
"""A predicate family; ``*`` is the default one."""

ForeignName = Annotated[str, Field(min_length=1), AfterValidator(_located(check_foreign_name))]
"""A tool, model or media type as its owner spells it: NFC, at most 256 bytes."""

FactText = Annotated[str, AfterValidator(_check_fact_text)]
"""A part of a source fact's key: NFC text of 1 to 512 bytes."""

Pointer = Annotated[str, AfterValidator(_check_pointer)]
"""An RFC 6901 pointer to a member, of 2 to 512 bytes: the empty pointer would spell the whole document a second way."""

Timestamp = Annotated[str, AfterValidator(_located(check_timestamp))]
Ppm = Annotated[int, Field(ge=0, le=PPM)]
PartsOfU = Annotated[int, Field(ge=0, le=U)]
MicroNats = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Offset = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,15}$")]
"""A committed offset: a decimal string from ``"1"``."""
