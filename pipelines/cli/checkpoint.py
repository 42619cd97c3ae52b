"""`veritas checkpoint`: sign what a ledger holds now, so that nobody can take it back unseen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.flags import AsJson, Now, Project, Tenant
from pipelines.cli.state import state_of


def command(
    context: typer.Context,
    tenant: Tenant = None,
    project: Project = None,
    anchor: Annotated[
        list[Path] | None,
        typer.Option(help="Add the checkpoint to this file too, best where the home's owner cannot write; repeatable."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="Private key that signs. (else <home>/signing/checkpoint.key, made on first use)"),
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> None:
    """Verify a ledger, then sign the size and root of its two trees."""
    from ledger_core.signing import load_key, open_key
    from ledger_core.stores import Ledger
    from ledger_core.stores.checkpoints import key_file, make_checkpoint, note_file, read_notes
    from ledger_core.stores.kept import Kept
    from ledger_core.stores.verify import verify
    from pipelines.cli.clock import parse_now, wall_clock
    from pipelines.cli.ledgers import existing_scope
    from pipelines.cli.output import print_json

    settings = state_of(context).settings(tenant=tenant, project=project)
    clock = wall_clock if now is None else parse_now(now)
    scope = existing_scope(settings)
    signer = open_key(key_file(settings.home)) if key is None else load_key(key)
    files = [note_file(settings.home, scope), *(path.absolute() for path in anchor or ())]
    with Ledger.existing(settings.place, scope, now=clock) as ledger:
        kept = [Kept(str(path), read_notes(path)) for path in files]
        verify(ledger, kept=kept).require()
        made = make_checkpoint(ledger, signer, files)
    if as_json:
        print_json(
            {
                "tenant": scope.tenant_namespace,
                "project": scope.project_namespace,
                "key": str(signer.verifier),
                "checkpoints": [
                    {
                        "origin": each.checkpoint.origin,
                        "size": each.checkpoint.size,
                        "root": each.checkpoint.root.hex(),
                        "note": each.note.encode(),
                    }
                    for each in made
                ],
                "files": [str(path) for path in files],
            }
        )
        return
    for each in made:
        checkpoint = each.checkpoint
        typer.echo(f"{checkpoint.origin}: {checkpoint.size:,} events, root {checkpoint.root.hex()}")
    typer.echo(f"  signed by {signer.verifier}")
    for path in files:
        typer.echo(f"  kept in   {path}")
