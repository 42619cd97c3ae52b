"""What a run commits to before it has data: the criteria its n can decide, and why it leaves the others.

A criterion is admitted only if, at its n, some data would PASS it and some would KILL it. Its canonical bytes hold
integers only, so they are a ledger blob; the digest goes into `criteria.registered` before the first trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.criteria import MILLION, AnyPart, CriteriaBook, Criterion, Sample
from evals.deciding import unanimous
from evals.errors import PreregistrationError
from evals.power import power_ppm
from evals.statistics import Interval, Undefined
from evals.trials import PREMISE_ORDERS, PremiseOrder
from ledger_core.kernel import canonical, digests

RefusalKind = Literal["too small for a verdict", "not in this run"]

_LARGEST = 4_096
"""Wordings beyond which "how many would do" is not searched."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class PlannedScenario:
    """One scenario of a run and the arms that will read it."""

    family: str
    variant: str
    premise_order: PremiseOrder
    wording: str
    scenario_id: str
    arms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Everything that decides which trials a run makes.

    Raises:
        PreregistrationError: no repeat, a scenario planned twice, or one without an arm.
    """

    scenarios: tuple[PlannedScenario, ...]
    repeats: int
    generator_version: str
    agent: str
    model_digest: str
    policy: str
    gate: str

    def __post_init__(self) -> None:
        """Refuse a plan whose trials cannot be counted."""
        if self.repeats < 1:
            raise PreregistrationError(f"repeats = {self.repeats} plans no trial; use at least 1")
        cells = Counter((s.scenario_id, s.variant, s.premise_order) for s in self.scenarios)
        twice = sorted(cell for cell, count in cells.items() if count > 1)
        if twice:
            raise PreregistrationError(f"scenario {twice[0]} is planned {cells[twice[0]]} times; plan it once")
        for scenario in self.scenarios:
            if not scenario.arms or scenario.premise_order not in PREMISE_ORDERS:
                raise PreregistrationError(f"scenario {scenario.scenario_id} has no arm or an unknown premise order")
        object.__setattr__(self, "scenarios", tuple(sorted(self.scenarios)))

    def trial_keys(self) -> frozenset[tuple[str, str, str, int, str]]:
        """The key of every planned trial, as :attr:`evals.trials.TrialRecord.key`."""
        return frozenset(
            (s.scenario_id, s.variant, s.premise_order, repeat, arm)
            for s in self.scenarios
            for arm in s.arms
            for repeat in range(self.repeats)
        )

    def units(self, sample: Sample) -> Mapping[str, int]:
        """Per wording, how many units a sample of a criterion will have."""
        counted: Counter[str] = Counter()
        for scenario in self.scenarios:
            inside = in_population(sample, scenario.family, scenario.variant, scenario.premise_order)
            if inside and set(sample.arms) <= set(scenario.arms):
                counted[scenario.wording] += self.repeats
        return counted


def in_population(sample: Sample, family: str, variant: str, premise_order: str) -> bool:
    """Whether a scenario belongs to a sample's population."""
    return family == sample.family and sample.variant in ("any", variant) and sample.order in ("any", premise_order)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredPart:
    """One part at the n of this run."""

    part: AnyPart
    units: int
    """Over all of its samples."""
    wordings: int
    """Of the sample that has fewest."""
    power_ppm: int
    """At the smallest effect of interest, with every wording counted once: a lower limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCriterion:
    """A criterion that this run can decide either way."""

    criterion: Criterion
    parts: tuple[RegisteredPart, ...]

    @property
    def power_ppm(self) -> int:
        """Least chance that every part passes, whatever their dependence (Fréchet)."""
        return max(0, MILLION - sum(MILLION - part.power_ppm for part in self.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A criterion of the design that this run does not register, and why."""

    criterion: Criterion
    kind: RefusalKind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What is put into the ledger before any trial."""

    plan: RunPlan
    book: CriteriaBook
    admitted: tuple[RegisteredCriterion, ...]
    refused: tuple[Refusal, ...]

    def canonical_bytes(self) -> bytes:
        """Strict canonical JSON; equal plans and criteria give equal bytes."""
        return canonical.encode(
            {
                "schema": "veritas-registration-v1",
                "plan": _plan_document(self.plan),
                "competence": self.book.competence.model_dump(mode="json"),
                "max_unscored_ppm": self.book.max_unscored_ppm,
                "admitted": [_admitted_document(entry) for entry in self.admitted],
                "refused": [{"id": r.criterion.id, "kind": r.kind, "reason": r.reason} for r in self.refused],
            }
        )

    @property
    def digest(self) -> str:
        """Body digest of the canonical bytes, as a ledger content reference names them."""
        return digests.body_hex(self.canonical_bytes())


def register(plan: RunPlan, book: CriteriaBook) -> Registration:
    """Admit the criteria that the plan can decide; refuse the others with the reason."""
    admitted: list[RegisteredCriterion] = []
    refused: list[Refusal] = []
    for criterion in book.criteria:
        absent = _absence(plan, book, criterion)
        small = None if absent else next(filter(None, (_too_small(plan, criterion, p) for p in criterion.parts)), None)
        if absent:
            refused.append(Refusal(criterion=criterion, kind="not in this run", reason=absent))
        elif small:
            refused.append(Refusal(criterion=criterion, kind="too small for a verdict", reason=small))
        else:
            parts = tuple(_registered(plan, criterion, part) for part in criterion.parts)
            admitted.append(RegisteredCriterion(criterion=criterion, parts=parts))
    return Registration(plan=plan, book=book, admitted=tuple(admitted), refused=tuple(refused))


def _absence(plan: RunPlan, book: CriteriaBook, criterion: Criterion) -> str | None:
    if criterion.unavailable:
        return criterion.unavailable
    for part in criterion.parts:
        for sample in part.samples:
            if not plan.units(sample):
                where = sample.family if sample.variant == "any" else f"{sample.family} ({sample.variant})"
                return f"{part.name}: no {where} scenario is read through {' and '.join(sample.arms)}"
    competence = book.competence
    if not any(s.family == competence.family and competence.arm in s.arms for s in plan.scenarios):
        return f"no {competence.family} scenario in arm {competence.arm}: a verdict could not be told from incompetence"
    return None


def _too_small(plan: RunPlan, criterion: Criterion, part: AnyPart) -> str | None:
    """Why no data could pass the part, or none could kill it; ``None`` if both exist."""
    sizes = [plan.units(sample) for sample in part.samples]
    upward = part.direction == "lower-above"
    low, high = (end / MILLION for end in part.attainable_ppm)
    best, worst = (high, low) if upward else (low, high)
    for verdict, extreme, decides in (("PASS", best, part.clears), ("KILL", worst, part.contradicts)):
        interval = unanimous(part, sizes, extreme, criterion.level)
        if isinstance(interval, Undefined):
            return f"{part.name}: {interval.reason}"
        if decides(interval):
            continue
        bound, side = _deciding_bound(interval, upper=upward != (verdict == "PASS"))
        return (
            f"{part.name}: even if every trial gave {extreme:g}, the {side} bound over {_fewest(sizes)} wordings would be "
            f"{bound:.3f}, so none could {verdict} at {part.threshold:g}{_enough(part, extreme, criterion, decides)}"
        )
    return None


def _fewest(sizes: Sequence[Mapping[str, int]]) -> int:
    return min(len(counts) for counts in sizes)


def _deciding_bound(interval: Interval, *, upper: bool) -> tuple[float, str]:
    return (interval.high, "upper") if upper else (interval.low, "lower")


def _enough(part: AnyPart, extreme: float, criterion: Criterion, decides: Callable[[Interval], bool]) -> str:
    def would(wordings: int) -> bool:
        sizes = [{f"w{k}": 1 for k in range(wordings)}] * len(part.samples)
        found = unanimous(part, sizes, extreme, criterion.level)
        return isinstance(found, Interval) and decides(found)

    if not would(_LARGEST):
        return "; no number of wordings would do"
    low, high = 0, _LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if would(middle) else (middle, high)
    return f"; {high} wordings would do"


def _registered(plan: RunPlan, criterion: Criterion, part: AnyPart) -> RegisteredPart:
    sizes = [plan.units(sample) for sample in part.samples]
    wordings = _fewest(sizes)
    return RegisteredPart(
        part=part,
        units=sum(sum(counts.values()) for counts in sizes),
        wordings=wordings,
        power_ppm=power_ppm(part, wordings, criterion.level),
    )


def _plan_document(plan: RunPlan) -> dict[str, object]:
    cells: dict[tuple[str, str, str], list[PlannedScenario]] = {}
    for scenario in plan.scenarios:
        cells.setdefault((scenario.family, scenario.variant, scenario.premise_order), []).append(scenario)
    return {
        "generator_version": plan.generator_version,
        "agent": plan.agent,
        "model_digest": plan.model_digest,
        "policy": plan.policy,
        "gate": plan.gate,
        "repeats": plan.repeats,
        "trials": len(plan.trial_keys()),
        "trials_digest": digests.framed_hex(
            digests.Prefix.ROWS, (canonical.encode(list(key)) for key in sorted(plan.trial_keys()))
        ),
        "populations": [
            {
                "family": family,
                "variant": variant,
                "premise_order": order,
                "scenarios": len(members),
                "wordings": len({member.wording for member in members}),
                "arms": sorted({arm for member in members for arm in member.arms}),
            }
            for (family, variant, order), members in sorted(cells.items())
        ],
    }


def _admitted_document(entry: RegisteredCriterion) -> dict[str, object]:
    document = entry.criterion.model_dump(mode="json", exclude={"parts", "unavailable"})
    return {
        **document,
        "power_ppm": entry.power_ppm,
        "parts": [
            {
                **registered.part.model_dump(mode="json"),
                "units": registered.units,
                "wordings": registered.wordings,
                "power_ppm": registered.power_ppm,
            }
            for registered in entry.parts
        ],
    }
