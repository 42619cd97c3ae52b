"""`veritas restore`: a ledger out of its export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.flags import AsJson
from pipelines.cli.state import state_of


def command(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What `veritas export` wrote.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Verify the file and restore nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Verify an exported ledger, and make it here under the tenant and project that it names: whole or not at all.

    A file that does not verify is refused with its first divergence (exit code 4).
    """
    from ledger_core.stores.archive import open_archive, restore
    from pipelines.cli.ledgers import name_of
    from pipelines.cli.output import print_json

    if dry_run:
        with open_archive(path) as archive:
            report, scope, outcome = archive.verify(), archive.header.scope, "verified, nothing restored"
    else:
        restored = restore(path, state_of(context).settings().place)
        report, scope = restored.report, restored.scope
        outcome = "restored" if restored.fresh else "was here already, with the same heads"
    if as_json:
        print_json(
            {
                "tenant": scope.tenant_namespace,
                "project": scope.project_namespace,
                "outcome": outcome,
                "head": report.head,
                "control_head": report.control_head,
                "events": report.events,
                "blobs": report.blobs,
                "erased": report.erased,
            }
        )
        return
    typer.echo(f"ledger {name_of(scope)}: {outcome}")
    typer.echo(f"  head          {report.head}")
    typer.echo(f"  control head  {report.control_head}")
    typer.echo(f"  holds         {report.events:,} events, {report.blobs:,} blobs, {report.erased:,} erased on purpose")
