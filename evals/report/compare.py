"""Two reports side by side: verdicts, and every arm's figure where the two differ."""

from __future__ import annotations

from evals.report.data import ArmRow, ReportData
from evals.report.fields import Row, Text

ABSENT = "-"
"""Shown where one of the reports does not have the row."""


class Difference(Row):
    """One figure in both reports."""

    subject: Text
    left: Text
    right: Text


def compare_reports(left: ReportData, right: ReportData) -> tuple[Difference, ...]:
    """Every figure that differs, verdicts first; identity and headline always."""
    rows = [
        Difference(subject="headline", left=left.headline, right=right.headline),
        Difference(subject="model", left=left.identity.model.digest[:12], right=right.identity.model.digest[:12]),
        Difference(subject="generator", left=left.identity.generator_version, right=right.identity.generator_version),
    ]
    rows += _differing(
        {row.id: str(row.verdict) for row in left.criteria}, {row.id: str(row.verdict) for row in right.criteria}
    )
    rows += _differing(_arms(left), _arms(right))
    return tuple(rows)


def _arms(report: ReportData) -> dict[str, str]:
    return {_subject(row): _shown(row) for row in report.arms}


def _subject(row: ArmRow) -> str:
    return f"{row.family}/{row.variant}/{row.premise_order} {row.metric} arm {row.arm}"


def _shown(row: ArmRow) -> str:
    found = row.exact
    if found.estimate is None or found.low is None or found.high is None:
        return f"undefined: {found.undefined}"
    return f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}] n={row.valued}"


def _differing(left: dict[str, str], right: dict[str, str]) -> list[Difference]:
    return [
        Difference(subject=key, left=left.get(key, ABSENT), right=right.get(key, ABSENT))
        for key in dict.fromkeys((*left, *right))
        if left.get(key) != right.get(key)
    ]
