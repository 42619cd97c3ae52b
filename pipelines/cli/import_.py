"""`veritas import`: other people's transcripts into a ledger, any number of times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Now, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.connectors import ImportReport, Reject
    from ledger_core.kernel.statements import Scope
    from ledger_core.stores import Ledger
    from pipelines.settings import Settings

_SHOWN_REJECTS = 5


def command(
    context: typer.Context,
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="chat, tau-bench or inspect.")],
    path: Annotated[Path, typer.Argument(help="The file to import.")],
    tenant: Tenant = None,
    project: Project = None,
    now: Now = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and report everything, append nothing, create nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import transcripts. Importing again adds nothing; a broken record is put on a reject list (exit code 3).

    Secrets are taken out before anything is stored.
    """
    from pipelines.cli.ledgers import scope_named
    from pipelines.errors import ExitCode

    settings = state_of(context).settings(tenant=tenant, project=project)
    job = _Job(settings, scope_named(settings.tenant, settings.project), format_name, path)
    result = job.rehearse() if dry_run else job.carry_out(now)
    if as_json:
        from pipelines.cli.output import print_json

        print_json(result.as_json())
    else:
        result.show()
    if result.report.rejects:
        raise typer.Exit(ExitCode.PARTIAL_IMPORT)


@dataclass(frozen=True)
class _Result:
    """What an import did, and where."""

    job: _Job
    report: ImportReport
    dry_run: bool
    head: str | None
    """Evidence head afterwards; None in a dry run, which has none."""
    events: int
    """Events of the evidence log afterwards."""
    reject_list: Path | None

    def as_json(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return {
            "tenant": self.job.scope.tenant_namespace,
            "project": self.job.scope.project_namespace,
            "format": self.job.format_name,
            "path": str(self.job.path),
            "dry_run": self.dry_run,
            "records": self.report.records,
            "fresh": self.report.fresh,
            "replayed": self.report.replayed,
            "rejects": [{"place": each.place, "reason": each.reason} for each in self.report.rejects],
            "reject_list": None if self.reject_list is None else str(self.reject_list),
            "redactions": dict(self.report.redactions),
            "withheld": self.report.withheld,
            "head": self.head,
            "events": self.events,
        }

    def show(self) -> None:
        """Print the summary; the first rejects go to standard error."""
        from rich.table import Table

        from pipelines.cli.ledgers import name_of
        from pipelines.cli.output import console, printable

        report = self.report
        would = "would be " if self.dry_run else ""
        table = Table(
            title=printable(f"{self.job.path} ({self.job.format_name})"), title_justify="left", show_header=False
        )
        table.add_column()
        table.add_column(justify="right")
        for name, number in (
            (f"records that {'would be' if self.dry_run else 'are'} in the ledger", report.records),
            (f"events {would}added", report.fresh),
            ("events that were there already", report.replayed),
            (f"records {would}rejected", len(report.rejects)),
            ("secrets taken out", sum(report.redactions.values())),
            *((f"  {kind}", count) for kind, count in report.redactions.items()),
            ("texts withheld whole", report.withheld),
        ):
            table.add_row(name, f"{number:,}")
        out = console()
        out.print(table)
        for reject in report.rejects[:_SHOWN_REJECTS]:
            typer.echo(f"veritas: rejected {printable(reject.place)}: {printable(reject.reason)}", err=True)
        if len(report.rejects) > _SHOWN_REJECTS:
            typer.echo(f"veritas: and {len(report.rejects) - _SHOWN_REJECTS} more", err=True)
        if self.dry_run:
            out.print(f"dry run: nothing was written to ledger {name_of(self.job.scope)}")
            return
        if self.reject_list is not None:
            out.print(f"reject list: {self.reject_list}")
        out.print(f"ledger {name_of(self.job.scope)}: {self.events:,} events, head {self.head}")


@dataclass(frozen=True)
class _Job:
    """One file on its way into one scope."""

    settings: Settings
    scope: Scope
    format_name: str
    path: Path

    def carry_out(self, now: str | None) -> _Result:
        """Import, creating the ledger where there is none yet, but not for a file that cannot be read at all."""
        from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
        from ledger_core.stores.ledger import Ledger, scope_folder
        from pipelines.cli.clock import parse_now

        given = None if now is None else parse_now(now)
        identity = self._identity()
        if not Ledger.exists(self.settings.place, self.scope):
            self._read_once()
        folder = scope_folder(self.settings.place, self.scope)
        with (
            _clock(folder / f"import-{identity}.clock", given) as clock,
            Ledger.open(
                self.settings.place,
                self.scope,
                now=clock,
                policy=SEED_V4_CLUSTERS,
                policy_name=SEED_V4_CLUSTERS_NAME,
            ) as ledger,
        ):
            report = self._import(ledger)
            rejects = _write_rejects(folder / "rejects" / f"{identity}.jsonl", report.rejects)
            return _Result(self, report, dry_run=False, head=ledger.head(), events=ledger.count(), reject_list=rejects)

    def rehearse(self) -> _Result:
        """Do all of it on a copy in memory."""
        from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
        from ledger_core.stores.ledger import Ledger
        from ledger_core.stores.rehearsal import rehearsal
        from pipelines.cli.clock import wall_clock
        from pipelines.cli.ledgers import reading

        self._identity()
        if Ledger.exists(self.settings.place, self.scope):
            with reading(self.settings.place, self.scope) as ledger:
                return self._rehearsed(rehearsal(ledger))
        new = Ledger.in_memory(self.scope, now=wall_clock, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
        return self._rehearsed(rehearsal(new))

    def _rehearsed(self, stage: Ledger) -> _Result:
        report = self._import(stage)
        return _Result(self, report, dry_run=True, head=None, events=stage.count(), reject_list=None)

    def _import(self, ledger: Ledger) -> ImportReport:
        from ledger_core.connectors import import_transcripts
        from pipelines.progress import display, meter

        with display(), meter(f"import {self.path.name}") as progress:
            return import_transcripts(ledger, self.format_name, self.path, progress=progress)

    def _identity(self) -> str:
        """Names this file's content in this format; refuses an unknown format and a file that is not there."""
        from ledger_core.connectors.formats import FORMATS
        from ledger_core.connectors.reading import cannot_read
        from pipelines.errors import UsageError

        if self.format_name not in FORMATS:
            known = ", ".join(f"{each.name} ({each.summary})" for each in FORMATS.values())
            raise UsageError(f"no transcript format is called {self.format_name!r}; known are {known}")
        try:
            if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
                raise UsageError(
                    f"{self.path} is no file but a pipe or a device, which cannot be read twice; save it to a file"
                )
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
        except OSError as error:
            raise cannot_read(self.path, error) from error
        digest.update(self.format_name.encode())
        return digest.hexdigest()[:16]

    def _read_once(self) -> None:
        """Raise what reading the file would raise, before anything is created for its sake."""
        from ledger_core.connectors.formats import format_named

        for _ in format_named(self.format_name).read(self.path).records:
            pass


@contextmanager
def _clock(marker: Path, given: str | None) -> Iterator[str]:
    """The clock of one import: ``given``, or that of the killed import which this one finishes, or the wall clock.

    The marker lies beside the ledger until the import is done, so that a re-run after a kill ends with the same head.
    """
    from ledger_core.kernel.errors import StrictProfileError
    from ledger_core.kernel.timestamps import check_timestamp
    from ledger_core.stores.files import storage_errors, write_whole
    from pipelines.cli.clock import wall_clock

    now = given
    if now is None and marker.exists():
        try:
            now = check_timestamp(marker.read_text(encoding="utf-8", errors="replace"))
        except StrictProfileError:
            now = None  # cut short by the kill, hence before the first event
    now = now or wall_clock()
    with storage_errors(marker):
        write_whole(marker, now.encode())
    yield now
    marker.unlink(missing_ok=True)


def _write_rejects(path: Path, rejects: tuple[Reject, ...]) -> Path | None:
    """Write the reject list as JSON lines; one from an earlier import of the same file goes when nothing is rejected."""
    from ledger_core.stores.files import storage_errors, write_whole

    with storage_errors(path):
        if not rejects:
            path.unlink(missing_ok=True)
            return None
        lines = "".join(f"{json.dumps({'place': r.place, 'reason': r.reason})}\n" for r in rejects)
        write_whole(path, lines.encode())
    return path
