"""Kill criteria as data: what is compared, on which population, and which bound decides.

A criterion has one or more parts; all must pass (intersection–union), so no part is corrected for the others.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from evals.errors import PreregistrationError
from evals.metrics import Metric
from evals.statistics import Interval

MILLION = 1_000_000
"""Thresholds are parts per million, so that a registration holds integers only."""

Text = Annotated[str, StringConstraints(min_length=1)]
Ppm = Annotated[int, Field(ge=-MILLION, le=MILLION)]
Share = Annotated[int, Field(ge=0, le=MILLION)]
Direction = Literal["upper-below", "lower-above"]
"""The bound that must clear the threshold, and on which side."""


DEFAULT_BOOK, FURTHER_BOOK = "preregistration.toml", "preregistration-further.toml"


class Closed(BaseModel):
    """A frozen record with exactly its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Effect(Closed):
    """The smallest effect of interest, one unit a wording.

    For a proportion ``left_only_ppm`` is the proportion and ``right_only_ppm`` is 0; for a difference the two are the
    shares of units in which only the left, or only the right, arm shows the event.
    """

    left_only_ppm: Share
    right_only_ppm: Share


class Bound(Closed):
    """What every part of a criterion has: a bound that must lie on one side of a threshold."""

    name: Text
    direction: Direction
    threshold_ppm: Ppm
    attainable_ppm: tuple[Ppm, Ppm]
    """What the estimand could possibly be; a criterion must be decidable inside it."""

    @property
    def threshold(self) -> float:
        """The threshold as a number in [−1, 1]."""
        return self.threshold_ppm / MILLION

    def clears(self, interval: Interval) -> bool:
        """Whether the deciding bound lies strictly on the right side of the threshold."""
        return interval.high < self.threshold if self.direction == "upper-below" else interval.low > self.threshold

    def contradicts(self, interval: Interval) -> bool:
        """Whether the opposite bound lies strictly on the wrong side."""
        return interval.low > self.threshold if self.direction == "upper-below" else interval.high < self.threshold


class Sample(Closed):
    """A metric of one arm, or of two paired ones, on one population."""

    metric: Metric
    family: Text
    variant: Text
    """Scenario variant, or `any`."""
    order: Literal["any", "premise-first", "corrections-first"]
    left: Text
    """The arm, or the left arm of a difference left − right."""
    right: Text | None
    """The right arm; ``None`` for a proportion."""
    effect: Effect

    @property
    def arms(self) -> tuple[str, ...]:
        """The one or two arms that are read."""
        return (self.left,) if self.right is None else (self.left, self.right)


class Part(Bound, Sample):
    """One bound of a proportion, or of a paired difference left − right."""

    @model_validator(mode="after")
    def _consistent(self) -> Part:
        low, high = self.attainable_ppm
        if low >= high or (self.right is None and low < 0):
            raise ValueError(f"attainable_ppm {low}…{high} of {self.name!r} is no range of its estimand")
        if self.right is None and self.effect.right_only_ppm:
            raise ValueError(f"{self.name!r} is a proportion; its effect has no right side")
        return self

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What is read for it: itself."""
        return (self,)

    @property
    def worst(self) -> tuple[float, ...]:
        """Per sample, the value of the left side that counts most against a PASS."""
        return (0.0,) if self.direction == "lower-above" else (1.0,)


class BreakEven(Bound):
    """The share of right retractions at which what they gain pays for what wrong ones lose: loss / (gain + loss).

    Two samples, each a difference left − right; the bound is the upper one.
    """

    loss: Sample
    """What a wrong retraction costs."""
    gain: Sample
    """What a right one earns."""

    @model_validator(mode="after")
    def _consistent(self) -> BreakEven:
        if self.loss.right is None or self.gain.right is None:
            raise ValueError(f"{self.name!r} weighs two differences; name a right arm in both")
        if self.direction != "upper-below" or self.attainable_ppm != (0, MILLION):
            raise ValueError(f"{self.name!r} is a share with an upper bound: attainable_ppm 0…{MILLION}, upper-below")
        return self

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Loss, then gain."""
        return (self.loss, self.gain)

    @property
    def worst(self) -> tuple[float, ...]:
        """The largest loss and the smallest gain."""
        return (1.0, 0.0)


