"""Stage A, cheap: which candidates speak about the target at all. Embedding similarity or lexical overlap lets through.

It decides nothing about agreement: a contradiction is about the same thing, so it is near. What is screened out is not
asked about and gets no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ledger_core.kernel.types import PPM
from ledger_core.providers import EmbeddingProvider
from ledger_core.verification.passages import Passage, overlap_ppm, passages, words
from ledger_core.verification.settings import Settings
from ledger_core.verification.texts import Text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_KEPT_VECTORS: Final = 8192
"""Of 384 numbers each some 12 MiB."""


@dataclass(frozen=True, slots=True)
class Screening:
    """How near a candidate is to the target, by its nearest passages."""

    target: Text
    candidate: Text
    cosine_ppm: int
    """Largest cosine between any two passages that were embedded, at least 0; 0 where none was."""
    overlap_ppm: int
    """Largest overlap coefficient of their words between any two passages."""
    shown: tuple[tuple[Passage, ...], tuple[Passage, ...]]
    """Passages of target and candidate that share most words with the other text, in the order of their texts."""
    passes: bool


class Screener:
    """Stage A over one embedder; what it embedded lately it does not embed again."""

    def __init__(self, embedder: EmbeddingProvider, settings: Settings) -> None:
        """Measure with ``embedder``, under the bounds of ``settings``."""
        self._embedder = embedder
        self._settings = settings
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def screen(self, target: Text, candidates: Sequence[Text]) -> tuple[Screening, ...]:
        """Every one of ``candidates`` measured against ``target``, nearest first.

        Those that share most words are embedded, all in one call; the others are judged by their words alone.

        Raises:
            ProviderError: the embedder does not serve.
        """
        whole = _Pieces(target, self._settings)
        by_words = sorted(
            (self._by_words(whole, _Pieces(candidate, self._settings)) for candidate in candidates),
            key=lambda found: (-found.overlap_ppm, found.candidate.entry),
        )
        most = self._settings.most_embedded
        vectors = self._embedded({p.text for each in by_words[:most] for side in each.shown for p in side})
        found = [*(self._by_meaning(each, vectors) for each in by_words[:most]), *by_words[most:]]
        return tuple(sorted(found, key=lambda each: (-(each.cosine_ppm + each.overlap_ppm), each.candidate.entry)))

    def _by_words(self, target: _Pieces, candidate: _Pieces) -> Screening:
        ours, theirs = target.nearest(candidate.words), candidate.nearest(target.words)
        overlap = max((overlap_ppm(words(p.text), words(q.text)) for p in ours for q in theirs), default=0)
        passes = overlap >= self._settings.minimum_overlap_ppm
        return Screening(target.text, candidate.text, 0, overlap, (ours, theirs), passes)

    def _by_meaning(self, found: Screening, vectors: Mapping[str, npt.NDArray[np.float32]]) -> Screening:
        ours, theirs = found.shown
        cosines = [float(vectors[p.text] @ vectors[q.text]) for p in ours for q in theirs]
        cosine = min(PPM, max(0, round(PPM * max(cosines, default=0.0))))
        return replace(found, cosine_ppm=cosine, passes=found.passes or cosine >= self._settings.minimum_cosine_ppm)

    def _embedded(self, texts: AbstractSet[str]) -> dict[str, npt.NDArray[np.float32]]:
        missing = sorted(texts - self._vectors.keys())
        if missing:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        found = {text: self._vectors[text] for text in texts}
        for oldest in list(self._vectors)[: max(0, len(self._vectors) - _KEPT_VECTORS)]:
            del self._vectors[oldest]
        return found


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
