"""The closed record: strict types, no defaults, no extra keys, fields declared in canonical key order.

Because the fields stand in UTF-16 order and no string holds a control character, pydantic-core's own serialiser emits
exactly the canonical bytes of the strict profile, and decoding followed by encoding is the gate that stops *same
identity, different bytes*. A test holds the field order of every record.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from ledger_core.kernel.errors import StatementError, TrustFieldError

MAX_BYTES = 1 << 20
"""Largest canonical record, in bytes."""

TRUST_FIELDS = frozenset(
    {"authority", "belief", "reputation", "tier", "trust", "trust_tier", "verified", "sealed", "corroborated"},
)
"""Names by which a request could try to state its own trust: refused by name, wherever they appear uninvited."""


def explain(error: ValidationError) -> StatementError:
    """One complaint of ``error``, a trust field before any other, as a one-line error naming field and value."""
    complaints = error.errors(include_url=False)
    for complaint in complaints:
        if complaint["type"] == "extra_forbidden" and str(complaint["loc"][-1]) in TRUST_FIELDS:
            return TrustFieldError(
                f"{_place(complaint)}: trust is never stated by a request, it is computed; remove this field"
            )
    first = complaints[0]
    value = repr(first["input"])
    shown = value if len(value) <= 80 else value[:77] + "..."  # noqa: PLR2004 - one line of a terminal
    return StatementError(f"{_place(first)}: {first['msg'].removeprefix('Value error, ')} (got {shown})")


def _place(complaint: ErrorDetails) -> str:
    return ".".join(str(part) for part in complaint["loc"]) or "the record"


class Record(BaseModel):
    """Base of every canonical record."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, revalidate_instances="never")

    @classmethod
    def make(cls, **fields: Any) -> Self:
        """Build from values, raising :class:`StatementError` that names the first bad field."""
        try:
            return cls(**fields)
        except ValidationError as error:
            raise explain(error) from error

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Decode canonical bytes; raises :class:`StatementError` unless re-encoding gives exactly ``data``."""
        if len(data) > MAX_BYTES:
            raise StatementError(f"a record of {len(data)} bytes is over the limit of {MAX_BYTES}")
        try:
            record = cls.model_validate_json(data)
        except ValidationError as error:
            raise explain(error) from error
        if record.canonical_bytes() != data:
            raise StatementError(f"{cls.__name__}: the bytes are not the canonical encoding of what they say")
        return record

    def canonical_bytes(self) -> bytes:
        """The canonical encoding under ``ostk-canonical-json-v1``."""
        return self.__pydantic_serializer__.to_json(self)
