"""`veritas why`: from a claim to the entries that caused it, and back to their seals."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.as_of import EffectiveAsOf, RecordedAsOf, instants_of
from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from ledger_core.harness.why import Link, Why
    from pipelines.cli.snapshot import Snapshot

_LINES = 200
"""Lines of a tree that are printed unasked: some screens. A long conversation has tens of thousands."""


def command(
    context: typer.Context,
    claim: Annotated[
        str | None,
        typer.Argument(metavar="CLAIM", help="8 or more digits of an entry's id; left out: all entries and their ids."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help=f"The whole tree, not its first {_LINES} lines.")] = False,
    effective_as_of: EffectiveAsOf = None,
    recorded_as_of: RecordedAsOf = None,
    tenant: Tenant = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what a claim rests on: declared and measured dependence with its weight, step by step back to the seals."""
    from ledger_core.harness.why import why
    from pipelines.cli.entries import check_entry_name, entry_named
    from pipelines.cli.output import print_json
    from pipelines.cli.snapshot import snapshot

    if claim is not None:
        check_entry_name(claim)
    effective, recorded = instants_of(effective_as_of, recorded_as_of)
    with snapshot(
        state_of(context).settings(tenant=tenant, project=project), effective=effective, recorded=recorded
    ) as seen:
        if claim is None:
            _list(seen, as_json=as_json)
            return
        found = why(seen.statements, seen.policy, entry_named(seen, claim))
        if as_json:
            print_json(_document(seen, found))
        else:
            from pipelines.cli.output import print_tree
            from pipelines.cli.why_tree import why_tree

            print_tree(why_tree(found, seen.text), depth=len(found.links), most=None if every else _LINES)


def _list(seen: Snapshot, *, as_json: bool) -> None:
    """Every entry in the order of the log."""
    from ledger_core.belief import fold
    from pipelines.cli.output import SHORT, parts_of_u, print_json, snippet
    from pipelines.cli.snapshot import KINDS

    state = fold(seen.statements, seen.policy)
    contents = seen.contents
    if as_json:
        print_json(
            [
                {
                    "entry": key,
                    "kind": state.entries[key].kind,
                    "tier": state.entries[key].tier,
                    "belief": state.entries[key].belief,
                    "attenuation": state.entries[key].attenuation,
                    "retracted": state.entries[key].retracted,
                    "invalidated": state.entries[key].invalidated,
                    "text": seen.text(content),
                }
                for key, content in contents.items()
            ]
        )
        return
    roles = seen.roles
    for key, content in contents.items():
        entry, text = state.entries[key], seen.text(content)
        mark = " RETRACTED" if entry.retracted else " INVALIDATED" if entry.invalidated else ""
        quoted = "(its content is gone)" if text is None else snippet(text)
        kind = roles.get(key, KINDS[entry.kind])
        typer.echo(f"{key[:SHORT]} {kind:<9} {parts_of_u(entry.belief):>5}{mark} {quoted}")


def _document(seen: Snapshot, found: Why) -> dict[str, Any]:
    return {
        "tenant": seen.scope.tenant_namespace,
        "project": seen.scope.project_namespace,
        "head": seen.head,
        "claim": found.claim,
        "entries": [_link(seen, link) for link in found.links.values()],
    }


def _link(seen: Snapshot, link: Link) -> dict[str, Any]:
    state, sealed = link.state, link.sealed
    return {
        "entry": link.entry,
        "kind": state.kind,
        "role": link.role,
        "tier": state.tier,
        "belief": state.belief,
        "attenuation": state.attenuation,
        "retracted": state.retracted,
        "suspended": state.suspended,
        "invalidated": state.invalidated,
        "text": seen.text(link.content),
        "generation": link.generation,
        "model": link.model,
        "attestation": link.attestation,
        "seal": None
        if sealed is None
        else {
            "event_id": link.seal,
            "tool": sealed.tool,
            "source_id": sealed.source_id,
            "origin_host": sealed.origin_host,
            "cluster": state.cluster,
            "attestation": sealed.attestation,
            "runner": sealed.runner,
            "reach": sealed.reach,
            "outcome": sealed.outcome,
        },
        "retracted_by": [] if link.retraction is None else list(link.retraction.members),
        "measurements": [asdict(measurement) for measurement in link.measurements],
        "causes": [asdict(cause) for cause in link.causes],
        "released": list(link.released),
    }
