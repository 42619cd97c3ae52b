"""Errors of the service and of its client.

LedgerError
└── ServiceError             the service, or a request to it
    ├── TokenError           a token that does not admit its bearer
    ├── ConfigurationError   settings under which the service must not start
    └── ApiError             an answer other than success, as the client raises it
        ├── Unauthorized     401: no token, or one that is not valid any more
        ├── Forbidden        403: the role may not use this route
        ├── NotFound         404: nothing of that name in the token's scope
        ├── Conflict         409: a collision, or another head than expected
        ├── Refused          413, 422 and the like: the request itself cannot be
        └── Unavailable      5xx, or no answer at all: nothing is known to have been written (also a StoreError)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger_core.kernel.errors import LedgerError, StoreError


class ServiceError(LedgerError):
    """Base of what the service and its client raise on purpose."""


class TokenError(ServiceError):
    """A token that does not admit its bearer; the message says why and never repeats the secret."""


class ConfigurationError(ServiceError):
    """Settings under which the service must not start."""


class ApiError(ServiceError):
    """The service answered with a problem."""

    def __init__(self, message: str, *, status: int | None, problem: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status; None where no answer came."""
        self.problem = dict(problem)
        """The `application/problem+json` document, empty where there was none."""


class Unauthorized(ApiError):  # noqa: N818 - named as the status is
    """401."""


class Forbidden(ApiError):  # noqa: N818 - named as the status is
    """403."""


class NotFound(ApiError):  # noqa: N818 - named as the status is
    """404."""


class Conflict(ApiError):  # noqa: N818 - named as the status is
    """409."""


class Refused(ApiError):  # noqa: N818 - the request cannot be
    """Any other 4xx: sending the same request again gives the same answer."""


class Unavailable(ApiError, StoreError):  # noqa: N818 - named as the status is
    """5xx or no answer; the same request may be sent again, and is never appended twice."""
