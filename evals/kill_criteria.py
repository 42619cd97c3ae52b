"""From logged trials to verdicts: a pure function, so the same records give the same report.

PASS: the deciding bound clears its threshold even if every missing trial had gone the worst way. KILL: the opposite
bound is on the wrong side even if every missing trial had gone the best way. INVALID: the trials are not those that
were registered, or measure the model's or the judge's failure. Everything else is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evals.criteria import MILLION, AnyPart, BreakEven, Sample
from evals.deciding import interval_of
from evals.errors import TrialError
from evals.metrics import (
    ANSWER_METRICS,
    Absent,
    Contrast,
    Measurement,
    Metric,
    PairedValue,
    contrast,
    filled,
    measure,
    pair_up,
    value_of,
)
from evals.preregistration import (
    RegisteredCriterion,
    RegisteredPart,
    Registration,
    in_population,
)
from evals.statistics import Interval, Undefined
from evals.trials import Outcome, TrialRecord, in_order

TrialKey = tuple[str, str, str, int, str]


class Verdict(StrEnum):
    """What a criterion ends as."""

    PASS = "PASS"  # noqa: S105  (a verdict, not a secret)
    INCONCLUSIVE = "INCONCLUSIVE"
    KILL = "KILL"
    INVALID = "INVALID"


EXIT_CODES = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 10, Verdict.KILL: 11, Verdict.INVALID: 12}
"""Exit codes of `veritas evaluate`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What the run actually was, as the ledger has it."""

    registered_digest: str
    """Body digest of the registration that the ledger holds."""
    model_digest: str
    generator_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """The two differences that a break-even share is made of."""

    loss: Contrast
    gain: Contrast


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """One part of a criterion with every figure that the report prints."""

    registered: RegisteredPart
    verdict: Verdict
    complete: int
    incomplete: int
    interval: Interval | Undefined
    """Over complete units."""
    pessimistic: Interval | Undefined
    """With every missing trial at its worst; this one passes."""
    optimistic: Interval | Undefined
    """With every missing trial at its best; this one kills."""
    detail: Measurement | Contrast | Weighed | None
    """The closed forms beside it; ``None`` where the trials contradict each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionResult:
    """A registered criterion's verdict and why."""

    registered: RegisteredCriterion
    verdict: Verdict
    parts: tuple[PartResult, ...]
    reasons: tuple[str, ...]
    """Why it is INVALID; empty otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Every verdict of a run."""

    registration: Registration
    results: tuple[CriterionResult, ...]
    competence: Measurement | None
    """``None`` where the records contradict each other."""

    @property
    def headline(self) -> str:
        """The first line of the report."""
        if not self.results:
            return "too small for a verdict"
        decided = ", ".join(f"{r.registered.criterion.id.upper()} {r.verdict}" for r in self.results)
        small = [r.criterion.id.upper() for r in self.registration.refused if r.kind == "too small for a verdict"]
        return f"{decided}; too small for a verdict: {', '.join(small)}" if small else decided

    @property
    def exit_code(self) -> int:
        """The highest code of all registered criteria; a run that registered none decided nothing (10)."""
        codes = [EXIT_CODES[result.verdict] for result in self.results]
        return max(codes, default=EXIT_CODES[Verdict.INCONCLUSIVE])


def evaluate(registration: Registration, records: Iterable[TrialRecord], observed: Observed) -> Evaluation:
    """Judge every registered criterion.

    Records that contradict each other make every verdict INVALID instead of raising, so that one bad record does not
    lose the work of a run.
    """
    reasons = _identity_faults(registration, observed)
    given = tuple(records)
    try:
        trials = in_order(given)
    except TrialError as error:
        everywhere = (*reasons, str(error))
        results = tuple(_void(entry, everywhere) for entry in registration.admitted)
        return Evaluation(registration=registration, results=results, competence=None)
    reasons += _prompt_drift(trials)
    planned = registration.plan.trial_keys()
    inside = tuple(trial for trial in trials if trial.key in planned)
    competence = _competence(registration, inside)
    reasons += _incompetence(registration, competence)
    results = tuple(_judge(registration, entry, trials, inside, reasons) for entry in registration.admitted)
    return Evaluation(registration=registration, results=results, competence=competence)


