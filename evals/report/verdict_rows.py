"""Criteria as rows: every part with the interval that decides and the closed forms beside it."""

from __future__ import annotations

from evals.criteria import MILLION
from evals.kill_criteria import CriterionResult, Evaluation, PartResult
from evals.metrics import Contrast, Measurement
from evals.report.commands import Recompute
from evals.report.data import CriterionRow, Estimate, PartRow, Probability, RefusalRow
from evals.statistics import Undefined

_PROPORTION = Undefined("a proportion has no paired test")


def criterion_rows(evaluation: Evaluation, recompute: Recompute) -> tuple[CriterionRow, ...]:
    """Registered criteria in the order of the book."""
    return tuple(_criterion(result, recompute) for result in evaluation.results)


def refusal_rows(evaluation: Evaluation) -> tuple[RefusalRow, ...]:
    """Criteria that the run did not register, with the reason."""
    return tuple(
        RefusalRow(id=r.criterion.id, title=r.criterion.title, kind=r.kind, reason=r.reason)
        for r in evaluation.registration.refused
    )


def _criterion(result: CriterionResult, recompute: Recompute) -> CriterionRow:
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
        power_at_least=result.registered.power_ppm / MILLION,
        parts=tuple(_part(part, recompute) for part in result.parts),
        reasons=result.reasons,
        command=recompute.evaluate,
    )


def _part(result: PartResult, recompute: Recompute) -> PartRow:
    registered, part = result.registered, result.registered.part
    where = {"family": part.family, "variant": part.variant, "premise_order": part.order}
    command = (
        recompute.measurement(part.metric, where, part.left)
        if part.right is None
        else recompute.pairs(where, part.left, part.right)
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
        power_at_least=registered.power_ppm / MILLION,
        interval=Estimate.of(result.interval),
        pessimistic=Estimate.of(result.pessimistic),
        optimistic=Estimate.of(result.optimistic),
        closed=closed,
        newcombe=newcombe,
        mcnemar=mcnemar,
        command=command,
    )
