"""`veritas report`: write the report of a run again from its tables, or set two runs side by side."""

from __future__ import annotations

from pathlib import Path
from string import hexdigits
from typing import Annotated

import typer

from pipelines.cli.state import state_of


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
    from pipelines.main_job import workspace_of
    from pipelines.plan import find
    from pipelines.stages.reports import write_report

    if run is not None and not (run and set(run) <= set(hexdigits.lower())):
        raise UsageError(
            f"--run {run!r} is no beginning of a digest: 0-9 and a-f, as in the name of the report's folder"
        )
    settings = state_of(context).settings()
    written = write_report(workspace_of(settings, find(settings.home, run)))
    typer.echo(json.dumps({"report": str(written.html)}) if as_json else f"Report: {written.html}")


def _compare(folders: tuple[Path, Path], out: Path | None, *, as_json: bool) -> None:
    from evals.report.compare import compare_reports, write_comparison
    from evals.report.write import read_report

    found = compare_reports(read_report(folders[0]), read_report(folders[1]))
    page = None if out is None else write_comparison(out, found)
    if as_json:
        typer.echo(found.to_json(), nl=False)
        return
    typer.echo(f"{'headline':<60} {found.headlines[0]:<28} {found.headlines[1]}")
    for row in (*found.identity, *found.verdicts, *found.figures):
        typer.echo(f"{row.subject:<60} {row.left:<28} {row.right}")
    shared = max((row.pairs + row.incomplete for row in found.paired), default=0)
    typer.echo(
        f"Paired: {len(found.paired)} differences over up to {shared} scenarios that both runs asked."
        if shared
        else "Paired: the runs have no scenario in common."
    )
    if page is not None:
        typer.echo(f"Comparison: {page}")
