"""One evaluation run, whatever program logged it: rows of scores, and the figures that the program reported of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["scored", "not-a-number", "unreadable"]

Format = Literal["inspect", "lm-eval", "tau-bench"]

_WORDS: Mapping[str, float] = {
    "C": 1.0,
    "I": 0.0,
    "P": 0.5,
    "N": 0.0,
    "yes": 1.0,
    "true": 1.0,
    "no": 0.0,
    "false": 0.0,
}
"""Grades in words and their numbers, as Inspect's metrics read them."""

_NOT_NUMBERS = frozenset({"nan", "infinity", "-infinity", "inf", "-inf"})


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one answer by one scorer."""

    state: State
    value: float | None
    """The number; None unless scored."""
    written: str
    """As the log has it, cut to a readable length."""

    @classmethod
    def of(cls, value: object) -> Score:
        """Read a score as the log has it: a number, a truth value, or a grade in words."""
        written = str(value)[:40]
        if isinstance(value, str) and value.strip().casefold() in _NOT_NUMBERS:
            return cls("not-a-number", None, written)
        number = _WORDS.get(value, _WORDS.get(value.strip().casefold())) if isinstance(value, str) else None
        if number is None and isinstance(value, bool | int | float):
            number = float(value)
        if number is None and isinstance(value, str):
            try:
                number = float(value)
            except ValueError:
                number = None
        if number is None:
            return cls("unreadable", None, written)
        return cls("scored", number, written) if math.isfinite(number) else cls("not-a-number", None, written)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One answer: a sample, in one epoch or trial."""

    sample: str
    epoch: int
    scores: Mapping[str, Score]
    """By scorer; a scorer that gave none is absent."""
    error: str | None = None
    """Why there is no answer, in the log's words."""
    limit: str | None = None
    """The kind of limit that ended it."""
    empty: bool = False
    """The model said nothing at all."""
    retries: int = 0
    """How often it was asked before, after an error."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Short facts about the sample, by which samples may belong together."""
    asked: str | None = None
    """Digest of the input; None where the log does not say it."""

    @property
    def name(self) -> str:
        """The sample, with its epoch where that is not the first."""
        return self.sample if self.epoch == 1 else f"{self.sample} (epoch {self.epoch})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What the program reported of one scorer."""

    scorer: str
    metric: str
    """Name of the mean: `accuracy`, `mean`, `acc`."""
    value: float | None
    """None: reported, but no number."""
    stderr: float | None
    """None: none was reported."""
    stderr_name: str | None = None
    clustered_by: str | None = None
    """Field by which the reported error is clustered."""
    reducer: str | None = None
    """How the epochs of a sample became one score; None where only the run says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """One run: what was planned, what came of it, and what was reported."""

    path: str
    format: Format
    task: str
    population: str
    """Runs of one population answer the same samples: they can be compared."""
    model: str | None
    rows: tuple[Row, ...]
    reported: tuple[Reported, ...]
    status: str | None = None
    """The log's own word for how the run ended; None where it has none."""
    planned: int | None = None
    """Answers that the log says there should be; None where it does not say."""
    dataset: int | None = None
    """Samples of the whole data set; None where the log does not say."""
    epochs: int = 1
    reducers: tuple[str, ...] = ("mean",)
    """How the epochs of a sample become one score, where there are several."""
    reduced: bool = False
    """The rows are one score a sample, already reduced over its epochs: the log holds no more."""
    errors_score_zero: bool = False
    """The program writes an answer that failed as a score of 0."""
    unread: tuple[tuple[str, str], ...] = ()
    """(place, why) of rows that cannot be read."""

    @property
    def scorers(self) -> tuple[str, ...]:
        """Every scorer that scored a row or of which something was reported, reported ones first."""
        names = [each.scorer for each in self.reported] + [name for row in self.rows for name in row.scores]
        return tuple(dict.fromkeys(names))

    def reported_of(self, scorer: str) -> Reported | None:
        """What was reported of ``scorer``, if anything was; of several ways to reduce epochs, the mean before others."""
        found = [each for each in self.reported if each.scorer == scorer]
        return next((each for each in found if self.is_plain(each)), found[0] if found else None)

    def is_plain(self, reported: Reported) -> bool:
        """Whether a figure is of samples' means over their epochs, and of no other reduction."""
        return self.epochs == 1 or ((reported.reducer,) if reported.reducer else self.reducers) == ("mean",)

    def unique(self) -> Iterator[Row]:
        """The first row of each (sample, epoch)."""
        seen: set[tuple[str, int]] = set()
        for row in self.rows:
            if (row.sample, row.epoch) not in seen:
                seen.add((row.sample, row.epoch))
                yield row

    def value_of(self, row: Row, scorer: str) -> float | None:
        """What the scorer gave an answer; None where it gave no number, or where a failure was written as a number."""
        score = row.scores.get(scorer)
        if score is None or (row.error is not None and self.errors_score_zero):
            return None
        return score.value

    def values(self, scorer: str) -> dict[str, list[float]]:
        """The numbers of each sample over its epochs, each (sample, epoch) once."""
        values: dict[str, list[float]] = {}
        for row in self.unique():
            value = self.value_of(row, scorer)
            if value is not None:
                values.setdefault(row.sample, []).append(value)
        return values

    @property
    def repeated(self) -> bool:
        """Whether a sample was answered more than once on purpose."""
        return len({(row.sample, row.epoch) for row in self.rows}) > len({row.sample for row in self.rows})
