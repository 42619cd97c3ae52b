"""`veritas export`: one ledger as one file that verifies by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of


def command(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist yet.")],
    no_blobs: Annotated[bool, typer.Option("--no-blobs", help="Leave content out; its digests stay.")] = False,
    tenant: Tenant = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write a whole ledger, both logs with receipts and chain and all content, to one file, and verify the file.

    Equal ledgers give equal bytes. `veritas restore` makes the ledger again.
    """
    from ledger_core.stores.archive import export
    from pipelines.cli.ledgers import existing_scope, name_of, reading
    from pipelines.cli.output import print_json

    settings = state_of(context).settings(tenant=tenant, project=project)
    scope = existing_scope(settings)
    with reading(settings.place, scope) as ledger:
        header = export(ledger, path, blobs=not no_blobs)
    if as_json:
        print_json({"path": str(path), "bytes": path.stat().st_size, **header.model_dump()})
        return
    typer.echo(f"ledger {name_of(scope)}: exported to {path} ({path.stat().st_size:,} bytes)")
    typer.echo(f"  head          {header.evidence_head} ({header.evidence_events:,} events)")
    typer.echo(f"  control head  {header.control_head} ({header.control_events:,} events)")
