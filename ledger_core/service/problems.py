"""What goes wrong, as `application/problem+json` (RFC 9457): one closed list of kinds, one shape for all of them.

A problem says what the caller can do something about. Places on this machine and the state of other scopes are never
in it: what failed inside is logged, and the answer names only its kind.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledger_core.kernel.errors import (
    AppendError,
    BeliefError,
    BlobError,
    CanonicalError,
    CollisionError,
    LedgerBusyError,
    LedgerError,
    MerkleError,
    OutcomeUnknownError,
    PolicyError,
    ProviderError,
    StatementError,
    StorageFullError,
    StoreUnreachableError,
    TrustFieldError,
    UnknownReferenceError,
)
from ledger_core.kernel.records import TRUST_FIELDS

MEDIA_TYPE: Final = "application/problem+json"
_URN: Final = "urn:veritas:problem:"
_LISTED: Final = 8
_SHOWN: Final = 200
_log = logging.getLogger(__name__)


class _Kind(NamedTuple):
    status: int
    title: str


class ProblemKind(Enum):
    """Everything the service answers instead of what was asked for."""

    MALFORMED = _Kind(400, "The request is not HTTP as this service reads it")
    UNAUTHORIZED = _Kind(401, "A valid token is needed")
    FORBIDDEN = _Kind(403, "The token's role may not do this")
    NOT_FOUND = _Kind(404, "There is nothing of that name here")
    METHOD_NOT_ALLOWED = _Kind(405, "The route has no such method")
    TIMEOUT = _Kind(408, "The request did not arrive in time")
    COLLISION = _Kind(409, "Another statement about the same fact is in the ledger")
    HEAD_MISMATCH = _Kind(409, "The ledger is not the one that was looked at")
    SUPERSEDED = _Kind(409, "What the request succeeds is no longer in force")
    ERASED = _Kind(410, "The content was erased on purpose")
    TOO_LARGE = _Kind(413, "The body is over the limit")
    UNSUPPORTED_MEDIA_TYPE = _Kind(415, "The body is of another media type")
    TRUST_FIELD = _Kind(422, "Trust is never stated by a request")
    INVALID = _Kind(422, "The request holds something that cannot be")
    UNKNOWN_REFERENCE = _Kind(422, "A reference to no event of this ledger")
    MISSING_CONTENT = _Kind(422, "Content that was not stored first")
    INTERNAL = _Kind(500, "The service failed")
    DAMAGED = _Kind(500, "The ledger does not read")
    UNAVAILABLE = _Kind(503, "The service cannot take this now")
    STORAGE_FULL = _Kind(507, "There is no room to write")

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.value.status

    @property
    def slug(self) -> str:
        """The last part of the kind's URN."""
        return self.name.lower().replace("_", "-")

    @property
    def urn(self) -> str:
        """The member `type` of the document."""
        return _URN + self.slug


_EVERY: Final[Mapping[ProblemKind, Mapping[str, str]]] = {ProblemKind.UNAVAILABLE: {"Retry-After": "1"}}
"""Headers of every problem of a kind."""


class FieldComplaint(BaseModel):
    """One field that cannot be."""

    model_config = ConfigDict(extra="forbid")

    field: str
    message: str


