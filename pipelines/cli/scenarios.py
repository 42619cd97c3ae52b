"""`veritas scenarios`: the scenarios of the evaluation, generated or loaded from a file, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import LARGEST_SEED, AsJson

if TYPE_CHECKING:
    from evals.scenarios import Scenario

_SEED = 7
_A_FAMILY = 80

Population = Annotated[
    str | None,
    typer.Option(metavar="FORMAT=PATH", help="Scenarios of a file: poisonedrag, conflictqa, tau-bench or scenarios."),
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the scenarios.")]
Number = Annotated[
    int | None, typer.Option("--n", min=1, help="Scenarios a family (else 80), or records of the file (else all).")
]

app = typer.Typer(help="The scenarios of the evaluation: list them, show one in words.", no_args_is_help=True)


@app.command("list")
def list_(population: Population = None, seed: Seed = _SEED, number: Number = None, as_json: AsJson = False) -> None:
    """List scenarios: id, family, variant, order and wording, one a line."""
    from pipelines.cli.output import print_json

    found, skipped = scenarios_of(population, seed=seed, number=number)
    if as_json:
        print_json(
            {
                "scenarios": [_summary(each) for each in found],
                "skipped": [{"place": p, "why": why} for p, why in skipped],
            }
        )
        return
    for each in found:
        typer.echo(f"{each.id}  {each.variant}  {each.order}  {each.wording}")
    for place, why in skipped:
        typer.echo(f"{place}: left out, {why}", err=True)


@app.command("show")
def show(
    scenario: Annotated[
        str, typer.Argument(metavar="ID", help="Beginning of an id that `list` prints, or of its digest.")
    ],
    population: Population = None,
    seed: Seed = _SEED,
    number: Number = None,
    as_json: AsJson = False,
) -> None:
    """Print one scenario: what is planted, step by step, and what must happen to it."""
    import json

    from pipelines.cli.output import print_json

    found, _ = scenarios_of(population, seed=seed, number=number)
    chosen = named(scenario, found)
    if as_json:
        print_json(json.loads(chosen.canonical_bytes()))
        return
    for line in lines_of(chosen):
        typer.echo(line)


def scenarios_of(
    population: str | None, *, seed: int, number: int | None
) -> tuple[list[Scenario], list[tuple[str, str]]]:
    """The scenarios meant, and what was left out of a file.

    Raises:
        UsageError: a population that is no ``FORMAT=PATH``.
    """
    from evals.scenarios import FAMILIES, generate
    from evals.scenarios.loaders import load_population
    from pipelines.errors import UsageError

    if population is None:
        variants = [(name, variant) for name, family in FAMILIES.items() for variant in (None, *family.on_request)]
        return [each for name, variant in variants for each in generate(name, number or _A_FAMILY, seed, variant)], []
    name, equals, path = population.partition("=")
    if not equals or not path:
        raise UsageError(f"--population takes FORMAT=PATH, such as conflictqa=file.jsonl; got {population!r}")
    loaded = load_population(name, Path(path), limit=number, seed=seed)
    return list(loaded.scenarios), [(each.place, each.reason) for each in loaded.skipped]


def named(beginning: str, found: list[Scenario]) -> Scenario:
    """The scenario whose id or digest begins so.

    Raises:
        UsageError: there is none, or there are several.
    """
    from pipelines.errors import UsageError

    meant = {each.id: each for each in found if each.id.startswith(beginning) or each.digest.startswith(beginning)}
    exact = [each for name, each in meant.items() if name == beginning]
    if exact or len(meant) == 1:
        return (exact or list(meant.values()))[0]
    if not meant:
        raise UsageError(f"no scenario begins with {beginning!r}; `veritas scenarios list` prints all")
    raise UsageError(
        f"{beginning!r} begins {len(meant)} scenarios, such as {', '.join(list(meant)[:3])}; write more of it"
    )


def _summary(scenario: Scenario) -> dict[str, Any]:
    return {
        "id": scenario.id,
        "family": scenario.family,
        "variant": scenario.variant,
        "order": scenario.order,
        "wording": scenario.wording,
        "digest": scenario.digest,
    }


def lines_of(scenario: Scenario) -> Iterator[str]:
    """The scenario in words."""
    from pipelines.cli.output import printable

    yield f"{scenario.id}"
    yield f"family {scenario.family}, variant {scenario.variant}, {scenario.order}"
    yield f"wording {scenario.wording}, number {scenario.index} of seed {scenario.seed}"
    yield ""
    for place, step in enumerate(scenario.steps, start=1):
        yield f"{place:>2}. {printable(_step(scenario, step))}"
    question = scenario.question
    if question is not None:
        yield ""
        yield f"true value   {printable(question.true)} ({question.kind})"
        yield f"false value  {'none' if question.false is None else printable(question.false)}"
        yield f"third values {printable(', '.join(question.third)) or 'none'}"
        yield f"answer stem  {printable(question.stem)} …"
    yield ""
    yield f"retracted    {', '.join(sorted(scenario.retracted)) or 'nothing'}"
    yield f"must fall    {', '.join(scenario.dependents) or 'nothing'}"
    yield f"must stand   {', '.join(scenario.true_claims) or 'nothing'}"
    yield f"in context   {', '.join(scenario.in_context)} when the question is put"
    for claim in scenario.claims:
        for foil in claim.foils:
            yield f"foil         {claim.key}: {printable(foil)}"


def _step(scenario: Scenario, step: Any) -> str:
    if step.step in {"seal", "give", "say"}:
        entry = scenario.entry(step.entry)
        who = {"seal": f"{entry.host or 'a tool'} says", "give": "the user says", "say": "the agent says"}[step.step]
        parents = f" (declares {', '.join(parent.key for parent in entry.declared)}" if entry.declared else ""
        used = f"; rests on {', '.join(entry.used) or 'nothing'})" if entry.declared else ""
        return f"{entry.key}, {entry.role}: {who}: {entry.text}{parents}{used}"
    if step.step == "judge":
        return f"the oracle: {', '.join(step.candidates)} contradict {step.target}"
    if step.step == "compact":
        return f"compaction: {', '.join(step.drops)} leave the context"
    question = scenario.question
    if step.step == "ask" and question is not None:
        return f"question: {question.text}"
    return f"{step.step}: " + ", ".join(f"{name} {value}" for name, value in step if name != "step")
