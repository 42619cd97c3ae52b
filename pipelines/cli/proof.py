"""`veritas proof`: a file that shows, to whoever trusts the key, that the log holds an event or extends an older log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.flags import Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.kernel.statements import LogFamily
    from ledger_core.signing import SignedNote
    from ledger_core.stores import Ledger, StoredEvent
    from ledger_core.stores.checkpoints import NoteBook

_SHORTEST = 8


def command(
    context: typer.Context,
    event: Annotated[
        str | None,
        typer.Argument(metavar="[EVENT]", help="8 or more digits of an event's id: prove that the log holds it."),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(metavar="ANCHOR", help="Prove instead that the log extends the last checkpoint in this file."),
    ] = None,
    control: Annotated[
        bool, typer.Option("--control", help="With --since: the control log, else the evidence log.")
    ] = False,
    receipt: Annotated[
        bool, typer.Option("--receipt", help="Print the signed receipt of EVENT, which needs no checkpoint.")
    ] = False,
    tenant: Tenant = None,
    project: Project = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of standard output.")] = None,
) -> None:
    """Prove against the latest checkpoint of this home, as a file that `verify --proof` and the auditor check."""
    from ledger_core.stores.checkpoints import LedgerTrees, note_file, read_notes
    from pipelines.cli.ledgers import existing_scope, reading
    from pipelines.errors import UsageError

    if (event is None) == (since is None):
        raise UsageError(
            "name an EVENT to prove that the log holds it, or --since ANCHOR to prove that the log extends it"
        )
    if (receipt and event is None) or (control and since is None):
        raise UsageError("--receipt goes with an EVENT, --control with --since")
    settings = state_of(context).settings(tenant=tenant, project=project)
    scope = existing_scope(settings)
    with reading(settings.place, scope) as ledger:
        book = read_notes(note_file(settings.home, scope))
        if event is not None and receipt:
            from ledger_core.signing import load_key, sign_append
            from ledger_core.stores.checkpoints import key_file

            text = sign_append(_find(ledger, event), load_key(key_file(settings.home))).encode()
        elif event is not None:
            found = _find(ledger, event)
            text = LedgerTrees(ledger).prove_inclusion(found.event_id, _latest(book, ledger, found.family)).encode()
        else:
            family: LogFamily = "control" if control else "evidence"
            older = _latest(read_notes(Path(str(since))), ledger, family)
            text = LedgerTrees(ledger).prove_consistency(older, _latest(book, ledger, family)).encode()
    if out is None:
        typer.echo(text, nl=False)
        return
    out.write_text(text, encoding="utf-8")
    typer.echo(f"{out}: {text.partition(chr(10))[0]}")


def _latest(book: NoteBook, ledger: Ledger, family: LogFamily) -> SignedNote:
    from pipelines.cli.ledgers import name_of
    from pipelines.errors import PipelineError

    found = book.latest(ledger.scope, family)
    if found is None:
        raise PipelineError(
            f"no checkpoint of the {family} log of {name_of(ledger.scope)}; `veritas checkpoint` makes one"
        )
    return found.note


def _find(ledger: Ledger, name: str) -> StoredEvent:
    """The one event, of either log, whose id begins with ``name``."""
    from ledger_core.kernel.statements import FAMILIES
    from pipelines.errors import PipelineError, UsageError

    prefix = name.lower()
    if len(prefix) < _SHORTEST or not set(prefix) <= set("0123456789abcdef"):
        raise UsageError(f"{name!r} is no event id: write its first {_SHORTEST} to 64 hex digits")
    found = [event for family in FAMILIES for event in ledger.events(family) if event.event_id.startswith(prefix)]
    if len(found) > 1:
        raise UsageError(f"{name} begins the ids of {len(found)} events; write more of it")
    if not found:
        raise PipelineError(f"no event of this ledger has an id that begins with {name}")
    return found[0]
