"""`veritas verify`: does every ledger still say what was written to it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.kernel.errors import StoreError
    from ledger_core.kernel.statements import Scope
    from ledger_core.stores.kept import Kept
    from ledger_core.stores.place import Place
    from ledger_core.stores.verify import DivergenceKind, VerificationReport
    from pipelines.settings import Settings


def command(
    context: typer.Context,
    tenant: Tenant = None,
    project: Project = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every ledger below --home, which is also what no option at all means.")
    ] = False,
    anchor: Annotated[
        list[Path] | None,
        typer.Option(help="Checkpoints kept elsewhere, which the ledgers must still agree with; repeatable."),
    ] = None,
    proof: Annotated[
        list[Path] | None,
        typer.Option(help="A proof or append receipt about one ledger; repeatable, with --project."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Walk chain, receipts, checkpoints, indexes, blobs and conclusions; name each ledger's first divergence (exit code 4).

    --tenant alone walks all ledgers of a tenant.
    """
    from pipelines.cli.output import print_json
    from pipelines.errors import ExitCode, UsageError

    if every and (tenant or project):
        raise UsageError("--all means every ledger; leave it out, or leave out --tenant and --project")
    if proof and project is None:
        raise UsageError("--proof is about one ledger; name it with --project")
    settings = state_of(context).settings(tenant=tenant, project=project)
    kept = _kept([*(anchor or ()), *(proof or ())])
    findings = [_walk(settings.place, scope, kept) for scope in _scopes(settings, kept, tenant, project)]
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
        _warn_of_content(settings, findings)
    if any(finding.verified is False for finding in findings):
        raise typer.Exit(ExitCode.LEDGER_DOES_NOT_VERIFY)
    if refusals:
        raise refusals[0]


def _warn_of_content(settings: Settings, findings: Sequence[_Finding]) -> None:
    """Name the places with content and no event of which nothing says that there was a ledger."""
    from pipelines.cli.ledgers import name_of, without_events

    missed = {name_of(finding.scope) for finding in findings}
    for name in without_events(settings.place):
        if name not in missed:
            typer.echo(
                f"veritas: {name} holds content and no event, so nothing of it is verified; its file was emptied or removed,"
                " or its first write was killed",
                err=True,
            )


