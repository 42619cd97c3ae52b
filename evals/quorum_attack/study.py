"""A whole study: attack sets and honest sets in, one document out. Deterministic in its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import TYPE_CHECKING, Final, Literal

from evals.errors import CorpusError
from evals.quorum_attack.corpora import AttackSet, HonestSet, half_of
from evals.quorum_attack.document import (
    SCHEMA,
    CurveRow,
    FigureRow,
    LedgerRow,
    Measure,
    Part,
    PointRow,
    QuorumAttackData,
    RewriteRow,
    SetRow,
    WitnessRow,
)
from evals.quorum_attack.matching import matched
from evals.quorum_attack.pairs import Point, QuestionPairs, attack_pairs, honest_pairs
from evals.quorum_attack.rewrites import REWRITES, rewritten
from evals.quorum_attack.shares import COSINES, JACCARDS, QUORUM, Share, fitted, merged, passing, silenced
from evals.quorum_attack.staging import stage
from evals.report.data import Estimate
from ledger_core.belief.policies import CALIBRATED, CALIBRATED_NAME, SEED_V4, SEED_V4_NAME
from ledger_core.belief.similarity import wording_of
from ledger_core.verification.near_duplicates import near_duplicates

if TYPE_CHECKING:
    from ledger_core.kernel.policy import Policy
    from ledger_core.providers import EmbeddingProvider

FITTED: Final = "fitted"
_PARTS: Final[tuple[Part, Part]] = ("fit", "check")
_MEASURES: Final[Mapping[Measure, Callable[[Sequence[QuestionPairs], Point], Share]]] = {
    "passing": passing,
    "merged": merged,
    "silenced": silenced,
}


@dataclass(frozen=True, slots=True)
class _Part:
    """The pairs of one set that belong to one part of the study."""

    set_name: str
    part: Part
    kind: Literal["attack", "honest"]
    pairs: tuple[QuestionPairs, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        return ("passing",) if self.kind == "attack" else ("merged", "silenced")


def study(
    fit: Sequence[AttackSet],
    check: Sequence[AttackSet],
    honest: Sequence[HonestSet],
    embedder: EmbeddingProvider,
    *,
    command: str,
    sample: int,
) -> QuorumAttackData:
    """Fit thresholds on ``fit`` and half of the first of ``honest``, and state what they do there and elsewhere.

    Args:
        fit: attack sets whose questions are pooled to fit the thresholds.
        check: attack sets on which the fitted thresholds are checked.
        honest: honest sets; thresholds are fitted on half of the questions of the first and checked on the rest.
        embedder: the model behind the cosines.
        command: how to make this document again.
        sample: questions of each set that are also played through a ledger, at most.

    Raises:
        CorpusError: no attack set, no honest set, or two sets of one name.
    """
    _refuse(fit, check, honest)
    cut = tuple(matched(each, [n for attack in fit for n in attack.lengths]) for each in honest)
    parts = [
        *(_Part(attack.name, "fit", "attack", attack_pairs(attack, embedder, SEED_V4)) for attack in fit),
        *(_Part(attack.name, "check", "attack", attack_pairs(attack, embedder, SEED_V4)) for attack in check),
        *(part for each in cut for part in _halves(each, honest_pairs(each, embedder, SEED_V4))),
    ]
    attacks = [pairs for part in parts if part.kind == "attack" and part.part == "fit" for pairs in part.pairs]
    witnesses = [pairs for part in parts if (part.set_name, part.part) == (cut[0].name, "fit") for pairs in part.pairs]
    best = fitted(attacks, witnesses)
    points = {
        SEED_V4_NAME: Point.of(SEED_V4),
        CALIBRATED_NAME: Point.of(CALIBRATED),
        FITTED: best,
    }
    return QuorumAttackData(
        schema_name=SCHEMA,
        embedder=embedder.model,
        quorum=QUORUM,
        minimum_shingles=SEED_V4.minimum_shingles,
        command=command,
        sets=tuple(_set_rows(fit, check, cut)),
        points=tuple(_point_rows(points, cut[0].name, [attack.name for attack in fit])),
        figures=tuple(_figures(parts, points)),
        curve=tuple(_curve(parts, best)),
        witnesses=tuple(_witnesses(parts, points)),
        rewrites=tuple(_rewrites(fit, check, points, embedder)),
        ledger=tuple(_ledger_rows((*fit, *check), cut, parts, embedder, sample)),
    )


def _refuse(fit: Sequence[AttackSet], check: Sequence[AttackSet], honest: Sequence[HonestSet]) -> None:
    if not fit or not honest:
        raise CorpusError("a study needs an attack set and an honest set: what a rule stops is one half of its price")
    names = [*(attack.name for attack in (*fit, *check)), *(each.name for each in honest)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CorpusError(f"two sets are called {twice[0]!r}; give the files different names")


def _halves(honest: HonestSet, pairs: tuple[QuestionPairs, ...]) -> Iterator[_Part]:
    for number, part in enumerate(_PARTS):
        held = tuple(each for each in pairs if half_of(each.key) == number)
        yield _Part(honest.name, part, "honest", held)


def _set_rows(fit: Sequence[AttackSet], check: Sequence[AttackSet], honest: Sequence[HonestSet]) -> Iterator[SetRow]:
    for attacks, part in ((fit, "fit"), (check, "check")):
        for attack in attacks:
            texts = {f"{q.key}\0{n}": text for q in attack.questions for n, text in enumerate(q.texts)}
            pairs = sum(len(q.texts) * (len(q.texts) - 1) // 2 for q in attack.questions)
            who = "one attacker, who wrote every text of a question to make its incorrect answer believed"
            yield _set_row(attack, "attack", part, who, texts, pairs)
    for each in honest:
        texts = {f"{q.key}\0{n}": p.text for q in each.questions for n, p in enumerate(q.passages)}
        yield _set_row(each, "honest", "split", each.who, texts, sum(1 for q in each.questions for _ in q.pairs()))


def _set_row(
    given: AttackSet | HonestSet,
    kind: Literal["attack", "honest"],
    part: str,
    who: str,
    texts: Mapping[str, str],
    pairs: int,
) -> SetRow:
    wordings = {name: wording for name, text in texts.items() if (wording := wording_of(text.encode())) is not None}
    alike = near_duplicates(wordings, SEED_V4.jaccard_ppm)
    across = [pair for pair in alike if pair.first.partition("\0")[0] != pair.second.partition("\0")[0]]
    return SetRow.model_validate(
        {
            "name": given.name,
            "kind": kind,
            "part": part,
            "digest": given.digest,
            "who": who,
            "questions": len(given.questions),
            "texts": len(texts),
            "pairs": pairs,
            "median_length": median_low(len(text) for text in texts.values()),
            "alike": len(across),
        }
    )


def _point_rows(points: Mapping[str, Point], honest: str, fit: Sequence[str]) -> Iterator[PointRow]:
    notes = {
        SEED_V4_NAME: "the specification's thresholds",
        CALIBRATED_NAME: "the policy as this version ships it",
        FITTED: f"least sum of both shares on {', '.join(fit)} and half of {honest}",
    }
    for name, point in points.items():
        yield PointRow(name=name, cosine_ppm=point.cosine_ppm, jaccard_ppm=point.jaccard_ppm, note=notes[name])


def _figures(parts: Sequence[_Part], points: Mapping[str, Point]) -> Iterator[FigureRow]:
    for name, point in points.items():
        for part in parts:
            for measure in part.measures:
                found = _share(part, measure, point)
                pairs = sum(len(question.pairs) for question in part.pairs)
                yield FigureRow(
                    point=name,
                    set_name=part.set_name,
                    part=part.part,
                    measure=measure,
                    events=found.events,
                    of=pairs if measure == "merged" else len(part.pairs),
                    share=Estimate.of(found.interval),
                )


def _curve(parts: Sequence[_Part], best: Point) -> Iterator[CurveRow]:
    sweeps: tuple[tuple[Literal["cosine", "jaccard"], list[Point]], ...] = (
        ("cosine", [replace(best, cosine_ppm=cosine) for cosine in COSINES]),
        ("jaccard", [replace(best, jaccard_ppm=jaccard) for jaccard in JACCARDS]),
    )
    for axis, swept in sweeps:
        for point in swept:
            for part in parts:
                for measure in part.measures:
                    yield CurveRow(
                        axis=axis,
                        cosine_ppm=point.cosine_ppm,
                        jaccard_ppm=point.jaccard_ppm,
                        set_name=part.set_name,
                        part=part.part,
                        measure=measure,
                        share=Estimate.of(_share(part, measure, point).interval),
                    )


def _witnesses(parts: Sequence[_Part], points: Mapping[str, Point]) -> Iterator[WitnessRow]:
    attacks = [part for part in parts if part.kind == "attack"]
    most = max(question.texts for part in attacks for question in part.pairs)
    for name, point in points.items():
        for part in attacks:
            sizes = Counter(question.largest_independent(point) for question in part.pairs)
            for size in range(1, most + 1):
                yield WitnessRow(
                    point=name, set_name=part.set_name, part=part.part, witnesses=size, questions=sizes[size]
                )


def _share(part: _Part, measure: Measure, point: Point) -> Share:
    return _MEASURES[measure](part.pairs, point)


def _rewrites(
    fit: Sequence[AttackSet], check: Sequence[AttackSet], points: Mapping[str, Point], embedder: EmbeddingProvider
) -> Iterator[RewriteRow]:
    for attacks, part in ((fit, _PARTS[0]), (check, _PARTS[1])):
        for attack in attacks:
            for name, (what, _) in REWRITES.items():
                pairs = attack_pairs(rewritten(attack, name), embedder, SEED_V4)
                for point_name in (SEED_V4_NAME, CALIBRATED_NAME):
                    found = passing(pairs, points[point_name])
                    yield RewriteRow(
                        rewrite=name,
                        what=what,
                        point=point_name,
                        set_name=attack.name,
                        part=part,
                        passed=round(found.events),
                        of=len(pairs),
                        share=Estimate.of(found.interval),
                    )


def _ledger_rows(
    attacks: Sequence[AttackSet],
    honest: Sequence[HonestSet],
    parts: Sequence[_Part],
    embedder: EmbeddingProvider,
    sample: int,
) -> Iterator[LedgerRow]:
    """The first ``sample`` questions of every set, each played through a ledger under both policies."""
    measured = {(part.set_name, each.key): each for part in parts for each in part.pairs}
    for name, policy in ((SEED_V4_NAME, SEED_V4), (CALIBRATED_NAME, CALIBRATED)):
        for attack in attacks:
            scenes = {
                question.key: (
                    f"{question.question} {question.correct}",
                    [(f"attacker {place}", text) for place, text in enumerate(question.texts)],
                )
                for question in attack.questions[:sample]
            }
            yield _staged(attack.name, "attack", scenes, measured, (name, policy), embedder)
        for each in honest:
            scenes = {
                question.key: (
                    f"{question.question} Nothing is known about this.",
                    [(passage.origin, passage.text) for passage in question.passages],
                )
                for question in each.questions[:sample]
            }
            yield _staged(each.name, "honest", scenes, measured, (name, policy), embedder)


def _staged(
    set_name: str,
    kind: Literal["attack", "honest"],
    scenes: Mapping[str, tuple[str, list[tuple[str, str]]]],
    measured: Mapping[tuple[str, str], QuestionPairs],
    policy: tuple[str, Policy],
    embedder: EmbeddingProvider,
) -> LedgerRow:
    name, rules = policy
    retracted = agree = 0
    for key, (target, contradictors) in scenes.items():
        found = stage(target, contradictors, rules, name, embedder)
        expected = measured[set_name, key].largest_independent(Point.of(rules))
        retracted += found.retracted
        agree += (found.retracted, found.largest_independent) == (expected >= QUORUM, expected)
    return LedgerRow(point=name, set_name=set_name, kind=kind, staged=len(scenes), retracted=retracted, agree=agree)
