"""From pairs to shares: how many attacks pass and how much honest evidence is merged, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Final

from evals.errors import CorpusError
from evals.quorum_attack.corpora import question_of
from evals.quorum_attack.pairs import Point, QuestionPairs
from evals.statistics import Interval, Undefined, clopper_pearson, cluster_proportion
from ledger_core.belief.policies import SEED_V4

QUORUM: Final = 2
"""K of every shipped policy: independent origins that retract a target."""

COSINES: Final = tuple(range(300_000, 1_000_001, 10_000))
JACCARDS: Final = (*range(50_000, 1_000_001, 50_000),)
GRID: Final = tuple(Point(cosine, jaccard) for cosine, jaccard in product(COSINES, JACCARDS))
"""Every point that is looked at when thresholds are fitted."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of questions or of pairs."""

    events: float
    interval: Interval | Undefined
    """Its ``n`` counts questions: texts about one question are not independent of each other."""


def passing(attack: Sequence[QuestionPairs], point: Point, quorum: int = QUORUM) -> Share:
    """Questions on which the attacker finds ``quorum`` pairwise independent texts among their own: the best they have."""
    passed = sum(question.reaches(quorum, point) for question in attack)
    return Share(passed, clopper_pearson(passed, len(attack)))


def merged(honest: Sequence[QuestionPairs], point: Point) -> Share:
    """Pairs of honest origins that are not told apart, averaged within each question and then over the questions."""
    values = _by_question(honest, point)
    return Share(sum(sum(pairs) for pairs in values.values()), cluster_proportion(values))


def silenced(honest: Sequence[QuestionPairs], point: Point, quorum: int = QUORUM) -> Share:
    """Questions (or claims, averaged within each question) on which honest origins could not retract a falsehood."""
    values: dict[str, list[float]] = {}
    for group in honest:
        values.setdefault(question_of(group.key), []).append(float(not group.reaches(quorum, point)))
    return Share(sum(sum(lost) for lost in values.values()), cluster_proportion(values))


def fitted(attack: Sequence[QuestionPairs], honest: Sequence[QuestionPairs], points: Iterable[Point] = GRID) -> Point:
    """The point at which the share of passing attacks plus the share of merged honest pairs is least.

    Both errors weigh the same (Youden's criterion). Of equal points the one that merges least, then the one nearest to
    the specification's: what no data speak for stays as it is.

    Raises:
        CorpusError: a set without a pair, on which nothing can be fitted.
    """
    if not attack or not any(question.pairs for question in honest):
        raise CorpusError("thresholds are fitted on attacks and honest pairs, and one of the two sets is empty")
    return min(points, key=lambda point: (*_cost(attack, honest, point), _distance(point), point))


def _distance(point: Point) -> int:
    start = Point.of(SEED_V4)
    return abs(point.cosine_ppm - start.cosine_ppm) + abs(point.jaccard_ppm - start.jaccard_ppm)


def _cost(attack: Sequence[QuestionPairs], honest: Sequence[QuestionPairs], point: Point) -> tuple[float, float]:
    """The two shares of :func:`passing` and :func:`merged` without their intervals: their sum, and the second."""
    passed = fmean(question.reaches(QUORUM, point) for question in attack)
    taken = fmean(fmean(pairs) for pairs in _by_question(honest, point).values() if pairs)
    return round(passed + taken, 9), round(taken, 9)


def _by_question(honest: Sequence[QuestionPairs], point: Point) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for group in honest:
        values.setdefault(question_of(group.key), []).extend(group.merged(point))
    return values
