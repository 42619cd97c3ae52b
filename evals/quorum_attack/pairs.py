"""The two numbers by which `m3-v1` compares, for every pair of a set, and what a threshold makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evals.quorum_attack.corpora import AttackSet, HonestSet
from ledger_core.belief.independence import compare
from ledger_core.belief.independent_sets import adjacency, largest
from ledger_core.belief.similarity import Wording, cosine_ppm, wording_of
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.types import PPM
from ledger_core.providers import EmbeddingProvider


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """The two thresholds, in ppm: what lies above one of them is a near-duplicate."""

    cosine_ppm: int
    jaccard_ppm: int

    @classmethod
    def of(cls, policy: Policy) -> Point:
        """The thresholds of ``policy``."""
        return cls(policy.cosine_ppm, policy.jaccard_ppm)

    def on(self, policy: Policy) -> Policy:
        """``policy`` with these thresholds."""
        return policy.model_copy(update={"cosine_ppm": self.cosine_ppm, "jaccard_ppm": self.jaccard_ppm})


@dataclass(frozen=True, slots=True)
class PairNumbers:
    """Two texts of one question, named by their places, and how alike they are."""

    first: int
    second: int
    jaccard_ppm: int
    cosine_ppm: int
    comparable: bool
    """Whether both are long enough to be compared; what is not never counts."""

    def independent(self, point: Point) -> bool:
        """What `m3-v1` calls two texts of different origin at these thresholds."""
        return (
            self.comparable and self.jaccard_ppm <= point.jaccard_ppm and self.cosine_ppm <= min(point.cosine_ppm, PPM)
        )


@dataclass(frozen=True, slots=True)
class QuestionPairs:
    """All pairs of one question's texts of different origins."""

    key: str
    texts: int
    pairs: tuple[PairNumbers, ...]

    def largest_independent(self, point: Point) -> int:
        """Size of the largest set of texts that are pairwise independent; 0 without a text."""
        members = [str(place) for place in range(self.texts)]
        allowed = [(str(pair.first), str(pair.second)) for pair in self.pairs if pair.independent(point)]
        return largest(adjacency(members, allowed))

    def reaches(self, quorum: int, point: Point) -> bool:
        """Whether ``quorum`` of the texts are pairwise independent."""
        if quorum == 2:  # noqa: PLR2004 - one pair is such a set, and every shipped policy asks for two
            return any(pair.independent(point) for pair in self.pairs)
        return self.largest_independent(point) >= quorum

    def merged(self, point: Point) -> list[float]:
        """For every pair whether it is taken for one source: 1.0 or 0.0."""
        return [0.0 if pair.independent(point) else 1.0 for pair in self.pairs]


def attack_pairs(attack: AttackSet, embedder: EmbeddingProvider, policy: Policy) -> tuple[QuestionPairs, ...]:
    """All pairs of the texts of every question; each text is served from a domain of its own."""
    groups = {
        question.key: (question.texts, tuple(combinations(range(len(question.texts)), 2)))
        for question in attack.questions
    }
    return _measured(groups, embedder, policy)


def honest_pairs(honest: HonestSet, embedder: EmbeddingProvider, policy: Policy) -> tuple[QuestionPairs, ...]:
    """All pairs of passages of different origins of every question."""
    groups = {}
    for question in honest.questions:
        passages = question.passages
        apart = ((a, b) for a, b in combinations(range(len(passages)), 2) if passages[a].origin != passages[b].origin)
        groups[question.key] = (tuple(passage.text for passage in passages), tuple(apart))
    return _measured(groups, embedder, policy)


def numbers_of(
    first: Wording | None, second: Wording | None, cosine: int, policy: Policy, places: tuple[int, int] = (0, 1)
) -> PairNumbers:
    """Both numbers of a pair, whatever the thresholds of ``policy``."""
    both = compare(first, second, Point(PPM - 1, PPM).on(policy), lambda *_: cosine)
    comparable = both.jaccard_ppm is not None
    return PairNumbers(*places, both.jaccard_ppm or 0, both.cosine_ppm or 0, comparable)


def _measured(
    groups: Mapping[str, tuple[Sequence[str], Iterable[tuple[int, int]]]], embedder: EmbeddingProvider, policy: Policy
) -> tuple[QuestionPairs, ...]:
    wordings = {text: wording_of(text.encode()) for texts, _ in groups.values() for text in texts}
    read = sorted({wording.text for wording in wordings.values() if wording is not None})
    vectors = dict(zip(read, embedder.embed(read).tolist(), strict=True)) if read else {}
    found = []
    for key, (texts, places) in groups.items():
        pairs = []
        for one, other in places:
            first, second = wordings[texts[one]], wordings[texts[other]]
            cosine = 0
            if first is not None and second is not None:
                cosine = cosine_ppm(vectors[first.text], vectors[second.text])
            pairs.append(numbers_of(first, second, cosine, policy, (one, other)))
        found.append(QuestionPairs(key, len(texts), tuple(pairs)))
    return tuple(found)
