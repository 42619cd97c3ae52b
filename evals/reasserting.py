"""Whether a claim is said again with units of its context deleted: the outcome that the weights of cuts are calibrated on.

The claim is generated again from the exact tokens of its prompt and its own stem, greedily, as it was said in the first place;
the typed matcher reads whether the value that follows is still the claim's.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import TYPE_CHECKING

from attribution.trajectory.regeneration import Regeneration
from evals.agents.answer_cache import AnswerCache
from evals.matcher import Expected, match
from evals.scenarios import Question, ScenarioEntry
from evals.trials import Outcome
from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix

if TYPE_CHECKING:
    from attribution.models import LanguageModel
    from attribution.trajectory import Trajectory, TrajectoryClaim

SPARE_TOKENS = 4
"""Tokens generated beyond the length of the claim's own value: another value may be longer, and a word must end."""


def expected_of(said: ScenarioEntry, question: Question | None) -> Expected | None:
    """What a continuation of the claim's stem is compared with; None where the scenario knows no values of its kind."""
    if question is None or said.value is None:
        return None
    others = tuple(value for value in (question.true, question.false, *question.third) if value is not None)
    if said.value not in others:
        return None  # a claim about something else than the question: its kind and vocabulary are not known
    return Expected(
        kind=question.kind, true=said.value, vocabulary=(*others, *question.vocabulary), ignored=question.ignored
    )


class Reassertion:
    """Says one claim again; equal prompts are generated once.

    Args:
        model: the model that said it.
        trajectory: laid out from the recorded generations.
        claim: which of its claims.
        said: the claim as planted.
        expected: see :func:`expected_of`.
        cache: what was generated before.
    """

    def __init__(
        self,
        model: LanguageModel,
        trajectory: Trajectory,
        claim: TrajectoryClaim,
        said: ScenarioEntry,
        expected: Expected,
        cache: AnswerCache,
    ) -> None:
        target = trajectory.layout.targets[claim.target]
        length = len(model.tokenize(said.stem))
        self._stem = trajectory.layout.ids[target.start : target.start + length]
        self._longest = len(model.tokenize(f" {said.value}")) + SPARE_TOKENS
        self._model = model
        self._expected = expected
        self._cache = cache
        self._generation = claim.generation
        self._again = Regeneration(trajectory, self._continued)

    def asserts(self, deleted: Collection[int]) -> bool:
        """Whether the claim is said again with the units ``deleted``.

        Raises:
            ContextWindowError: the prompt and its continuation do not fit the model.
        """
        ids = self._again.answer(self._generation, deleted)
        text = self._model.detokenize(ids).decode("utf-8", "replace")
        return match(self._expected, text) is Outcome.ASSERTS_TRUE

    def _continued(self, prompt: tuple[int, ...]) -> tuple[int, ...]:
        ids = (*prompt, *self._stem)
        identity = ("reassert-v1", self._model.files.weights_digest, self._model.dtype, str(self._longest))
        parts = [part.encode() for part in identity]
        key = digests.framed_hex(Prefix.CONFIG, [*parts, struct.pack(f">{len(ids)}I", *ids)])
        known = self._cache.get(key)
        if known is not None:
            return tuple(known["ids"])
        frame = self._model.chat_template_pieces
        said = self._model.generate(ids, self._longest, stop_ids={frame.start, frame.end}, stop_text="\n")
        self._cache.put(key, {"ids": list(said)})
        return said
