"""The application: routes behind the guard, one shape for every error, one writer a scope, an orderly end."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from http import HTTPMethod, HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from ledger_core.kernel.errors import LedgerError
from ledger_core.service import openapi, problems
from ledger_core.service.config import ServiceConfig
from ledger_core.service.metrics import Metrics
from ledger_core.service.problems import FieldComplaint, Problem, ProblemKind
from ledger_core.service.reading import drain
from ledger_core.service.rooms import Parts, Rooms, open_at
from ledger_core.service.routes import (
    administering,
    auditing,
    blobs,
    entries,
    measuring,
    operating,
    plain,
    recording,
    sealing,
    verdicts,
)
from ledger_core.service.state import Service
from ledger_core.service.tokens import TokenStore
from ledger_core.signing import open_key
from ledger_core.stores.checkpoints import key_file
from ledger_core.stores.place import Place

_UPLOADS: Final = 16
_OF_THE_FRAMEWORK: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_DRAIN_SECONDS: Final = 1.0
_ROUTERS: Final = (sealing, recording, entries, verdicts, measuring, operating, auditing, blobs, administering, plain)
_DESCRIPTION: Final = (
    "An epistemic ledger for LLM agents: what was observed is sealed, what a model says is a claim, and belief is"
    " computed. Errors are `application/problem+json`. The same request sent again is a replay and nothing else."
)


_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]
"""ASGI's four shapes."""


def create_app(config: ServiceConfig) -> FastAPI:
    """A service over ``config.home``; files are opened when it starts and closed when it ends."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        parts = Parts(
            open_ledger=open_at(config.place or Place(config.home), config.now, config.policy, config.policy_name),
            key=open_key(key_file(config.home)),
            home=config.home,
            metrics=metrics,
            embedder=config.embedder,
        )
        tokens = TokenStore(config.home)
        rooms = Rooms(parts, config.limits.open_ledgers)
        uploads = ThreadPoolExecutor(_UPLOADS, thread_name_prefix="veritas-upload")
        app.state.service = Service(config, tokens, rooms, metrics, uploads)
        try:
            yield
        finally:
            uploads.shutdown(wait=False)
            # uvicorn has answered every request by now; what the writers still hold is made durable first.
            await rooms.close()
            tokens.close()

    app = FastAPI(
        title="Veritas Ledger",
        version=_version(),
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    routes = [route for module in _ROUTERS for route in module.routes.routes if isinstance(route, APIRoute)]
    app.router.routes.extend(routes)  # one list and not ten included routers: each request looks through it
    _document(app, routes)
    _answer_errors(app, metrics)
    app.add_middleware(_Door, metrics=metrics, limit=config.limits.in_flight)
    return app


def _version() -> str:
    try:
        return version("veritas-ledger")
    except PackageNotFoundError:
        return "0"


def _document(app: FastAPI, routes: list[APIRoute]) -> None:
    made: dict[str, Any] = {}

    def document() -> dict[str, Any]:
        if not made:
            made.update(openapi.document(app, routes))
        return made

    app.openapi = document  # type: ignore[method-assign] # FastAPI's own way to have another document


def _answer_errors(app: FastAPI, metrics: Metrics) -> None:
    """One shape for whatever goes wrong, FastAPI's and Starlette's own errors included."""

    async def answer(request: Request, problem: Problem) -> Response:
        metrics.refusals.labels(problem.kind.slug).inc()
        if problem.kind is ProblemKind.TOO_LARGE:
            await drain(request, _DRAIN_SECONDS)
        return problem.response()

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return await answer(request, error)

    async def ledgers(request: Request, error: Exception) -> Response:
        assert isinstance(error, LedgerError)
        return await answer(request, problems.from_ledger(error))

    async def validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return await answer(request, _from_parameters(error))

    async def http(request: Request, error: Exception) -> Response:
        return await answer(request, _from_http(error))

    async def internal(request: Request, error: Exception) -> Response:
        return await answer(request, problems.internal(error))

    app.add_exception_handler(Problem, ours)
    app.add_exception_handler(LedgerError, ledgers)
    app.add_exception_handler(RequestValidationError, validation)
    for status in _OF_THE_FRAMEWORK:
        app.add_exception_handler(status, http)
    app.add_exception_handler(Exception, internal)


def _from_parameters(error: RequestValidationError) -> Problem:
    """A path that cannot name anything is the one 404; a query parameter that cannot be is named."""
    complaints = error.errors()
    if any(complaint["loc"][0] == "path" for complaint in complaints):
        return problems.not_found()
    found = [
        FieldComplaint(field=".".join(str(part) for part in complaint["loc"][1:]), message=complaint["msg"])
        for complaint in complaints
    ]
    return Problem(ProblemKind.INVALID, f"{found[0].field}: {found[0].message}", field=found[0].field, errors=found)


def _from_http(error: Any) -> Problem:
    """What the framework raises by itself, by its status."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problems.not_found()
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = dict(error.headers or {})
        return Problem(
            ProblemKind.METHOD_NOT_ALLOWED,
            f"this route takes {headers.get('Allow', 'another method')}",
            headers=headers,
        )
    return Problem(ProblemKind.MALFORMED, str(error.detail))


class _Door:
    """Counts and times every request, refuses those beyond the limit, and puts the headers on that all answers bear."""

    def __init__(self, app: _App, *, metrics: Metrics, limit: int) -> None:
        self._app = app
        self._metrics = metrics
        self._limit = limit
        self._in_flight = 0

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0
        began = time.perf_counter()

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-content-type-options", b"nosniff")]
            await send(message)

        self._in_flight += 1
        self._metrics.in_flight.set(self._in_flight)
        try:
            if self._in_flight > self._limit:
                crowded = problems.unavailable(f"{self._limit} requests are being answered already")
                await crowded.response()(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        finally:
            self._in_flight -= 1
            self._metrics.in_flight.set(self._in_flight)
            method, route = _method(scope), _template(scope)
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.seconds.labels(method, route).observe(time.perf_counter() - began)


def _method(scope: _Scope) -> str:
    """The method, where it is one of HTTP's: a label may not be whatever a stranger writes."""
    return str(scope["method"]) if scope["method"] in HTTPMethod.__members__ else "other"


def _template(scope: _Scope) -> str:
    """The route's path template: no id, and so no tenant's business, ever becomes a label."""
    route = scope.get("route")
    return str(getattr(route, "path", "none"))
