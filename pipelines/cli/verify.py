"""`veritas verify`: does every ledger still say what was written to it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from pathlib import Path

    from ledger_core.kernel.statements import Scope
    from ledger_core.stores.verify import VerificationReport
    from pipelines.settings import Settings


def command(
    context: typer.Context,
    tenant: Tenant = None,
    project: Project = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every ledger below --home, which is also what no option at all means.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Walk chain, receipts, indexes, blobs and conclusions; name the first divergence of each ledger (exit code 4).

    --tenant alone walks all ledgers of a tenant.
    """
    from pipelines.cli.output import print_json
    from pipelines.errors import ExitCode, UsageError

    if every and (tenant or project):
        raise UsageError("--all means every ledger; leave it out, or leave out --tenant and --project")
    settings = state_of(context).settings(tenant=tenant, project=project)
    findings = [_walk(settings.home, scope) for scope in _scopes(settings, tenant, project)]
    if as_json:
        verified = all(report.first_divergence is None for _, report, _ in findings)
        print_json({"verified": verified, "ledgers": [_as_json(*finding) for finding in findings]})
    else:
        for finding in findings:
            _show(*finding)
    if any(report.first_divergence is not None for _, report, _ in findings):
        raise typer.Exit(ExitCode.LEDGER_DOES_NOT_VERIFY)


def _scopes(settings: Settings, tenant: str | None, project: str | None) -> tuple[Scope, ...]:
    from ledger_core.stores.ledger import list_scopes
    from pipelines.cli.ledgers import existing_scope
    from pipelines.errors import PipelineError

    if project is not None:
        return (existing_scope(settings),)
    scopes = tuple(scope for scope in list_scopes(settings.home) if tenant in (None, scope.tenant_namespace))
    if not scopes:
        of = "" if tenant is None else f" of tenant {tenant!r}"
        raise PipelineError(f"no ledger{of} below {settings.home}; `veritas import FORMAT PATH` makes one")
    return scopes


def _walk(home: Path, scope: Scope) -> tuple[Scope, VerificationReport, int]:
    """The report on one ledger and its number of control events; a file that cannot even be opened has diverged."""
    from ledger_core.kernel.errors import LedgerBusyError, LedgerVersionError, StorageFullError, StoreError
    from ledger_core.stores.verify import Divergence, DivergenceKind, VerificationReport, verify
    from pipelines.cli.ledgers import reading

    try:
        with reading(home, scope) as ledger:
            report = verify(ledger)
            control = 0 if report.control_head is None else ledger.count("control")
    except (LedgerVersionError, LedgerBusyError, StorageFullError):
        raise
    except StoreError as error:
        divergence = Divergence(DivergenceKind.UNREADABLE, "control", None, None, str(error))
        return scope, VerificationReport(None, None, 0, 0, 0, divergence), 0
    return scope, report, control


def _as_json(scope: Scope, report: VerificationReport, control: int) -> dict[str, Any]:
    found = report.first_divergence
    return {
        "tenant": scope.tenant_namespace,
        "project": scope.project_namespace,
        "verified": found is None,
        "head": report.head,
        "control_head": report.control_head,
        "events": report.events,
        "control_events": control,
        "blobs": report.blobs,
        "erased": report.erased,
        "first_divergence": None
        if found is None
        else {
            "kind": str(found.kind),
            "family": found.family,
            "offset": found.offset,
            "event_id": found.event_id,
            "detail": found.detail,
        },
    }


def _show(scope: Scope, report: VerificationReport, control: int) -> None:
    from pipelines.cli.ledgers import name_of
    from pipelines.cli.output import printable

    if report.first_divergence is not None:
        found = report.first_divergence
        typer.echo(f"{name_of(scope)}: DOES NOT VERIFY")
        typer.echo(f"  first divergence  {found.kind} at {_place(found.family, found.offset, found.event_id)}")
        typer.echo(f"  detail            {printable(found.detail)}")
        typer.echo(f"  walked before     {report.events:,} events, {report.blobs:,} blobs")
        typer.echo("  way out           restore the ledger's folder from a backup")
        return
    typer.echo(f"{name_of(scope)}: verified")
    typer.echo(f"  head          {report.head} ({report.events - control:,} events)")
    typer.echo(f"  control head  {report.control_head} ({control:,} events)")
    typer.echo(f"  blobs         {report.blobs:,} present, {report.erased:,} erased on purpose")


def _place(family: str, offset: int | None, event_id: str | None) -> str:
    place = f"{family} log" if offset is None else f"{family} event {offset}"
    return place if event_id is None else f"{place} ({event_id})"
