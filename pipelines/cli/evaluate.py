"""`veritas evaluate`: the main job, with the verdicts as its exit code."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.flags import LARGEST_SEED
from pipelines.cli.state import state_of


def command(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="A few scenarios: shows everything, decides nothing.")] = False,
    now: Annotated[
        str | None, typer.Option(help="Clock of a first start, e.g. 2026-01-31T12:00:00Z; a resumed run keeps its own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the scenarios.")] = 7,
    gate: Annotated[str, typer.Option(help="cuts-v1, or seed-v4 for the specification's stability gate.")] = "cuts-v1",
    as_json: Annotated[bool, typer.Option("--json", help="The verdicts as JSON.")] = False,
) -> int:
    """Run the evaluation and exit with 0 (all pass), 10 (inconclusive), 11 (kill) or 12 (invalid), the highest of all."""
    import json

    from pipelines.cli.clock import parse_now
    from pipelines.cli.options import check_gate
    from pipelines.main_job import open_run, run_main_job
    from pipelines.progress import display
    from pipelines.stages.judgement import judged

    check_gate(gate)
    at = open_run(
        state_of(context).settings(), quick=quick, now=None if now is None else parse_now(now), seed=seed, gate=gate
    )
    with display():
        outcome = run_main_job(at)
    evaluation = judged(at, at.run.plan.scope)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "headline": evaluation.headline,
                    "verdicts": dict(outcome.verdicts),
                    "report": str(outcome.report),
                    "exit_code": evaluation.exit_code,
                }
            )
        )
    else:
        typer.echo(evaluation.headline)
        typer.echo(f"Report: {outcome.report}")
    return evaluation.exit_code
