"""From a judged run to the one document of its report: a pure function."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from evals.criteria import MILLION, AnyPart, BreakEven, Sample
from evals.errors import TrialError
from evals.kill_criteria import Evaluation
from evals.metrics import Measurement, group_by, value_of
from evals.preregistration import in_population
from evals.report.arm_rows import (
    Stratum,
    accounting_rows,
    arm_rank,
    arm_row,
    change_tables,
    contrast_rows,
    metric_rows,
    outcome_rows,
    strata,
)
from evals.report.commands import Recompute
from evals.report.data import SCHEMA, ArmRow, ReportData
from evals.report.evidence import Reading, Transcript
from evals.report.inputs import ReportInputs, ScenarioFacts
from evals.report.survival import fold_rows, survival_rows
from evals.report.verdict_rows import criterion_rows, refusal_rows
from evals.trials import TrialRecord, in_order


def build_report(evaluation: Evaluation, records: Iterable[TrialRecord], inputs: ReportInputs) -> ReportData:
    """Assemble the document.

    Records that contradict each other leave the tables of trials empty; the verdicts (all INVALID) say why.
    """
    given = tuple(records)
    try:
        trials = in_order(given)
    except TrialError:
        trials = ()
    found = strata(trials)
    book = evaluation.registration.book
    recompute = Recompute(inputs.identity.run, inputs.identity.evaluate)
    folds = {fact.scenario_id: fact.folds for fact in inputs.facts}
    return ReportData(
        schema=SCHEMA,
        identity=inputs.identity,
        headline=evaluation.headline,
        exit_code=evaluation.exit_code,
        competence=_competence(evaluation, recompute),
        competence_threshold=book.competence.threshold_ppm / MILLION,
        criteria=criterion_rows(evaluation, recompute),
        refused=refusal_rows(evaluation),
        provenance=inputs.provenance,
        accounting=accounting_rows(trials, recompute),
        arms=metric_rows(found, [entry.criterion for entry in evaluation.registration.admitted], recompute),
        outcomes=outcome_rows(found, recompute),
        contrasts=contrast_rows(found, recompute),
        changes=change_tables(found, recompute),
        survival=survival_rows(trials, folds, recompute),
        folds=fold_rows(trials, folds, recompute),
        persisted=inputs.persisted,
        cascades=inputs.cascades,
        stability=inputs.stability,
        what_if=inputs.what_if,
        weights=inputs.weights,
        transcripts=_transcripts(evaluation, trials, inputs, recompute),
    )


def _competence(evaluation: Evaluation, recompute: Recompute) -> ArmRow | None:
    found: Measurement | None = evaluation.competence
    if found is None or not found.accounting.planned:
        return None
    rule = evaluation.registration.book.competence
    stratum = Stratum(family=rule.family, variant="any", premise_order="none")
    return arm_row(stratum, rule.arm, found, None, recompute)


def _transcripts(
    evaluation: Evaluation, trials: Sequence[TrialRecord], inputs: ReportInputs, recompute: Recompute
) -> tuple[Transcript, ...]:
    """Every scenario that was read through more than one arm, most disagreement first, then by name."""
    facts = {fact.scenario_id: fact for fact in inputs.facts}
    prompts = {(p.scenario_id, p.variant, p.premise_order, p.arm): p.prompt for p in inputs.prompts}
    built = []
    for (scenario_id, variant, order), members in group_by(
        trials, lambda r: (r.scenario_id, r.variant, r.premise_order)
    ).items():
        if len({trial.arm for trial in members}) > 1:
            shown = {arm: prompts.get((scenario_id, variant, order, arm)) for arm in {t.arm for t in members}}
            built.append(_transcript(evaluation, members, facts.get(scenario_id), shown, recompute))
    return tuple(
        sorted(built, key=lambda t: (-t.disagreement, -len(t.decides), t.scenario_id, t.variant, t.premise_order))
    )


def _transcript(
    evaluation: Evaluation,
    members: Sequence[TrialRecord],
    facts: ScenarioFacts | None,
    prompts: dict[str, str | None],
    recompute: Recompute,
) -> Transcript:
    first = members[0]
    ranked = sorted((t for t in members if t.repeat == first.repeat), key=lambda t: arm_rank(t.arm))
    pairs = list(itertools.combinations([trial.outcome for trial in ranked], 2))
    return Transcript(
        scenario_id=first.scenario_id,
        family=first.family,
        variant=first.variant,
        premise_order=first.premise_order,
        wording=first.wording,
        question=facts.question if facts else None,
        false_value=facts.false_value if facts else None,
        true_value=facts.true_value if facts else None,
        disagreement=sum(a is not b for a, b in pairs) / len(pairs) if pairs else 0.0,
        decides=tuple(
            entry.criterion.id
            for entry in evaluation.registration.admitted
            if any(_decides(registered.part, ranked) for registered in entry.parts)
        ),
        readings=tuple(
            Reading(
                arm=trial.arm,
                outcome=trial.outcome.value,
                answer=trial.answer if trial.answer is not None else f"(no answer: {trial.fault})",
                prompt=prompts.get(trial.arm),
                forced_choice=trial.forced_choice,
                correction_in_context=trial.correction_in_context,
            )
            for trial in ranked
        ),
        command=recompute.transcript(first.scenario_id),
    )


def _decides(part: AnyPart, trials: Sequence[TrialRecord]) -> bool:
    """Whether the scenario moves the part: its two arms differ, or its one arm shows what the bound counts against."""
    if isinstance(part, BreakEven):
        return any(_differ(sample, trials) for sample in part.samples)
    if part.right is not None:
        return _differ(part, trials)
    values = {
        t.arm: value_of(part.metric, t) for t in trials if in_population(part, t.family, t.variant, t.premise_order)
    }
    against = 1.0 if part.direction == "upper-below" else 0.0
    return values.get(part.left) == against


def _differ(sample: Sample, trials: Sequence[TrialRecord]) -> bool:
    values = {
        t.arm: value_of(sample.metric, t) for t in trials if in_population(sample, t.family, t.variant, t.premise_order)
    }
    return sample.left in values and sample.right in values and values[sample.left] != values[sample.right]