def _identity_faults(registration: Registration, observed: Observed) -> tuple[str, ...]:
    plan = registration.plan
    compared = (
        ("registration digest", registration.digest, observed.registered_digest),
        ("model digest", plan.model_digest, observed.model_digest),
        ("generator version", plan.generator_version, observed.generator_version),
    )
    return tuple(
        f"{name} differs: registered {registered}, observed {seen}"
        for name, registered, seen in compared
        if registered != seen
    )


def _prompt_drift(trials: Sequence[TrialRecord]) -> tuple[str, ...]:
    prompts: dict[tuple[str, str, str, str], set[str]] = {}
    for trial in trials:
        scenario_id, variant, order, _repeat = trial.cell
        prompts.setdefault((scenario_id, variant, order, trial.arm), set()).add(trial.prompt_digest)
    drifted = sorted(key for key, seen in prompts.items() if len(seen) > 1)
    if not drifted:
        return ()
    return (f"{len(drifted)} readings changed their prompt between repeats; the first is {'/'.join(drifted[0])}",)


def _competence(registration: Registration, trials: Sequence[TrialRecord]) -> Measurement:
    rule = registration.book.competence
    chosen = [trial for trial in trials if (trial.family, trial.arm) == (rule.family, rule.arm)]
    return measure(Metric.ACCURACY, chosen)


def _incompetence(registration: Registration, competence: Measurement) -> tuple[str, ...]:
    """Missing answers count as wrong: a model that cannot answer is not competent."""
    rule = registration.book.competence
    planned = competence.accounting.planned
    if not planned:
        return (f"competence was not measured: no {rule.family} trial in arm {rule.arm}",)
    if competence.events * MILLION >= rule.threshold_ppm * planned:
        return ()
    share = f"{competence.events:g} of {planned} right on {rule.family} in arm {rule.arm}"
    return (f"the model is not competent: {share}, below {rule.threshold_ppm / MILLION:g}",)


def _judge(
    registration: Registration,
    entry: RegisteredCriterion,
    trials: Sequence[TrialRecord],
    inside: Sequence[TrialRecord],
    shared: tuple[str, ...],
) -> CriterionResult:
    concerned = [sample for part in entry.parts for sample in part.part.samples]
    reasons = (
        *shared,
        *_sample_faults(registration, concerned, trials),
        *_judge_failure(registration, concerned, inside),
    )
    parts = tuple(_judge_part(registered, entry.criterion.level, inside) for registered in entry.parts)
    verdicts = {part.verdict for part in parts}
    if reasons:
        verdict = Verdict.INVALID
    else:
        order = (Verdict.INVALID, Verdict.KILL, Verdict.INCONCLUSIVE, Verdict.PASS)
        verdict = next(candidate for candidate in order if candidate in verdicts)
        if verdict is Verdict.INVALID:
            empty = ", ".join(part.registered.part.name for part in parts if part.verdict is Verdict.INVALID)
            reasons = (f"no unit of {empty} could be measured",)
    return CriterionResult(registered=entry, verdict=verdict, parts=parts, reasons=reasons)


def _concerns(samples: Sequence[Sample], family: str, variant: str, order: str, arm: str) -> bool:
    return any(arm in sample.arms and in_population(sample, family, variant, order) for sample in samples)


def _sample_faults(
    registration: Registration, samples: Sequence[Sample], trials: Sequence[TrialRecord]
) -> tuple[str, ...]:
    """Planned trials without a record and records without a plan, as far as they touch the criterion."""
    plan = registration.plan
    wanted = {
        (s.scenario_id, s.variant, s.premise_order, repeat, arm)
        for s in plan.scenarios
        for arm in s.arms
        for repeat in range(plan.repeats)
        if _concerns(samples, s.family, s.variant, s.premise_order, arm)
    }
    got = {t.key for t in trials if _concerns(samples, t.family, t.variant, t.premise_order, t.arm)}
    faults = []
    for what, keys in (("planned trials have no record", wanted - got), ("records were not planned", got - wanted)):
        if keys:
            faults.append(f"{len(keys)} {what}; the first is {_spelled(min(keys))}")
    return tuple(faults)


def _spelled(key: TrialKey) -> str:
    scenario_id, variant, order, repeat, arm = key
    return f"scenario {scenario_id}, {variant}, {order}, repeat {repeat}, arm {arm}"


