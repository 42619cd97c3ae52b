"""Stage A, cheap: which candidates speak about the target at all. Embedding similarity or lexical overlap lets through.

It decides nothing about agreement: a contradiction is about the same thing, so it is near. What is screened out is not
asked about and gets no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledger_core.kernel.types import PPM
from ledger_core.providers import EmbeddingProvider
from ledger_core.verification.passages import Passage, overlap_ppm, passages, words
from ledger_core.verification.settings import Settings
from ledger_core.verification.texts import Text


@dataclass(frozen=True, slots=True)
class Screening:
    """How near a candidate is to the target, by its nearest passages."""

    target: Text
    candidate: Text
    cosine_ppm: int
    """Largest cosine between any two passages that were embedded, at least 0."""
    overlap_ppm: int
    """Largest overlap coefficient of their words between any two passages."""
    shown: tuple[tuple[Passage, ...], tuple[Passage, ...]]
    """Passages of target and candidate that share most words with the other text, in the order of their texts."""
    passes: bool


def screen(
    target: Text, candidates: Sequence[Text], embedder: EmbeddingProvider, settings: Settings
) -> tuple[Screening, ...]:
    """Every one of ``candidates`` measured against ``target``, nearest first; all are embedded in one call.

    Raises:
        ProviderError: the embedder does not serve.
    """
    whole = _Pieces(target, settings)
    pieces = [_Pieces(candidate, settings) for candidate in candidates]
    shown = [(whole.nearest(other.words), other.nearest(whole.words)) for other in pieces]
    texts = sorted({passage.text for pair in shown for side in pair for passage in side})
    rows = embedder.embed(texts) if texts else None
    place = {text: number for number, text in enumerate(texts)}
    found = []
    for other, (ours, theirs) in zip(pieces, shown, strict=True):
        cosines = (
            [] if rows is None else [float(rows[place[p.text]] @ rows[place[q.text]]) for p in ours for q in theirs]
        )
        cosine = min(PPM, max(0, round(PPM * max(cosines, default=0.0))))
        overlap = max((overlap_ppm(words(p.text), words(q.text)) for p in ours for q in theirs), default=0)
        passes = cosine >= settings.minimum_cosine_ppm or overlap >= settings.minimum_overlap_ppm
        found.append(Screening(target, other.text, cosine, overlap, (ours, theirs), passes))
    return tuple(sorted(found, key=lambda s: (-(s.cosine_ppm + s.overlap_ppm), s.candidate.entry)))


class _Pieces:
    """A text with its passages and their words, computed once however many others it is compared with."""

    def __init__(self, text: Text, settings: Settings) -> None:
        self.text = text
        self.words = words(text.text)
        self._most = settings.passages_embedded
        self._passages = [
            (passage, words(passage.text)) for passage in passages(text.text, settings.passage_characters)
        ]

    def nearest(self, others: frozenset[str]) -> tuple[Passage, ...]:
        """The passages that share most of ``others``, the earlier of equals, in the order of the text."""
        shared = [(-len(mine & others), number) for number, (_, mine) in enumerate(self._passages)]
        chosen = sorted(number for _, number in sorted(shared)[: self._most])
        return tuple(self._passages[number][0] for number in chosen)
