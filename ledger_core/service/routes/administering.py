"""Tokens of the admin's own scope, and what a token says of its bearer."""

from __future__ import annotations

from fastapi import Request, Response

from ledger_core.service.answers import NewTokenAnswer, TokenAnswer, TokensAnswer, WhoAmI
from ledger_core.service.errors import ServiceError, TokenError
from ledger_core.service.guard import takes
from ledger_core.service.problems import Problem, ProblemKind, not_found
from ledger_core.service.requests import TokenRequest
from ledger_core.service.routes.common import answers, in_thread, read, router
from ledger_core.service.state import caller_of, service_of
from ledger_core.service.tokens import Token

routes = router("tokens")


@routes.post("/token", status_code=201, responses=answers({201: NewTokenAnswer}, 408, 413, 415))
@takes(TokenRequest)
async def create_token(request: Request) -> Response:
    """Make a token of this scope. Its text is told here and never again; asking twice makes two."""
    wanted = await read(request, TokenRequest)
    service, caller = service_of(request), caller_of(request)
    try:
        token, text = await in_thread(
            lambda: service.tokens.create(
                caller.scope,
                wanted.role,
                now=caller.received_at,
                principal=wanted.principal,
                expires_at=wanted.expires_at,
            )
        )
    except ServiceError as error:
        raise Problem(ProblemKind.INVALID, str(error)) from error
    return NewTokenAnswer(token=text, **_described(token).model_dump()).response(201)


@routes.get("/token", responses=answers({200: TokensAnswer}))
async def list_tokens(request: Request) -> Response:
    """The tokens of this scope, without their secrets."""
    scope = caller_of(request).scope
    tokens = await in_thread(lambda: service_of(request).tokens.list(scope))
    return TokensAnswer(tokens=tuple(_described(token) for token in tokens)).response()


@routes.post("/token/{token_id}/revoke", responses=answers({200: TokenAnswer}, 404))
async def revoke_token(request: Request, token_id: str) -> Response:
    """Take a token of this scope out of service, at once and for good."""
    caller = caller_of(request)
    try:
        token = await in_thread(
            lambda: service_of(request).tokens.revoke(token_id, now=caller.received_at, scope=caller.scope)
        )
    except TokenError as error:
        raise not_found() from error
    return _described(token).response()


@routes.get("/whoami", responses=answers({200: WhoAmI}))
async def whoami(request: Request) -> Response:
    """What this token says of its bearer: scope, role, name in receipts."""
    caller = caller_of(request)
    return WhoAmI(
        expires_at=caller.expires_at,
        principal=caller.principal,
        project=caller.scope.project_namespace,
        role=caller.role,
        tenant=caller.scope.tenant_namespace,
        token_id=caller.token_id,
    ).response()


def _described(token: Token) -> TokenAnswer:
    return TokenAnswer(
        created_at=token.created_at,
        expires_at=token.expires_at,
        id=token.id,
        principal=token.principal,
        revoked_at=token.revoked_at,
        role=token.role,
    )
