"""`veritas report`: write the report of a run again from its tables, or set two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import hexdigits
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from evals.report.compare import Comparison


def command(
    context: typer.Context,
    run: Annotated[str | None, typer.Option(help="Digest of a run, or its beginning; default: the latest.")] = None,
    compare: Annotated[
        tuple[Path, Path] | None, typer.Option(help="Two report folders to set side by side.", metavar="A B")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the comparison as a page and as JSON.", metavar="FOLDER")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Write the report of a run again, or compare two reports."""
    import json

    from pipelines.errors import UsageError

    if compare is not None and run is not None:
        raise UsageError("--compare takes two report folders and no run; leave out --run")
    if out is not None and compare is None:
        raise UsageError("--out is the folder of a comparison; name two report folders with --compare")
    if compare is not None:
        _compare(compare, out, as_json=as_json)
        return
    from pipelines.errors import OutdatedTableError
    from pipelines.main_job import workspace_of
    from pipelines.plan import find
    from pipelines.stages.identity import evaluate_command
    from pipelines.stages.reports import write_report

    if run is not None and not (run and set(run) <= set(hexdigits.lower())):
        raise UsageError(
            f"--run {run!r} is no beginning of a digest: 0-9 and a-f, as in the name of the report's folder"
        )
    settings = state_of(context).settings()
    chosen = find(settings.home, run)
    try:
        written = write_report(workspace_of(settings, chosen))
    except OutdatedTableError as error:
        raise OutdatedTableError(f"{error}: `{evaluate_command(chosen.plan)}`") from error
    typer.echo(json.dumps({"report": str(written.html)}) if as_json else f"Report: {written.html}")


def _compare(folders: tuple[Path, Path], out: Path | None, *, as_json: bool) -> None:
    from evals.report.compare import compare_reports, write_comparison
    from evals.report.write import read_report

    found = compare_reports(read_report(folders[0]), read_report(folders[1]))
    page = None if out is None else write_comparison(out, found)
    if as_json:
        typer.echo(found.to_json(), nl=False)
        return
    for line in _lines(found):
        typer.echo(line)
    if page is not None:
        typer.echo(f"Comparison: {page}")


def _lines(found: Comparison) -> Iterator[str]:
    """Both runs by name, then one table a question; what is equal in both is left out, verdicts apart."""
    from evals.report.text import p_value, points, span

    yield f"left   {found.left.run}: {found.headlines[0]}"
    yield f"right  {found.right.run}: {found.headlines[1]}"
    verdicts = [
        (row.subject, row.left, row.right, "" if row.left == row.right else "differs") for row in found.verdicts
    ]
    yield from _table("Verdicts", ("criterion", "left", "right", ""), verdicts)
    others = [(row.subject, row.left, row.right) for row in found.identity]
    yield from _table("What differs between the runs", ("what", "left", "right"), others)
    moved = [
        (
            f"{row.family}/{row.variant} {row.metric}, arm {row.arm}",
            points(row.clustered.estimate),
            ""
            if row.clustered.low is None or row.clustered.high is None
            else span(row.clustered.low, row.clustered.high, points),
            str(row.pairs),
            p_value(row.holm.value),
        )
        for row in found.paired
        if row.left_only or row.right_only
    ]
    header = ("scenario by scenario", "left − right", "95 %", "pairs", "Holm p")
    yield from _table("Pairs that differ", header, moved)
    yield from _table(
        "Figures that differ", ("figure", "left", "right"), [(r.subject, r.left, r.right) for r in found.figures]
    )
    shared = max((row.pairs + row.incomplete for row in found.paired), default=0)
    yield ""
    yield (
        f"Paired: {len(found.paired)} differences over up to {shared} scenarios that both runs asked, {len(moved)} of them not 0."
        if shared
        else "Paired: the runs have no scenario in common."
    )


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    yield ""
    yield title
    for row in (header, *rows):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
