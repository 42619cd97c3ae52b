"""`veritas audit-eval`: what is wrong with the numbers of somebody else's evaluation, and what they should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.flags import AsJson

if TYPE_CHECKING:
    from evals.eval_audit import AuditReport, Finding
    from evals.eval_audit.audit import AuditedRun
    from evals.eval_audit.pairs import Comparison


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Inspect log, lm-eval samples_*.jsonl, tau-bench results, or a folder of them."
        ),
    ],
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field of the samples by which they belong together, such as `passage_id`."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Read other people's evaluation logs and say what is wrong with their numbers, with the corrected figure beside each.

    Two runs of the same samples are compared by pairs. Nothing is appended anywhere.
    """
    from evals.eval_audit import audit
    from pipelines.cli.output import print_json, printable
    from pipelines.errors import ExitCode

    found = audit(paths, cluster=cluster)
    for _, why in found.failed:
        typer.echo(f"veritas: {printable(why)}", err=True)
    if as_json:
        print_json(document(found))
    else:
        for line in _lines(found):
            typer.echo(line)
    return ExitCode.FAILURE if found.failed else ExitCode.DONE


def document(found: AuditReport) -> dict[str, Any]:
    """The report as JSON values; an undefined figure is its reason."""
    return {
        "runs": [_run_document(each) for each in found.runs],
        "comparisons": [asdict(each) for each in found.comparisons],
        "failed": [{"path": path, "why": why} for path, why in found.failed],
        "skipped": [{"path": path, "why": why} for path, why in found.skipped],
    }


def _run_document(each: AuditedRun) -> dict[str, Any]:
    run = each.run
    return {
        "path": run.path,
        "format": run.format,
        "task": run.task,
        "model": run.model,
        "status": run.status,
        "rows": len(run.rows),
        "planned": run.planned,
        "scorers": [asdict(scorer) for scorer in each.scorers],
        "findings": [asdict(finding) for finding in each.findings],
    }


def _lines(found: AuditReport) -> Iterator[str]:
    for each in found.runs:
        yield from _run_lines(each)
    for comparison in found.comparisons:
        yield from _comparison_lines(comparison)
    for path, why in found.skipped:
        yield f"{path}: skipped, {why}"
    wrong = sum(finding.weight == "wrong" for finding in found.findings)
    runs = f"{len(found.runs)} run{'' if len(found.runs) == 1 else 's'}"
    yield f"{runs} read; findings: {wrong} wrong, {len(found.findings) - wrong} to check"


def _run_lines(each: AuditedRun) -> Iterator[str]:
    from evals.statistics import Undefined
    from pipelines.cli.output import printable

    run = each.run
    of = f" by {printable(run.model)}" if run.model else ""
    yield f"{run.path}"
    answers = f"{len(run.rows)} answer{'' if len(run.rows) == 1 else 's'}"
    yield f"  {run.format} run of {printable(run.task)}{of}, {answers}"
    for scorer in each.scorers:
        figure = f"undefined ({scorer.figure.reason})" if isinstance(scorer.figure, Undefined) else scorer.figure
        yield f"  {printable(scorer.scorer):<24} reported {scorer.reported or 'nothing'}; by its answers {figure}"
    for finding in each.findings:
        yield from _finding_lines(finding)
    if not each.findings:
        yield "    nothing found"
    yield ""


def _comparison_lines(each: Comparison) -> Iterator[str]:
    from pipelines.cli.output import printable

    yield f"{each.left}"
    yield f"  against {each.right}"
    discordant = (
        "" if each.discordant is None else f", right in one only: {each.discordant[0]} and {each.discordant[1]}"
    )
    p = "" if each.mcnemar is None else f", {each.mcnemar.method} p = {each.mcnemar.value:.3g}"
    yield f"  {printable(each.scorer):<24} {each.pairs} pairs{discordant}{p}"
    for finding in each.findings:
        yield from _finding_lines(finding)
    yield ""


def _finding_lines(finding: Finding) -> Iterator[str]:
    from pipelines.cli.output import printable

    scorer = "" if finding.scorer is None else f" ({printable(finding.scorer)})"
    yield f"    {finding.weight:<5} {finding.check}{scorer}: {printable(finding.says)}"
    if finding.corrected is not None:
        yield f"          reported  {printable(finding.reported or 'nothing')}"
        yield f"          corrected {finding.corrected}"
    if finding.formula is not None and (finding.corrected is None or finding.formula != finding.corrected.method):
        yield f"          by        {printable(finding.formula)}"
    if finding.answers is not None:
        yield f"          answers   {printable(str(finding.answers))}"
