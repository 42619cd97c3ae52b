"""Criteria as rows: every part with the interval that decides and the closed forms beside it."""

from __future__ import annotations

from evals.criteria import MILLION
from evals.kill_criteria import CriterionResult, Evaluation, PartResult
from evals.metrics import Contrast, Measurement
from evals.report import commands
from evals.report.data import CriterionRow, Estimate, PartRow, Probability, RefusalRow
from evals.statistics import Undefined

_PROPORTION = Undefined("a proportion has no paired test")


def criterion_rows(evaluation: Evaluation) -> tuple[CriterionRow, ...]:
    """Registered criteria in the order of the book."""
    return tuple(_criterion(result) for result in evaluation.results)


def refusal_rows(evaluation: Evaluation) -> tuple[RefusalRow, ...]:
    """Criteria that the run did not register, with the reason."""
    return tuple(
        RefusalRow(id=r.criterion.id, title=r.criterion.title, kind=r.kind, reason=r.reason)
        for r in evaluation.registration.refused
    )


def _criterion(result: CriterionResult) -> CriterionRow:
    criterion = result.registered.criterion
    return CriterionRow(
        id=criterion.id,
        title=criterion.title,
        verdict=result.verdict.value,
        hypothesis=criterion.hypothesis,
        estimand=criterion.estimand,
        population=criterion.population,
        errors=criterion.errors,
        alpha=criterion.alpha_ppm / MILLION,
        power=result.registered.power_ppm / MILLION,
        parts=tuple(_part(part) for part in result.parts),
        reasons=result.reasons,
        command=commands.EVALUATE,
    )


def _part(result: PartResult) -> PartRow:
    registered, part = result.registered, result.registered.part
    where = {"family": part.family, "variant": part.variant, "premise_order": part.order}
    command = (
        commands.measurement(part.metric, where, part.left)
        if part.right is None
        else commands.pairs(where, part.left, part.right)
    )
    closed = newcombe = Estimate.of(None)
    mcnemar = Probability.of(_PROPORTION)
    if isinstance(result.detail, Measurement):
        closed, newcombe = Estimate.of(result.detail.exact), Estimate.of(_PROPORTION)
    elif isinstance(result.detail, Contrast):
        closed, newcombe = Estimate.of(result.detail.tango), Estimate.of(result.detail.newcombe)
        mcnemar = Probability.of(result.detail.mcnemar)
    return PartRow(
        name=part.name,
        metric=part.metric.value,
        left=part.left,
        right=part.right,
        direction=part.direction,
        threshold=part.threshold,
        verdict=result.verdict.value,
        units=registered.units,
        complete=result.complete,
        incomplete=result.incomplete,
        wordings=registered.wordings,
        power=registered.power_ppm / MILLION,
        interval=Estimate.of(result.interval),
        pessimistic=Estimate.of(result.pessimistic),
        optimistic=Estimate.of(result.optimistic),
        closed=closed,
        newcombe=newcombe,
        mcnemar=mcnemar,
        command=command,
    )
