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
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Write the report of a run again, or compare two reports."""
    import json

    from pipelines.errors import UsageError

    if compare is not None and run is not None:
        raise UsageError("--compare takes two report folders and no run; leave out --run")
    if compare is not None:
        from evals.report.compare import compare_reports
        from evals.report.write import read_report

        rows = compare_reports(read_report(compare[0]), read_report(compare[1]))
        if as_json:
            typer.echo(json.dumps([row.model_dump(mode="json") for row in rows]))
            return
        for row in rows:
            typer.echo(f"{row.subject:<60} {row.left:<28} {row.right}")
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
