"""`veritas token`: who may speak for which role in which scope of a service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.kernel.statements import Scope
    from ledger_core.service.tokens import Token, TokenStore

app = typer.Typer(help="Make, list and revoke the tokens of a service.", no_args_is_help=True, rich_markup_mode="rich")


@app.command("create")
def create(
    context: typer.Context,
    role: Annotated[
        str,
        typer.Option(
            help="sealer, recorder, agent, verifier, attributor, operator, auditor or admin.", show_default=False
        ),
    ],
    tenant: Tenant = None,
    project: Project = None,
    principal: Annotated[
        str | None, typer.Option(help="Name in the receipts of what its bearer appends. (else made from its id)")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires. (else never)")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print it. It is shown here and never again."""
    from ledger_core.kernel.timestamps import from_datetime
    from ledger_core.service.errors import ServiceError
    from pipelines.cli.clock import wall_clock
    from pipelines.cli.output import print_json
    from pipelines.errors import UsageError

    scope = _scope(context, tenant, project)
    expires_at = None if days is None else from_datetime(datetime.now(UTC) + timedelta(days=days))
    with _store(context) as tokens:
        try:
            token, text = tokens.create(scope, role, now=wall_clock(), principal=principal, expires_at=expires_at)
        except ServiceError as error:
            raise UsageError(str(error)) from error
    if as_json:
        print_json({**_document(token), "token": text})
        return
    typer.echo(text)
    typer.echo(
        f"veritas: {token.role} of {_name(token.scope)}, {_until(token)}, known in receipts as {token.principal}; "
        f"`veritas token revoke {token.id}` ends it",
        err=True,
    )


@app.command("list")
def list_(context: typer.Context, tenant: Tenant = None, project: Project = None, as_json: AsJson = False) -> None:
    """List tokens, without their secrets: all of this home, or those of one scope."""
    from pipelines.cli.clock import wall_clock
    from pipelines.cli.output import print_json

    scope = _scope(context, tenant, project) if tenant or project else None
    with _store(context) as tokens:
        found = tokens.list(scope)
    if as_json:
        print_json({"tokens": [_document(token) for token in found]})
        return
    now = wall_clock()
    for token in found:
        state = "valid" if token.refusal(now) is None else "revoked" if token.revoked_at else "expired"
        typer.echo(f"{token.id}  {state:7}  {token.role:10}  {_name(token.scope)}  {token.principal}  {_until(token)}")


@app.command("revoke")
def revoke(context: typer.Context, token_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Take a token out of service, at once and for good; a running service notices with the next request."""
    from pipelines.cli.clock import wall_clock

    with _store(context) as tokens:
        token = tokens.revoke(token_id, now=wall_clock())
    typer.echo(f"{token.id}: revoked at {token.revoked_at}")


@contextmanager
def _store(context: typer.Context) -> Iterator[TokenStore]:
    from ledger_core.service.tokens import TokenStore

    tokens = TokenStore(state_of(context).settings().home)
    try:
        yield tokens
    finally:
        tokens.close()


def _scope(context: typer.Context, tenant: str | None, project: str | None) -> Scope:
    from pipelines.cli.ledgers import scope_named

    settings = state_of(context).settings(tenant=tenant, project=project)
    return scope_named(settings.tenant, settings.project)


def _document(token: Token) -> dict[str, Any]:
    fields = asdict(token)
    del fields["scope"]
    return {**fields, "tenant": token.scope.tenant_namespace, "project": token.scope.project_namespace}


def _name(scope: Scope) -> str:
    return f"{scope.tenant_namespace}/{scope.project_namespace}"


def _until(token: Token) -> str:
    return "for good" if token.expires_at is None else f"until {token.expires_at}"
