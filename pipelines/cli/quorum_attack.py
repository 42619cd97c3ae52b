"""`veritas quorum-attack`: how many attacks pass the quorum rule, and what the rule costs honest witnesses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.flags import AsJson
from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.quorum_attack.document import QuorumAttackData


def command(
    context: typer.Context,
    attacks: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Attack sets in the form of PoisonedRAG; thresholds are fitted on them."
        ),
    ],
    honest: Annotated[
        list[Path],
        typer.Option(metavar="PATH", help="Honest set: ExpertQA, ConflictQA or listed passages. Repeatable."),
    ],
    check: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Attack set on which the fitted thresholds are checked. Repeatable."),
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, help="Questions of each set that are also played through a ledger.")
    ] = 25,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Folder of the page and its document. (else below the reports)")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the quorum rule against attackers who write texts, and against honest sources that agree.

    The thresholds of `seed-v4` and `calibrated` are set beside those that fit the attack sets best.
    """
    from attribution.models import load_embedder
    from evals.quorum_attack.corpora import read_attack_set, read_honest_sets
    from evals.quorum_attack.embeddings import KeptEmbeddings
    from evals.quorum_attack.page import headline, write_study
    from evals.quorum_attack.study import study
    from pipelines.cli.output import print_json

    settings = state_of(context).settings()
    fit, held = [read_attack_set(path) for path in attacks], [read_attack_set(path) for path in check or []]
    witnesses = [each for path in honest for each in read_honest_sets(path)]
    # Read by torch when it is imported, which is below; a choice of the user's own stands.
    os.environ.setdefault("OMP_NUM_THREADS", str(settings.threads))
    embedder = KeptEmbeddings(load_embedder(settings.cache / "models"), settings.cache / "embeddings")
    data = study(fit, held, witnesses, embedder, command=_command(attacks, honest, check or [], sample), sample=sample)
    page = write_study(out or settings.reports / "quorum-attack", data)
    if as_json:
        print_json({"report": str(page), "headline": headline(data), "points": _points(data)})
        return
    for line in _lines(data):
        typer.echo(line)
    typer.echo(f"Report: {page}")


def _command(attacks: Sequence[Path], honest: Sequence[Path], check: Sequence[Path], sample: int) -> str:
    """The command line, with files by name: where they lie is this machine's business."""
    words = ["veritas quorum-attack", *(path.name for path in attacks)]
    words += [f"--check {path.name}" for path in check]
    words += [f"--honest {path.name}" for path in honest]
    return " ".join([*words, f"--sample {sample}"])


def _points(data: QuorumAttackData) -> list[dict[str, object]]:
    return [
        {
            "name": point.name,
            "cosine_ppm": point.cosine_ppm,
            "jaccard_ppm": point.jaccard_ppm,
            "figures": [row.model_dump(mode="json") for row in data.figures if row.point == point.name],
        }
        for point in data.points
    ]


def _lines(data: QuorumAttackData) -> list[str]:
    from evals.quorum_attack.page import MEASURES
    from evals.report.text import percent, span

    lines = []
    for point in data.points:
        at = f"cosine {point.cosine_ppm / 1e6:.2f}, Jaccard {point.jaccard_ppm / 1e6:.2f}"
        lines.append(f"{point.name} ({at}): {point.note}")
        for row in (row for row in data.figures if row.point == point.name):
            share = row.share
            shown = "undefined"
            if share.estimate is not None and share.low is not None and share.high is not None:
                shown = f"{percent(share.estimate)} [{span(share.low, share.high, percent)}]"
            what = f"{MEASURES[row.measure]}, {row.set_name} ({row.part})"
            lines.append(f"  {what:<62} {row.events:.0f} of {row.of}  {shown}")
    disagreeing = [row for row in data.ledger if row.agree != row.staged]
    staged = sum(row.staged for row in data.ledger)
    lines.append(f"Through a ledger: {staged} questions, {'all' if not disagreeing else 'NOT all'} as computed")
    return lines