class ProblemDocument(BaseModel):
    """The body of every answer other than success (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(pattern=f"^{_URN}[a-z-]+$")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    field: str | None = None
    """The first offending field."""
    errors: list[FieldComplaint] | None = None
    """Every offending field, at most eight."""
    held: str | None = None
    """Of a collision: the event that the ledger holds."""
    refused: str | None = None
    """Of a collision: the event that was refused."""
    current: str | None = None
    """Of a mismatch: what is in force instead."""


class Problem(Exception):  # noqa: N818 - the RFC's word
    """An answer other than success, raised from wherever it is found out."""

    def __init__(
        self,
        kind: ProblemKind,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> Response:
        """The problem as HTTP."""
        document = ProblemDocument(
            type=self.kind.urn, title=self.kind.value.title, status=self.kind.status, detail=self.detail, **self.members
        )
        return Response(
            document.model_dump_json(exclude_none=True),
            status_code=self.kind.status,
            media_type=MEDIA_TYPE,
            headers={"Cache-Control": "no-store", **_EVERY.get(self.kind, {}), **self.headers},
        )


def not_found() -> Problem:
    """The one answer for what is not there, whether it is nowhere or in another scope."""
    return Problem(ProblemKind.NOT_FOUND, "nothing of that name is in the scope of this token; check the id")


def invalid(field: str, message: str) -> Problem:
    """One field of a request that cannot be."""
    kind = ProblemKind.TRUST_FIELD if field.rpartition(".")[2] in TRUST_FIELDS else ProblemKind.INVALID
    if kind is ProblemKind.TRUST_FIELD:
        message = "trust is never stated by a request, it is computed; remove this field"
    complaint = FieldComplaint(field=field, message=message)
    return Problem(kind, f"{field}: {message}", field=field, errors=[complaint])


def from_validation(error: ValidationError, under: str = "") -> Problem:
    """Every complaint of a request record, a trust field before any other."""
    complaints = [
        FieldComplaint(field=_place(complaint["loc"], under), message=_message(complaint))
        for complaint in error.errors(include_url=False, include_context=False)
    ]
    trust = [one for one in complaints if _is_trust(one)]
    if trust:
        found = invalid(trust[0].field, "")
        return Problem(ProblemKind.TRUST_FIELD, found.detail, field=trust[0].field, errors=trust[:_LISTED])
    first = complaints[0]
    return Problem(
        ProblemKind.INVALID, f"{first.field}: {first.message}", field=first.field, errors=complaints[:_LISTED]
    )


def _is_trust(complaint: FieldComplaint) -> bool:
    return complaint.message == _EXTRA and complaint.field.rpartition(".")[2] in TRUST_FIELDS


_EXTRA: Final = "is no field of this request"


def _message(complaint: Any) -> str:
    if complaint["type"] == "extra_forbidden":
        return _EXTRA
    shown = repr(complaint["input"])
    cut = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    message: str = complaint["msg"].removeprefix("Value error, ")
    return f"{message} (got {cut})"


def _place(loc: tuple[int | str, ...], under: str) -> str:
    parts = [under] if under else []
    return ".".join([*parts, *(str(part) for part in loc)]) or "the request"


_TOLD: Final[tuple[tuple[type[LedgerError], ProblemKind], ...]] = (
    (TrustFieldError, ProblemKind.TRUST_FIELD),
    (StatementError, ProblemKind.INVALID),
    (CanonicalError, ProblemKind.INVALID),
    (MerkleError, ProblemKind.INVALID),
    (PolicyError, ProblemKind.INVALID),
    (BeliefError, ProblemKind.INVALID),
    (UnknownReferenceError, ProblemKind.UNKNOWN_REFERENCE),
    (AppendError, ProblemKind.INVALID),
    (BlobError, ProblemKind.MISSING_CONTENT),
)
"""Errors whose message is about the request and is repeated to the caller, the narrowest first."""

_NOTHING_WRITTEN: Final = "nothing was written, send the same request again"
_UNKNOWN_OUTCOME: Final = "the request may or may not have been done; send the same request again, which settles it"

_KEPT: Final[tuple[tuple[type[LedgerError], ProblemKind, str], ...]] = (
    (
        ProviderError,
        ProblemKind.UNAVAILABLE,
        f"a model that this needs does not serve; {_NOTHING_WRITTEN}",
    ),
    (OutcomeUnknownError, ProblemKind.UNAVAILABLE, _UNKNOWN_OUTCOME),
    (StoreUnreachableError, ProblemKind.UNAVAILABLE, f"the store of this ledger does not answer; {_NOTHING_WRITTEN}"),
    (LedgerBusyError, ProblemKind.UNAVAILABLE, f"another process holds this ledger; {_NOTHING_WRITTEN}"),
    (
        StorageFullError,
        ProblemKind.STORAGE_FULL,
        "nothing was written; the operator of this service has to make room",
    ),
    (
        LedgerError,
        ProblemKind.DAMAGED,
        "nothing was written; the operator of this service has to run `veritas verify`",
    ),
)
"""Errors whose message is about the service, the narrowest first: it is logged, and the caller is told these words."""


def from_ledger(error: LedgerError) -> Problem:
    """The problem that an error of the ledger is to the caller."""
    if isinstance(error, CollisionError):
        return Problem(ProblemKind.COLLISION, str(error), held=error.held, refused=error.refused)
    told = next((kind for one, kind in _TOLD if isinstance(error, one)), None)
    if told is not None:
        return Problem(told, str(error))
    return _kept(error)


def _kept(error: LedgerError) -> Problem:
    kind, words = next((kind, words) for one, kind, words in _KEPT if isinstance(error, one))
    _log.error("%s: %s", type(error).__name__, error)
    return Problem(kind, words)


def from_reading(error: LedgerError) -> Problem:
    """The problem that an error while reading the log is: what lies there is not the caller's doing."""
    if isinstance(error, MerkleError | UnknownReferenceError):  # a size or an event that was asked for
        return from_ledger(error)
    return _kept(error)


def unavailable(why: str) -> Problem:
    """Nothing was written and the same request may be sent again."""
    return Problem(ProblemKind.UNAVAILABLE, f"{why}; {_NOTHING_WRITTEN}")


def internal(error: BaseException) -> Problem:
    """What must not happen: logged whole, told as little as possible."""
    _log.error("internal error", exc_info=error)
    return Problem(ProblemKind.INTERNAL, _UNKNOWN_OUTCOME)
