"""`veritas verify`: does every ledger still say what was written to it?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.kernel.errors import StoreError
    from ledger_core.kernel.statements import Scope
    from ledger_core.stores.place import Place
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
    findings = [_walk(settings.place, scope) for scope in _scopes(settings, tenant, project)]
    refusals = [finding.refusal for finding in findings if finding.refusal is not None]
    if len(findings) == len(refusals):
        raise refusals[0]
    if as_json:
        verified = all(finding.verified for finding in findings)
        print_json({"verified": verified, "ledgers": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            finding.show()
    if not (tenant or project):
        from pipelines.cli.ledgers import without_events

        for name in without_events(settings.place):
            typer.echo(
                f"veritas: {name} holds content and no event, so nothing of it is verified; its file was emptied or removed,"
                " or its first write was killed",
                err=True,
            )
    if any(finding.verified is False for finding in findings):
        raise typer.Exit(ExitCode.LEDGER_DOES_NOT_VERIFY)
    if refusals:
        raise refusals[0]


@dataclass(frozen=True, slots=True)
class _Finding:
    """What became of one ledger."""

    scope: Scope
    report: VerificationReport | None
    control_events: int
    refusal: StoreError | None
    """Why it was not walked at all: another version, or no permission. That says nothing about what it holds."""

    @property
    def verified(self) -> bool | None:
        """None where it was not walked."""
        return None if self.report is None else self.report.first_divergence is None

    def as_json(self) -> dict[str, Any]:
        """One element of the document that `--json` prints."""
        names = {"tenant": self.scope.tenant_namespace, "project": self.scope.project_namespace}
        report = self.report
        if report is None:
            return {**names, "verified": None, "refusal": str(self.refusal)}
        found = report.first_divergence
        return {
            **names,
            "verified": self.verified,
            "refusal": None,
            "head": report.head,
            "control_head": report.control_head,
            "events": report.events,
            "control_events": self.control_events,
            "blobs": report.blobs,
            "erased": report.erased,
            "first_divergence": None if found is None else asdict(found),
        }

    def show(self) -> None:
        """Print it as text."""
        from pipelines.cli.ledgers import name_of
        from pipelines.cli.output import printable

        name, report = name_of(self.scope), self.report
        if report is None:
            typer.echo(f"{name}: NOT WALKED")
            typer.echo(f"  reason        {printable(str(self.refusal))}")
            return
        if report.first_divergence is not None:
            found = report.first_divergence
            typer.echo(f"{name}: DOES NOT VERIFY")
            typer.echo(f"  first divergence  {found.kind} at {_place(found.family, found.offset, found.event_id)}")
            typer.echo(f"  detail            {printable(found.detail)}")
            typer.echo(f"  walked before     {report.events:,} events, {report.blobs:,} blobs")
            typer.echo("  way out           restore the ledger's folder from a backup")
            return
        typer.echo(f"{name}: verified")
        typer.echo(f"  head          {report.head} ({report.events - self.control_events:,} events)")
        typer.echo(f"  control head  {report.control_head} ({self.control_events:,} events)")
        typer.echo(f"  blobs         {report.blobs:,} present, {report.erased:,} erased on purpose")


def _scopes(settings: Settings, tenant: str | None, project: str | None) -> tuple[Scope, ...]:
    from ledger_core.stores.ledger import list_scopes
    from pipelines.cli.ledgers import existing_scope
    from pipelines.errors import PipelineError

    if project is not None:
        return (existing_scope(settings),)
    scopes = tuple(scope for scope in list_scopes(settings.place) if tenant in (None, scope.tenant_namespace))
    if not scopes:
        of = "" if tenant is None else f" of tenant {tenant!r}"
        raise PipelineError(f"no ledger{of} below {settings.home}; `veritas import FORMAT PATH` makes one")
    return scopes


def _walk(place: Place, scope: Scope) -> _Finding:
    """Walk one ledger; a file that cannot even be opened has diverged, one of another version is not ours to judge."""
    from ledger_core.kernel.errors import LedgerBusyError, LedgerVersionError, StorageFullError, StoreError
    from ledger_core.stores.verify import Divergence, DivergenceKind, VerificationReport, verify
    from pipelines.cli.ledgers import reading

    try:
        with reading(place, scope) as ledger:
            report = verify(ledger)
            control_events = 0 if report.control_head is None else ledger.count("control")
    except (LedgerVersionError, LedgerBusyError, StorageFullError) as error:
        return _Finding(scope, None, 0, error)
    except StoreError as error:
        divergence = Divergence(DivergenceKind.UNREADABLE, "control", None, None, str(error))
        return _Finding(scope, VerificationReport(None, None, 0, 0, 0, divergence), 0, None)
    return _Finding(scope, report, control_events, None)


def _place(family: str, offset: int | None, event_id: str | None) -> str:
    place = f"{family} log" if offset is None else f"{family} event {offset}"
    return place if event_id is None else f"{place} ({event_id})"
