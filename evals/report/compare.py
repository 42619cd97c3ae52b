"""Two reports side by side: verdicts, figures that differ, and, where both asked the same scenarios, paired differences."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evals.errors import ReportError
from evals.metrics import SIGN_FLIP_SEED
from evals.report.arm_rows import arm_rank
from evals.report.data import ArmRow, Estimate, Identity, Probability, ReportData
from evals.report.evidence import Reading, Transcript
from evals.report.fields import Count, Row, Text
from evals.statistics import PairedTable, PValue, Undefined, cluster_difference, holm, mcnemar_exact, sign_flip
from evals.trials import SCORED, Outcome
from ledger_core.stores.files import write_whole

ABSENT = "-"
"""Shown where one of the reports does not have the row."""
_ASSERTED: Mapping[str, frozenset[str]] = {
    "accuracy": frozenset({Outcome.ASSERTS_TRUE}),
    "persistence": frozenset({Outcome.ASSERTS_FALSE, Outcome.ASSERTS_BOTH}),
}
"""What is compared pair by pair -> the outcomes that count."""

Cell = tuple[str, str, str, str]
"""Scenario, variant, premise order, arm."""


class Difference(Row):
    """One figure in both reports."""

    subject: Text
    left: Text
    right: Text


class PairedRun(Row):
    """The same scenarios through the same arm in both runs: left run − right run."""

    family: Text
    variant: Text
    arm: Text
    metric: Text
    pairs: Count
    incomplete: Count
    """Pairs of which one run, or both, has no readable answer."""
    left_only: Count
    right_only: Count
    clustered: Estimate
    mcnemar: Probability
    holm: Probability
    """The sign-flip p-value, corrected over all rows."""


class Comparison(Row):
    """Two reports of one kind, compared."""

    schema_name: Literal["veritas-comparison-v1"] = "veritas-comparison-v1"
    left: Identity
    right: Identity
    headlines: tuple[Text, Text]
    identity: tuple[Difference, ...]
    """What was run, where it differs: model, agent, generator, policy, gate, registration."""
    verdicts: tuple[Difference, ...]
    """Every criterion of either report; refusals say why."""
    paired: tuple[PairedRun, ...]
    figures: tuple[Difference, ...]
    """Figures of arms that differ, each with its own interval: where nothing pairs them this is all that is known."""

    def to_json(self) -> str:
        """One spelling a document: sorted keys, no NaN, a final newline."""
        return (
            json.dumps(self.model_dump(mode="json"), ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
            + "\n"
        )


def compare_reports(left: ReportData, right: ReportData) -> Comparison:
    """Compare two reports; equal ones differ in nothing."""
    return Comparison(
        left=left.identity,
        right=right.identity,
        headlines=(left.headline, right.headline),
        identity=tuple(_differing(_identity(left), _identity(right))),
        verdicts=tuple(_both(_verdicts(left), _verdicts(right))),
        paired=_paired(left, right),
        figures=tuple(_differing(_arms(left), _arms(right))),
    )


def write_comparison(folder: Path, found: Comparison) -> Path:
    """Write ``compare.html`` and ``compare.json`` into a folder; returns the page's path.

    Raises:
        ReportError: the folder cannot be written.
    """
    from evals.report.render import render_comparison

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "compare.json", found.to_json().encode())
        write_whole(folder / "compare.html", render_comparison(found).encode())
    except OSError as error:
        raise ReportError(f"the comparison cannot be written to {folder}: {error.strerror or error}") from error
    return folder / "compare.html"


def _identity(report: ReportData) -> dict[str, str]:
    found = report.identity
    return {
        "run": found.run,
        "model": found.model.name,
        "weights": found.model.digest,
        "quantisation": found.model.quantisation,
        "precision": found.model.dtype,
        "agent": found.agent,
        "generator": found.generator_version,
        "policy": found.policy,
        "gate": found.gate,
        "registration": found.registration_digest,
    }


def _verdicts(report: ReportData) -> dict[str, str]:
    judged = {row.id.upper(): str(row.verdict) for row in report.criteria}
    return judged | {row.id.upper(): row.kind for row in report.refused}


def _arms(report: ReportData) -> dict[str, str]:
    return {_subject(row): _shown(row) for row in report.arms}


def _subject(row: ArmRow) -> str:
    return f"{row.family}/{row.variant}/{row.premise_order} {row.metric} arm {row.arm}"


def _shown(row: ArmRow) -> str:
    found = row.clustered
    if found.estimate is None or found.low is None or found.high is None:
        return f"undefined: {found.undefined}"
    return f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}] n={row.valued}"


def _both(left: Mapping[str, str], right: Mapping[str, str]) -> list[Difference]:
    return [
        Difference(subject=key, left=left.get(key, ABSENT), right=right.get(key, ABSENT))
        for key in sorted({*left, *right})
    ]


def _differing(left: Mapping[str, str], right: Mapping[str, str]) -> list[Difference]:
    order = {key: place for place, key in enumerate(dict.fromkeys((*left, *right)))}
    return sorted((row for row in _both(left, right) if row.left != row.right), key=lambda row: order[row.subject])


class _Unit(NamedTuple):
    """One scenario in both runs; None where an answer could not be read."""

    wording: str
    left: float | None
    right: float | None


_Key = tuple[str, str, str, str]
"""Family, variant, arm, metric."""


def _paired(left: ReportData, right: ReportData) -> tuple[PairedRun, ...]:
    """Scenarios that both runs asked through the same arm; none where the runs drew other scenarios."""
    first, second = (_readings(report.transcripts) for report in (left, right))
    groups: dict[_Key, list[_Unit]] = defaultdict(list)
    for cell in sorted(first.keys() & second.keys()):
        transcript, reading = first[cell]
        for metric, asserted in _ASSERTED.items():
            if metric == "persistence" and (transcript.premise_order == "none" or transcript.false_value is None):
                continue
            unit = _Unit(transcript.wording, _value(reading, asserted), _value(second[cell][1], asserted))
            groups[transcript.family, transcript.variant, reading.arm, metric].append(unit)
    whole = {key: [u for u in units if u.left is not None and u.right is not None] for key, units in groups.items()}
    keys = sorted(whole, key=lambda key: (key[0], key[1], key[3], arm_rank(key[2])))
    adjusted = holm([_flipped(whole[key]) for key in keys])
    return tuple(
        _paired_row(key, whole[key], len(groups[key]) - len(whole[key]), p)
        for key, p in zip(keys, adjusted, strict=True)
    )


def _paired_row(key: _Key, units: Sequence[_Unit], incomplete: int, adjusted: PValue | Undefined) -> PairedRun:
    family, variant, arm, metric = key
    table = PairedTable.of((unit.left == 1.0, unit.right == 1.0) for unit in units)
    return PairedRun(
        family=family,
        variant=variant,
        arm=arm,
        metric=metric,
        pairs=len(units),
        incomplete=incomplete,
        left_only=round(table.left_only),
        right_only=round(table.right_only),
        clustered=Estimate.of(cluster_difference(_by_wording(units))),
        mcnemar=Probability.of(mcnemar_exact(table)),
        holm=Probability.of(adjusted),
    )


def _by_wording(units: Sequence[_Unit]) -> dict[str, list[tuple[float, float]]]:
    grouped: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for unit in units:
        if unit.left is not None and unit.right is not None:
            grouped[unit.wording].append((unit.left, unit.right))
    return dict(grouped)


def _flipped(units: Sequence[_Unit]) -> PValue | Undefined:
    grouped = _by_wording(units)
    means = [math.fsum(a - b for a, b in grouped[name]) / len(grouped[name]) for name in sorted(grouped)]
    return sign_flip(means, seed=SIGN_FLIP_SEED)


def _readings(transcripts: Iterable[Transcript]) -> dict[Cell, tuple[Transcript, Reading]]:
    return {
        (transcript.scenario_id, transcript.variant, transcript.premise_order, reading.arm): (transcript, reading)
        for transcript in transcripts
        for reading in transcript.readings
    }


def _value(reading: Reading, asserted: frozenset[str]) -> float | None:
    return float(reading.outcome in asserted) if reading.outcome in SCORED else None
