"""Criteria as rows: every part with the interval that decides and the closed forms beside it."""

from __future__ import annotations

from evals.criteria import MILLION, AnyPart, BreakEven, Sample, load_full_criteria
from evals.kill_criteria import CriterionResult, Evaluation, PartResult, Weighed
from evals.metrics import Contrast, Measurement
from evals.report.commands import Recompute
from evals.report.data import ComponentRow, CriterionRow, Estimate, PartRow, Probability, RefusalRow
from evals.statistics import Undefined

_ELSEWHERE = "the command evaluate, which generates what it reads"
BREAK_EVEN = "break-even-share"
_WEIGHED = Undefined("a share of two differences; their own figures stand below")
_PROPORTION = Undefined("a proportion has no paired test")


def criterion_rows(evaluation: Evaluation, recompute: Recompute) -> tuple[CriterionRow, ...]:
    """Registered criteria in the order of the book."""
    return tuple(_criterion(result, recompute) for result in evaluation.results)


def refusal_rows(evaluation: Evaluation) -> tuple[RefusalRow, ...]:
    """Criteria that the run did not register, with the reason."""
    later = {criterion.id for criterion in load_full_criteria().criteria if not criterion.unavailable}
    return tuple(
        RefusalRow(
            id=refusal.criterion.id,
            title=refusal.criterion.title,
            kind=refusal.kind,
            reason=refusal.reason,
            way_out=_ELSEWHERE if refusal.kind == "not in this run" and refusal.criterion.id in later else "",
        )
        for refusal in evaluation.registration.refused
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
    closed = newcombe = Estimate.of(None)
    mcnemar = Probability.of(_PROPORTION)
    if isinstance(result.detail, Measurement):
        closed, newcombe = Estimate.of(result.detail.exact), Estimate.of(_PROPORTION)
    elif isinstance(result.detail, Contrast):
        closed, newcombe = Estimate.of(result.detail.tango), Estimate.of(result.detail.newcombe)
        mcnemar = Probability.of(result.detail.mcnemar)
    elif isinstance(result.detail, Weighed):
        closed = newcombe = Estimate.of(_WEIGHED)
        mcnemar = Probability.of(_WEIGHED)
    single = part if not isinstance(part, BreakEven) else None
    return PartRow(
        name=part.name,
        metric=single.metric.value if single else BREAK_EVEN,
        left=single.left if single else "loss / (gain + loss)",
        right=single.right if single else None,
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
        components=_components(part, result.detail, recompute),
        command=_command(part, recompute),
    )


def _where(sample: Sample) -> dict[str, str]:
    return {"family": sample.family, "variant": sample.variant, "premise_order": sample.order}


def _command(part: AnyPart, recompute: Recompute) -> str:
    if isinstance(part, BreakEven):
        return recompute.weighed([_where(sample) for sample in part.samples], part.gain.left, part.gain.right or "")
    if part.right is None:
        return recompute.measurement(part.metric, _where(part), part.left)
    return recompute.pairs(_where(part), part.left, part.right)


def _components(part: AnyPart, detail: object, recompute: Recompute) -> tuple[ComponentRow, ...]:
    if not isinstance(part, BreakEven) or not isinstance(detail, Weighed):
        return ()
    rows = []
    for name, sample, found in (("loss", part.loss, detail.loss), ("gain", part.gain, detail.gain)):
        right = sample.right or ""
        rows.append(
            ComponentRow(
                name=name,
                family=sample.family,
                metric=sample.metric.value,
                left=sample.left,
                right=right,
                pairs=found.pairs,
                incomplete=found.incomplete,
                clusters=found.clusters,
                clustered=Estimate.of(found.clustered),
                tango=Estimate.of(found.tango),
                mcnemar=Probability.of(found.mcnemar),
                command=recompute.pairs(_where(sample), sample.left, right),
            )
        )
    return tuple(rows)
