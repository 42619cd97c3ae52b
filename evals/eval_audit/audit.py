"""Everything together: from paths to runs, their figures, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.errors import EvalLogError
from evals.eval_audit.checks_of_answers import answer_findings, run_findings, shown
from evals.eval_audit.checks_of_figures import figure_findings
from evals.eval_audit.figures import Figure
from evals.eval_audit.findings import Finding
from evals.eval_audit.formats import KNOWN, NotALog, files_of, read_run
from evals.eval_audit.pairs import Comparison, compare
from evals.eval_audit.runs import EvalRun
from evals.eval_audit.standard_errors import mean_of
from evals.statistics import Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerSummary:
    """One scorer of a run: what was reported, what its answers give."""

    scorer: str
    reported: str | None
    answers: int
    """Answers with a number."""
    samples: int
    figure: Figure | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedRun:
    """A run with its figures and findings."""

    run: EvalRun
    scorers: tuple[ScorerSummary, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What was read, what was found, and what could not be read."""

    runs: tuple[AuditedRun, ...]
    comparisons: tuple[Comparison, ...]
    failed: tuple[tuple[str, str], ...]
    """(path, why) of logs that are damaged."""
    skipped: tuple[tuple[str, str], ...]
    """(path, why) of files in a folder that are no logs."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        of_runs = (finding for run in self.runs for finding in run.findings)
        return (*of_runs, *(finding for pair in self.comparisons for finding in pair.findings))


def audit(paths: Sequence[Path], *, cluster: str | None = None) -> AuditReport:
    """Read every log at and below ``paths`` and check its numbers.

    Args:
        paths: files and folders; a folder is walked.
        cluster: field of the samples (of their metadata, or of lm-eval's `doc`) by which they belong together.

    Raises:
        EvalLogError: a path that is not there, or one that names a file which is damaged or no log; inside a folder such
            files are listed and the rest is read.
    """
    runs: list[EvalRun] = []
    failed: list[tuple[str, str]] = []
    skipped: list[tuple[str, str]] = []
    for path in paths:
        for file in files_of(path):
            try:
                runs.append(read_run(file))
            except EvalLogError as error:
                if not path.is_dir():
                    raise
                failed.append((str(file), str(error)))
            except NotALog as reason:
                if not path.is_dir():
                    raise EvalLogError(f"{file}: {reason}; pass {KNOWN}") from reason
                skipped.append((str(file), str(reason)))
    return AuditReport(
        runs=tuple(audited(run, cluster=cluster) for run in runs),
        comparisons=tuple(compare(runs)),
        failed=tuple(failed),
        skipped=tuple(skipped),
    )


def audited(run: EvalRun, *, cluster: str | None = None) -> AuditedRun:
    """The figures and findings of one run."""
    findings = list(run_findings(run))
    summaries = []
    for scorer in run.scorers:
        values = run.values(scorer)
        summaries.append(
            ScorerSummary(
                scorer=scorer,
                reported=shown(run.reported_of(scorer)),
                answers=sum(len(each) for each in values.values()),
                samples=len(values),
                figure=mean_of(values),
            )
        )
        findings += answer_findings(run, scorer)
        findings += figure_findings(run, scorer, cluster)
    return AuditedRun(run=run, scorers=tuple(summaries), findings=tuple(findings))