_WAY_OUT = {
    "ledger-missing": "restore it from a backup, or name its --store; if it was removed on purpose, remove its checkpoints",
    "truncated": "restore the newest backup that verifies with the anchor",
    "forked": "restore a backup that verifies with the anchor; find out who wrote the file",
    "signature": "ask who made the file for one that is signed by the key you trust",
    "proof": "ask for a new proof; this one proves nothing",
    "checkpoint": "name the file of this ledger, or restore it from a backup",
}
"""By kind of divergence, where it is another than a backup."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """What became of one ledger."""

    scope: Scope
    report: VerificationReport | None
    control_events: int
    pinned: int
    """Evidence events that a checkpoint pins; what lies after them could be cut off unseen."""
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
            "pinned": self.pinned,
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
            typer.echo(
                f"  way out           {_WAY_OUT.get(found.kind, 'restore the folder of the ledger from a backup')}"
            )
            return
        typer.echo(f"{name}: verified")
        typer.echo(f"  head          {report.head} ({report.events - self.control_events:,} events)")
        typer.echo(f"  control head  {report.control_head} ({self.control_events:,} events)")
        typer.echo(f"  blobs         {report.blobs:,} present, {report.erased:,} erased on purpose")
        kept = f"pin the first {self.pinned:,} events" if self.pinned else "none; `veritas checkpoint` makes one"
        typer.echo(f"  checkpoints   {kept}")


def _kept(paths: Sequence[Path]) -> list[Kept]:
    """What the command line names as kept elsewhere."""
    from ledger_core.kernel.errors import LedgerError
    from ledger_core.stores.kept import read_kept
    from pipelines.errors import UsageError

    try:
        return [read_kept(path) for path in paths]
    except LedgerError as error:
        raise UsageError(str(error)) from error


def _scopes(settings: Settings, kept: Sequence[Kept], tenant: str | None, project: str | None) -> tuple[Scope, ...]:
    """Every ledger that is there, and every one that was: an anchor, a checkpoint or the lake says so."""
    from ledger_core.stores.ledger import list_scopes
    from pipelines.cli.ledgers import existing_scope, scope_named
    from pipelines.errors import PipelineError, UsageError

    there = list_scopes(settings.place)
    anchored = {scope for each in kept for scope in each.book.scopes}
    known = {*there, *anchored, *_recorded(settings)}
    if project is not None:
        wanted = scope_named(settings.tenant, settings.project)
        chosen = [wanted] if wanted in known else [existing_scope(settings)]
    else:
        if tenant is not None:
            scope_named(tenant, settings.project)
        chosen = [scope for scope in known if tenant in (None, scope.tenant_namespace)]
    if not chosen:
        of = "" if tenant is None else f" of tenant {tenant!r}"
        raise PipelineError(f"no ledger{of} below {settings.home}; `veritas import FORMAT PATH` makes one")
    for each in kept:
        if each.book.checkpoints and not set(each.book.scopes) & set(chosen):
            raise UsageError(f"{each.source} holds no checkpoint of the ledgers that are to be verified")
    return tuple(sorted(chosen, key=lambda scope: (scope.tenant_namespace, scope.project_namespace)))


def _recorded(settings: Settings) -> set[Scope]:
    """Ledgers that this home has checkpoints or tables of."""
    from ledger_core.kernel.statements import Scope
    from ledger_core.kernel.text import is_contract_id
    from ledger_core.stores.checkpoints import checkpointed_scopes

    tables = {file.parent for file in settings.lake.glob("*/*/*.parquet")}
    names = {(folder.parent.name, folder.name) for folder in tables}
    return {
        *checkpointed_scopes(settings.home),
        *(
            Scope.make(tenant_namespace=tenant, project_namespace=project)
            for tenant, project in names
            if is_contract_id(tenant) and is_contract_id(project)
        ),
    }


def _walk(place: Place, scope: Scope, kept: Sequence[Kept]) -> _Finding:
    """Walk one ledger; a file that cannot even be opened has diverged, one of another version is not ours to judge."""
    from ledger_core.kernel.errors import (
        LedgerBusyError,
        LedgerVersionError,
        NoteError,
        StorageFullError,
        StoreError,
    )
    from ledger_core.stores.checkpoints import note_file, read_notes
    from ledger_core.stores.kept import Kept
    from ledger_core.stores.verify import DivergenceKind, verify
    from pipelines.cli.ledgers import reading

    if not place.exists(scope):
        what = "an anchor, a checkpoint or the lake says that there was a ledger here, and there is none"
        return _diverged(scope, DivergenceKind.LEDGER_MISSING, what)
    own = note_file(place.home, scope)
    try:
        with reading(place, scope) as ledger:
            everything = [Kept(str(own), read_notes(own)), *kept]
            report = verify(ledger, kept=everything)
            control_events = 0 if report.control_head is None else ledger.count("control")
    except (LedgerVersionError, LedgerBusyError, StorageFullError) as error:
        return _Finding(scope, None, 0, 0, error)
    except NoteError as error:
        return _diverged(scope, DivergenceKind.CHECKPOINT, str(error))
    except StoreError as error:
        return _diverged(scope, DivergenceKind.UNREADABLE, str(error))
    last = (each.book.latest(scope, "evidence") for each in everything)
    pinned = max((signed.checkpoint.size for signed in last if signed is not None), default=0)
    return _Finding(scope, report, control_events, pinned, None)


def _diverged(scope: Scope, kind: DivergenceKind, detail: str) -> _Finding:
    from ledger_core.stores.verify import Divergence, VerificationReport

    report = VerificationReport(None, None, 0, 0, 0, Divergence(kind, "control", None, None, detail))
    return _Finding(scope, report, 0, 0, None)


def _place(family: str, offset: int | None, event_id: str | None) -> str:
    place = f"{family} log" if offset is None else f"{family} event {offset}"
    return place if event_id is None else f"{place} ({event_id})"
