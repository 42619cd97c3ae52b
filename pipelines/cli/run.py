"""`veritas run`: the main job."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.flags import LARGEST_SEED
from pipelines.cli.state import state_of


def command(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="A few scenarios: shows everything, decides nothing.")] = False,
    now: Annotated[
        str | None,
        typer.Option(help="Clock of a first start, e.g. 2026-01-31T12:00:00Z; a resumed run keeps its own."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the scenarios.")] = 7,
    gate: Annotated[str, typer.Option(help="cuts-v1, or seed-v4 for the specification's stability gate.")] = "cuts-v1",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
) -> None:
    """Measure, evaluate and report: the whole pipeline on generated scenarios and sample transcripts."""
    import json

    from pipelines.cli.clock import parse_now
    from pipelines.cli.options import check_gate
    from pipelines.main_job import open_run, run_main_job
    from pipelines.progress import display

    check_gate(gate)
    settings = state_of(context).settings()
    at = open_run(settings, quick=quick, now=None if now is None else parse_now(now), seed=seed, gate=gate)
    if dry_run:
        from pipelines.cost import estimate, print_estimate

        print_estimate(estimate(at), as_json=as_json)
        return
    with display():
        outcome = run_main_job(at)
    if as_json:
        typer.echo(
            json.dumps({"report": str(outcome.report), "head": outcome.head, "verdicts": dict(outcome.verdicts)})
        )
        return
    if quick:
        typer.echo("Too small for a verdict: a quick run shows everything and decides nothing.")
    for criterion, verdict in outcome.verdicts:
        typer.echo(f"{criterion.upper():<4} {verdict}")
    typer.echo(f"Ledger head {outcome.head}")
    typer.echo(f"Report: {outcome.report}")
