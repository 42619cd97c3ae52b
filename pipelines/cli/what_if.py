"""`veritas what-if`: what would fall if chosen entries were retracted. A hypothesis; nothing is appended."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson, Project, Tenant
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger_core.belief import Fall
    from ledger_core.kernel.types import EventId
    from pipelines.cli.snapshot import Snapshot

_MARK = "hypothesis:"


def command(
    context: typer.Context,
    retract: Annotated[
        list[str],
        typer.Option(metavar="ENTRY", help="Entry to take as retracted: 8 or more digits of its id. Repeatable."),
    ],
    every: Annotated[
        bool, typer.Option("--all", help="List also what loses by the reputation of its origin alone.")
    ] = False,
    tenant: Tenant = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List what would fall, by how much and along which path. No quorum is asked, nothing is appended.

    `veritas why` lists the entries and their ids.
    """
    from ledger_core.belief import what_if
    from ledger_core.harness.exposure import exposed_unmeasured
    from pipelines.cli.entries import check_entry_name, entry_named
    from pipelines.cli.output import print_json
    from pipelines.cli.snapshot import snapshot

    for name in retract:
        check_entry_name(name)
    with snapshot(state_of(context).settings(tenant=tenant, project=project)) as seen:
        retracted = sorted({entry_named(seen, name) for name in retract})
        falls = what_if(seen.statements, seen.policy, retracted)
        unmeasured = exposed_unmeasured(seen.statements, seen.policy, retracted)
        if as_json:
            print_json(_document(seen, retracted, falls, unmeasured))
        else:
            for line in _lines(seen, retracted, falls, unmeasured, every=every):
                typer.echo(f"{_MARK} {line}")


def _document(
    seen: Snapshot, retracted: Sequence[EventId], falls: Sequence[Fall], unmeasured: Sequence[EventId]
) -> dict[str, Any]:
    contents = seen.contents
    return {
        "hypothesis": True,
        "appended": 0,
        "tenant": seen.scope.tenant_namespace,
        "project": seen.scope.project_namespace,
        "head": seen.head,
        "retract": list(retracted),
        "falls": [
            {
                "hypothesis": True,
                "entry": fall.entry,
                "kind": fall.before.kind,
                "tier": fall.before.tier,
                "by": _by(fall, retracted),
                "belief_before": fall.before.belief,
                "belief_after": fall.after.belief,
                "attenuation_before": fall.before.attenuation,
                "attenuation_after": fall.after.attenuation,
                "invalidated_before": fall.before.invalidated,
                "invalidated_after": fall.after.invalidated,
                "path": [{"entry": step.entry, "ppm": step.ppm} for step in fall.path],
                "text": seen.text(contents[fall.entry]),
            }
            for fall in falls
        ],
        "unmeasured": list(unmeasured),
    }


def _by(fall: Fall, retracted: Sequence[EventId]) -> str:
    """Why an entry changes: it is the one `retracted`, loses by `dependence`, or by its origin's `reputation` alone."""
    if fall.entry in retracted:
        return "retracted"
    return "dependence" if fall.before.attenuation != fall.after.attenuation else "reputation"


def _lines(
    seen: Snapshot,
    retracted: Sequence[EventId],
    falls: Sequence[Fall],
    unmeasured: Sequence[EventId],
    *,
    every: bool,
) -> list[str]:
    from pipelines.cli.ledgers import name_of
    from pipelines.cli.output import SHORT

    named = ", ".join(entry[:SHORT] for entry in retracted)
    changed = {fall.entry for fall in falls}
    grouped = [fall for fall in falls if _by(fall, retracted) == "reputation"]
    direct = [fall for fall in falls if every or _by(fall, retracted) != "reputation"]
    dependent = [fall for fall in falls if _by(fall, retracted) == "dependence"]
    invalidated = sum(fall.after.invalidated and not fall.before.invalidated for fall in dependent)
    lines = [f"in ledger {name_of(seen.scope)} {named} taken as retracted; no quorum asked, nothing appended"]
    lines += [
        f"{entry[:SHORT]} is retracted or suspended already: nothing changes"
        for entry in retracted
        if entry not in changed
    ]
    lines += [_line(seen, fall, retracted) for fall in direct]
    if not every:
        lines += _reputation(grouped, named)
    lines.append(
        f"retracting {named} would weaken {len(dependent)} that rest on it, {invalidated} of them below the threshold;"
        f" by reputation alone would lose {len(grouped)}"
    )
    if unmeasured:
        lines.append(
            f"not measured, although {named} was in view: {len(unmeasured)} claims; `veritas attribute` measures them"
        )
    return lines


def _line(seen: Snapshot, fall: Fall, retracted: Sequence[EventId]) -> str:
    from pipelines.cli.output import SHORT, parts_of_u, snippet, weight
    from pipelines.cli.snapshot import KINDS

    text = seen.text(seen.contents[fall.entry])
    by = _by(fall, retracted)
    if by == "retracted":
        fate = "would be retracted"
    elif fall.after.invalidated and not fall.before.invalidated:
        fate = "would be invalidated"
    else:
        fate = "would be weakened"
    numbers = f"attenuation {parts_of_u(fall.before.attenuation)} → {parts_of_u(fall.after.attenuation)}"
    if fall.before.belief is not None:
        numbers = f"belief {parts_of_u(fall.before.belief)} → {parts_of_u(fall.after.belief)}, {numbers}"
    path = "".join(f" → {weight(step.ppm)} {step.entry[:SHORT]}" for step in fall.path)
    along = f", along {fall.entry[:SHORT]}{path}" if path else ""
    if by == "reputation":
        along = f", by the reputation of {fall.before.cluster}"
    quoted = "(its content is gone)" if text is None else snippet(text)
    return f"{fall.entry[:SHORT]} {KINDS[fall.before.kind]} {fate}: {numbers}{along} {quoted}"


def _reputation(falls: Sequence[Fall], named: str) -> list[str]:
    """One line for all entries of an origin that lose alike."""
    from pipelines.cli.output import parts_of_u

    alike = Counter((fall.before.cluster, fall.before.belief, fall.after.belief) for fall in falls)
    return [
        f"retracting {named} would cost {cluster} reputation: {count} more of its entries"
        f" would go from belief {parts_of_u(before)} to {parts_of_u(after)} (--all lists them)"
        for (cluster, before, after), count in sorted(alike.items(), key=str)
    ]