def _judge_failure(
    registration: Registration, samples: Sequence[Sample], trials: Sequence[TrialRecord]
) -> tuple[str, ...]:
    read = [sample for sample in samples if sample.metric in ANSWER_METRICS]
    asked = [t for t in trials if _concerns(read, t.family, t.variant, t.premise_order, t.arm)]
    unread = sum(trial.outcome is Outcome.UNSCORED for trial in asked)
    limit = registration.book.max_unscored_ppm
    if unread * MILLION <= limit * len(asked):
        return ()
    return (f"the matcher could not read {unread} of {len(asked)} answers, more than {limit / MILLION:g} of them",)


def _judge_part(registered: RegisteredPart, level: float, trials: Sequence[TrialRecord]) -> PartResult:
    part = registered.part
    read = [_units(sample, trials) for sample in part.samples]
    whole = [tuple(u for u in units if u.left is not None and u.right is not None) for units in read]
    pessimistic = _interval(part, read, level, part.worst)
    optimistic = _interval(part, read, level, tuple(1.0 - value for value in part.worst))
    return PartResult(
        registered=registered,
        verdict=_verdict(part, pessimistic, optimistic) if all(whole) else Verdict.INVALID,
        complete=sum(map(len, whole)),
        incomplete=sum(map(len, read)) - sum(map(len, whole)),
        interval=_interval(part, whole, level, part.worst),
        pessimistic=pessimistic,
        optimistic=optimistic,
        detail=_detail(part, trials),
    )


def _verdict(part: AnyPart, pessimistic: Interval | Undefined, optimistic: Interval | Undefined) -> Verdict:
    if isinstance(pessimistic, Interval) and part.clears(pessimistic):
        return Verdict.PASS
    if isinstance(optimistic, Interval) and part.contradicts(optimistic):
        return Verdict.KILL
    return Verdict.INCONCLUSIVE


def _arms_of(sample: Sample, trials: Sequence[TrialRecord]) -> tuple[list[TrialRecord], list[TrialRecord]]:
    chosen = [t for t in trials if in_population(sample, t.family, t.variant, t.premise_order)]
    return [t for t in chosen if t.arm == sample.left], [t for t in chosen if t.arm == sample.right]


def _units(sample: Sample, trials: Sequence[TrialRecord]) -> tuple[PairedValue, ...]:
    left, right = _arms_of(sample, trials)
    return _single_units(sample.metric, left) if sample.right is None else pair_up(sample.metric, left, right)


def _detail(part: AnyPart, trials: Sequence[TrialRecord]) -> Measurement | Contrast | Weighed:
    if isinstance(part, BreakEven):
        loss, gain = (contrast(sample.metric, *_arms_of(sample, trials)) for sample in part.samples)
        return Weighed(loss=loss, gain=gain)
    left, right = _arms_of(part, trials)
    return measure(part.metric, left) if part.right is None else contrast(part.metric, left, right)


def _single_units(metric: Metric, trials: Sequence[TrialRecord]) -> tuple[PairedValue, ...]:
    """Trials of one arm as pairs with 0, so that one code path fills what is missing."""
    units = []
    for trial in trials:
        value = value_of(metric, trial)
        if value is not Absent.NOT_APPLICABLE:
            left = value if isinstance(value, float) else None
            units.append(PairedValue(wording=trial.wording, left=left, right=0.0))
    return tuple(units)


def _interval(
    part: AnyPart, read: Sequence[Sequence[PairedValue]], level: float, left: Sequence[float]
) -> Interval | Undefined:
    """With ``left``, one value a sample, for what is missing on the left, and its opposite on the right."""
    data = [filled(units, left=value, right=1.0 - value) for units, value in zip(read, left, strict=True)]
    return interval_of(part, data, level)


_NOTHING = Undefined("the trials contradict each other")


def _void(entry: RegisteredCriterion, reasons: tuple[str, ...]) -> CriterionResult:
    parts = tuple(
        PartResult(
            registered=registered,
            verdict=Verdict.INVALID,
            complete=0,
            incomplete=registered.units,
            interval=_NOTHING,
            pessimistic=_NOTHING,
            optimistic=_NOTHING,
            detail=None,
        )
        for registered in entry.parts
    )
    return CriterionResult(registered=entry, verdict=Verdict.INVALID, parts=parts, reasons=reasons)
