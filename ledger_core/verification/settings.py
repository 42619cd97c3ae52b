"""The numbers of the verifier. They are part of its recipe: other numbers are another verifier."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ledger_core.kernel import digests, jcs
from ledger_core.kernel.digests import Prefix

_DIGITS = 16
"""Hexadecimal digits of the configuration's digest that stand in a recipe."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How far the verifier looks, and what it asks about."""

    minimum_cosine_ppm: int = 450_000
    """A candidate whose nearest passage has this cosine is asked about, whatever words it shares: with MiniLM 393 of
    400 contradictions of ConflictQA are, and none of 600 pairs about different questions (docs/verification.md)."""
    minimum_overlap_ppm: int = 250_000
    """A candidate that shares this part of the words is asked about, whatever its cosine: hardly any two texts about
    different things do (docs/verification.md has the measurement)."""
    most_embedded: int = 256
    """Candidates whose meaning is compared in one check: those that share most words. The others have their words alone."""
    most_asked: int = 16
    """Candidates asked about in one check, nearest first."""
    read_characters: int = 200_000
    """Of a text, from its beginning; what stands behind is not compared."""
    passage_characters: int = 1_000
    """Of a passage: about as much as a sentence embedder of 256 word pieces reads."""
    passages_embedded: int = 4
    """Of one text in one comparison: those that share most words with the other."""
    shown_characters: int = 6_000
    """A text up to this length is shown whole to the language model, of a longer one the passages that were embedded."""
    answer_tokens: int = 600
    """Most tokens of one answer."""

    def recipe(self, template: str, llm: str, embedder: str) -> str:
        """The recipe of verdicts found with these numbers, this prompt and these models: `two-stage-v1.` and a digest."""
        config = jcs.encode({"embedder": embedder, "llm": llm, "settings": asdict(self), "template": template})
        return f"two-stage-v1.{digests.domain_hex(Prefix.CONFIG, config)[:_DIGITS]}"
