"""The door of every route: token, role, size and names, in this order, before a handler runs or any data is touched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from ledger_core.kernel.errors import CanonicalError
from ledger_core.kernel.text import check_foreign_name
from ledger_core.service.caller import Caller
from ledger_core.service.errors import ConfigurationError, TokenError
from ledger_core.service.permissions import OPEN, PERMISSIONS, Operation, ServiceRole
from ledger_core.service.problems import Problem, ProblemKind, invalid
from ledger_core.service.reading import refuse_declared_length
from ledger_core.service.requests import Body
from ledger_core.service.state import Service, service_of

JSON: Final = "application/json"
_BEARER: Final = "bearer "
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="veritas"'}
_REFUSED: Final = {"WWW-Authenticate": 'Bearer realm="veritas", error="invalid_token"'}

Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Response]])


def takes(body: type[Body]) -> Callable[[Endpoint], Endpoint]:
    """Mark an endpoint: its request body is a JSON document of the form ``body``."""

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__["takes"] = body
        return endpoint

    return mark


def body_type(endpoint: Callable[..., Any]) -> type[Body] | None:
    """The form that :func:`takes` gave to ``endpoint``, or None."""
    found: type[Body] | None = endpoint.__dict__.get("takes")
    return found


def operation_of(route: APIRoute) -> Operation:
    """The row of ``route`` in the permission table."""
    return next(iter(route.methods or ())), route.path


class GuardedRoute(APIRoute):
    """A route that asks the permission table first; one without a row in it cannot be made."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler behind the door."""
        handle = super().get_route_handler()
        operation = operation_of(self)
        if operation in OPEN:
            return handle
        if operation not in PERMISSIONS:
            raise ConfigurationError(f"{' '.join(operation)} has no row in the permission table; add one")
        allowed = PERMISSIONS[operation]
        queries = frozenset(field.alias for field in self.dependant.query_params)
        takes_json = body_type(self.endpoint) is not None

        async def guarded(request: Request) -> Response:
            service = service_of(request)
            caller = authenticate(request, service)
            authorise(caller, operation, allowed)
            if takes_json:
                _require_json(request)
                refuse_declared_length(request, service.config.limits.json_bytes)
            for name in request.query_params:
                if name not in queries:
                    raise invalid(name, "is no parameter of this route")
            request.state.caller = caller
            return await handle(request)

        return guarded


def authenticate(request: Request, service: Service) -> Caller:
    """Who asks; raises the problem 401 unless a valid token says so."""
    header = request.headers.get("authorization", "")
    if not header.lower().startswith(_BEARER):
        raise Problem(ProblemKind.UNAUTHORIZED, "no token; send `Authorization: Bearer vt_…`", headers=_CHALLENGE)
    now = service.config.now()
    try:
        token = service.tokens.authenticate(header[len(_BEARER) :].strip(), now)
    except TokenError as error:
        raise Problem(ProblemKind.UNAUTHORIZED, str(error), headers=_REFUSED) from error
    return Caller(
        token_id=token.id,
        scope=token.scope,
        role=token.role,
        principal=token.principal,
        received_at=now,
        delivery_id=_delivery_id(request),
        expires_at=token.expires_at,
    )


def authorise(caller: Caller, operation: Operation, allowed: frozenset[ServiceRole]) -> None:
    """Return where the table has the caller's role; raises the problem 403 otherwise."""
    if caller.role not in allowed:
        raise Problem(
            ProblemKind.FORBIDDEN,
            f"{' '.join(operation)} is for {', '.join(sorted(allowed))}; this token's role is {caller.role}",
        )


def _delivery_id(request: Request) -> str | None:
    header = request.headers.get("delivery-id")
    if header is None:
        return None
    try:
        return check_foreign_name(header)
    except CanonicalError as error:
        raise invalid("Delivery-Id", str(error)) from error


def _require_json(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        raise Problem(
            ProblemKind.UNSUPPORTED_MEDIA_TYPE, f"the body is {media_type or 'of no stated type'}; send {JSON}"
        )
