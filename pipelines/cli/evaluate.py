"""`veritas evaluate`: every family and arm of the suite, with the verdicts as the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.flags import LARGEST_SEED
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from evals.kill_criteria import Evaluation
    from pipelines.main_job import Outcome
    from pipelines.suite import Effort


def command(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="A few scenarios: shows everything, decides nothing.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The n that the criteria were designed for; takes hours, resumes.")
    ] = False,
    population: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT=PATH",
            help="Other people's set as a population of its own: poisonedrag, conflictqa, tau-bench or scenarios. Repeatable.",
        ),
    ] = None,
    agent: Annotated[
        str,
        typer.Option(metavar="AGENT", help="Who answers: local, or openai:MODEL; its key is read from OPENAI_API_KEY."),
    ] = "local",
    agent_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Base URL of the server, up to its version. (env OPENAI_BASE_URL)")
    ] = None,
    now: Annotated[
        str | None, typer.Option(help="Clock of a first start, e.g. 2026-01-31T12:00:00Z; a resumed run keeps its own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the scenarios.")] = 7,
    gate: Annotated[str, typer.Option(help="cuts-v1, or seed-v4 for the specification's stability gate.")] = "cuts-v1",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The verdicts as JSON.")] = False,
) -> int:
    """Read every family through its arms; exit with 0 (all pass), 10 (inconclusive), 11 (kill) or 12 (invalid)."""
    from pipelines.agents import chosen_agent
    from pipelines.cli.clock import parse_now
    from pipelines.cli.options import check_gate
    from pipelines.evaluation import open_evaluation, populations_of
    from pipelines.main_job import run_evaluation
    from pipelines.progress import display
    from pipelines.stages.judgement import judged

    check_gate(gate)
    settings = state_of(context).settings()
    chosen = chosen_agent(agent, agent_url, settings.cache / "answers")
    effort = _effort(quick=quick, full=full)
    loaded = populations_of(population or (), effort, seed)
    for each in loaded:
        named = f"{each.population.format}={each.population.source}"
        left_out = f", {each.skipped} records left out (`veritas scenarios list` says why)" if each.skipped else ""
        typer.echo(f"{named}: {len(each.scenarios)} scenarios{left_out}", err=True)
    at = open_evaluation(
        settings,
        effort=effort,
        seed=seed,
        now=None if now is None else parse_now(now),
        gate=gate,
        loaded=loaded,
        chosen=chosen,
    )
    if dry_run:
        from pipelines.cost import print_estimate
        from pipelines.suite_cost import estimate_suite

        print_estimate(estimate_suite(at), as_json=as_json)
        return 0
    with display():
        outcome = run_evaluation(at)
    evaluation = judged(at, at.run.plan.scope)
    account = None if chosen is None else dict(chosen.account())
    _print(evaluation, outcome, account, as_json=as_json)
    return evaluation.exit_code


def _print(evaluation: Evaluation, outcome: Outcome, account: dict[str, object] | None, *, as_json: bool) -> None:
    """The verdicts, where the report is, and what a server was asked."""
    import json

    if as_json:
        document: dict[str, object] = {
            "headline": evaluation.headline,
            "verdicts": dict(outcome.verdicts),
            "report": str(outcome.report),
            "exit_code": evaluation.exit_code,
        }
        typer.echo(json.dumps(document if account is None else {**document, "asked": account}))
        return
    typer.echo(evaluation.headline)
    if account is not None:
        typer.echo(", ".join(f"{name} {value}" for name, value in account.items()))
    typer.echo(f"Report: {outcome.report}")


def _effort(*, quick: bool, full: bool) -> Effort:
    """Raise :class:`UsageError` for both at once."""
    from pipelines.errors import UsageError

    if quick and full:
        raise UsageError("--quick and --full are two sizes of one run; give one of them, or none")
    if quick:
        return "quick"
    return "full" if full else "default"