AnyPart = Part | BreakEven


class Criterion(Closed):
    """One pre-registered kill criterion."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,127}$")]
    title: Text
    hypothesis: Text
    estimand: Text
    population: Text
    errors: Text
    """How errors and unread answers count."""
    alpha_ppm: Share
    """One-sided."""
    design_n: Annotated[int, Field(ge=1)]
    """Scenarios of the full design; what a run registers is its own n."""
    unavailable: Text | None
    """Why this version cannot evaluate it; ``None`` where it can."""
    parts: tuple[AnyPart, ...]

    @property
    def level(self) -> float:
        """Two-sided level whose ends are one-sided bounds at alpha."""
        return 1.0 - 2.0 * self.alpha_ppm / MILLION


class Competence(Closed):
    """Below this the model, not the ledger, is what was measured."""

    family: Text
    arm: Text
    threshold_ppm: Share


class CriteriaBook(Closed):
    """Every criterion of the design, with the conditions under which any verdict is void."""

    schema_name: Literal["veritas-preregistration-v1"] = Field(alias="schema")
    competence: Competence
    max_unscored_ppm: Share
    """Share of a criterion's answers that the matcher may fail to read before the judge counts as failed."""
    criteria: tuple[Criterion, ...]

    @model_validator(mode="after")
    def _unique(self) -> CriteriaBook:
        ids = [criterion.id for criterion in self.criteria]
        if len(set(ids)) != len(ids):
            raise ValueError(f"criterion ids repeat: {', '.join(sorted(ids))}")
        return self


def load_criteria(text: str | None = None) -> CriteriaBook:
    """The criteria of ``preregistration.toml``, which the default run registers, or of the given text in its format.

    Raises:
        PreregistrationError: not TOML, an unknown or missing field, or a value outside its range.
    """
    return _book(_parsed(_stored(DEFAULT_BOOK) if text is None else text))


def load_full_criteria() -> CriteriaBook:
    """The default criteria with those of ``preregistration-further.toml`` in the place of the ones they replace.

    The default run's book stays as it was registered; what reads more families takes this one.

    Raises:
        PreregistrationError: as :func:`load_criteria`.
    """
    book, further = _parsed(_stored(DEFAULT_BOOK)), _parsed(_stored(FURTHER_BOOK))
    replaced = {criterion.get("id"): criterion for criterion in further.get("criteria", ())}
    kept = [replaced.pop(criterion["id"], criterion) for criterion in book["criteria"]]
    return _book({**book, "criteria": (*kept, *replaced.values())})


def _stored(name: str) -> str:
    return (resources.files("evals") / name).read_text(encoding="utf-8")


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PreregistrationError(f"the criteria cannot be read: {error}") from error


def _book(document: Mapping[str, Any]) -> CriteriaBook:
    try:
        return CriteriaBook.model_validate(_frozen(document))
    except ValidationError as error:
        raise PreregistrationError(f"the criteria cannot be read: {error}") from error


def _frozen(document: Mapping[str, Any]) -> dict[str, Any]:
    """TOML as the closed records want it: tuples for arrays, and an explicit null for what TOML cannot spell."""
    criteria = [{"unavailable": None, **criterion} for criterion in document.get("criteria", ())]
    for criterion in criteria:
        criterion["parts"] = tuple(_frozen_part(part) for part in criterion.get("parts", ()))
    return {**document, "criteria": tuple(criteria)}


def _frozen_part(part: Mapping[str, Any]) -> dict[str, Any]:
    frozen = {**part, "attainable_ppm": tuple(part.get("attainable_ppm", ()))}
    for name in ("loss", "gain"):
        if isinstance(part.get(name), Mapping):
            frozen[name] = _frozen_sample(part[name])
    return frozen if "loss" in frozen else _frozen_sample(frozen)


def _frozen_sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    metric = sample.get("metric")
    return {"right": None, **sample, "metric": Metric(metric) if metric in set(Metric) else metric}
