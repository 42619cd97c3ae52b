"""`veritas evaluate`: every family and arm of the suite, with the verdicts as the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli import asking_flags
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
    records: Annotated[
        int | None, typer.Option(min=1, help="Records of each of those sets that are planted, in both premise orders.")
    ] = None,
    agent: asking_flags.Agent = "local",
    agent_url: asking_flags.AgentUrl = None,
    agent_prices: asking_flags.AgentPrices = None,
    verifier: asking_flags.Verifier = "oracle",
    verifier_url: asking_flags.VerifierUrl = None,
    verifier_prices: asking_flags.VerifierPrices = None,
    requests_per_minute: asking_flags.RequestsPerMinute = None,
    tokens_per_minute: asking_flags.TokensPerMinute = None,
    attempts: asking_flags.Attempts = None,
    timeout: asking_flags.Timeout = None,
    now: Annotated[
        str | None, typer.Option(help="Clock of a first start, e.g. 2026-01-31T12:00:00Z; a resumed run keeps its own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the scenarios.")] = 7,
    gate: Annotated[str, typer.Option(help="cuts-v1, or seed-v4 for the specification's stability gate.")] = "cuts-v1",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The verdicts as JSON.")] = False,
) -> int:
    """Read every family through its arms; exit with 0 (all pass), 10 (inconclusive), 11 (kill) or 12 (invalid)."""
    from pipelines.cli.clock import parse_now
    from pipelines.cli.options import check_gate
    from pipelines.evaluation import open_evaluation, populations_of
    from pipelines.main_job import run_evaluation
    from pipelines.progress import display
    from pipelines.stages.judgement import judged

    check_gate(gate)
    settings = state_of(context).settings()
    limits = asking_flags.Limits(
        requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute, attempts=attempts, timeout=timeout
    )
    chosen, judge = asking_flags.chosen(
        agent, (agent_url, agent_prices), verifier, (verifier_url, verifier_prices), limits, settings.cache / "answers"
    )
    effort = _effort(quick=quick, full=full)
    loaded = populations_of(population or (), effort, seed, records)
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
        verifier=judge,
    )
    if dry_run:
        from pipelines.cost import print_estimate
        from pipelines.suite_cost import estimate_suite

        print_estimate(estimate_suite(at), as_json=as_json)
        return 0
    with display():
        outcome = run_evaluation(at)
    evaluation = judged(at, at.run.plan.scope)
    asked = {"asked": chosen, "verified": judge}
    accounts = {name: dict(who.account()) for name, who in asked.items() if who is not None}
    _print(evaluation, outcome, accounts, as_json=as_json)
    return evaluation.exit_code


def _print(evaluation: Evaluation, outcome: Outcome, accounts: dict[str, dict[str, object]], *, as_json: bool) -> None:
    """The verdicts, where the report is, and what servers were asked."""
    import json

    if as_json:
        document: dict[str, object] = {
            "headline": evaluation.headline,
            "verdicts": dict(outcome.verdicts),
            "report": str(outcome.report),
            "exit_code": evaluation.exit_code,
        }
        typer.echo(json.dumps({**document, **accounts}))
        return
    typer.echo(evaluation.headline)
    for asked, account in accounts.items():
        typer.echo(f"{asked}: {', '.join(f'{name} {value}' for name, value in account.items())}")
    typer.echo(f"Report: {outcome.report}")


def _effort(*, quick: bool, full: bool) -> Effort:
    """Raise :class:`UsageError` for both at once."""
    from pipelines.errors import UsageError

    if quick and full:
        raise UsageError("--quick and --full are two sizes of one run; give one of them, or none")
    if quick:
        return "quick"
    return "full" if full else "default"
