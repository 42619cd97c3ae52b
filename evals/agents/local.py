"""The default agent and the evidence: a small language model on this machine, greedy, in exact tokens."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attribution.errors import AttributionError
from evals.agents.answer_cache import AnswerCache
from evals.agents.base import Answer, Choice, Fault
from evals.prompts import AssembledPrompt
from evals.trials import ForcedChoice
from ledger_core.kernel import digests
from ledger_core.kernel.claims import SPLITTER, split_sentences
from ledger_core.kernel.digests import Prefix

if TYPE_CHECKING:
    from attribution.models import LanguageModel

MAX_ANSWER_TOKENS = 20
MAX_SUMMARY_TOKENS = 64
"""Two or three sentences."""


class LocalAgent:
    """Greedy answers of a local model: one sentence, one line, at most twenty tokens.

    Equal prompts are answered once: the key of the cache holds the weights digest, the dtype, the decoding limits and
    the exact ids.
    """

    def __init__(self, model: LanguageModel, cache: AnswerCache | None = None) -> None:
        self._model = model
        frame = model.chat_template_pieces
        self._stop_ids = frozenset({frame.start, frame.end})
        self._cache = cache or AnswerCache()
        self._read: tuple[tuple[int, ...], Any] | None = None

    @property
    def name(self) -> str:
        """Model, quantisation and dtype."""
        files = self._model.files
        return f"local {files.name} {files.quantisation} {self._model.dtype}"

    def answer(self, prompt: AssembledPrompt) -> Answer | Fault:
        """The greedy continuation, up to the end of its first sentence; a prompt that does not fit is a fault."""
        key = self._key("answer", prompt.ids)
        known = self._cache.get(key)
        if known is not None:
            return Answer(known["text"], tuple(known["ids"]))
        answer = self._generate(prompt)
        if isinstance(answer, Answer):
            self._cache.put(key, {"text": answer.text, "ids": list(answer.ids)})
        return answer

    def _generate(self, prompt: AssembledPrompt) -> Answer | Fault:
        caches: list[Any] = []
        self._read = None
        try:
            ids = self._model.generate(
                prompt.ids, MAX_ANSWER_TOKENS, stop_ids=self._stop_ids, stop_text="\n", caches=caches
            )
        except (AttributionError, RuntimeError) as error:
            return _fault(error)
        self._read = (prompt.ids, caches[0])
        return Answer(first_sentence(self._model.detokenize(ids).decode(errors="replace")), ids)

    def summarise(self, prompt: AssembledPrompt) -> Answer | Fault:
        """The greedy continuation up to the end of its message, or of its first line."""
        key = self._key(f"summary {MAX_SUMMARY_TOKENS}", prompt.ids)
        known = self._cache.get(key)
        if known is not None:
            return Answer(known["text"], tuple(known["ids"]))
        try:
            ids = self._model.generate(prompt.ids, MAX_SUMMARY_TOKENS, stop_ids=self._stop_ids, stop_text="\n")
        except (AttributionError, RuntimeError) as error:
            return _fault(error)
        answer = Answer(self._model.detokenize(ids).decode(errors="replace").strip(), ids)
        self._cache.put(key, {"text": answer.text, "ids": list(ids)})
        return answer

    def forced_choice(
        self, prompt: AssembledPrompt, own_stem: str, candidates: Mapping[ForcedChoice, Sequence[str]]
    ) -> Choice | Fault:
        """The likeliest candidate at the slot after ``prompt`` and ``own_stem``; ties go to the label listed first.

        A prompt that was answered just before is not read again; any other is read as an answer reads it, so that the bits are
        the same whether its answer was generated, known from the cache of an earlier try, or never asked for.
        """
        labels = {label: tuple(values) for label, values in candidates.items() if values}
        values = [value for listed in labels.values() for value in listed]
        if not values:
            return Fault("a forced choice needs at least one candidate value")
        prefix = (*prompt.ids, *self._model.tokenize(own_stem))
        key = self._key("choice", prefix, *(value for value in values), *labels)
        known = self._cache.get(key)
        if known is not None:
            return Choice(known["preferred"], known["log_probabilities"])
        choice = self._choose(prompt, prefix, labels, values)
        if isinstance(choice, Choice):
            self._cache.put(key, {"preferred": choice.preferred, "log_probabilities": dict(choice.log_probabilities)})
        return choice

    def _read_prompt(self, prompt: AssembledPrompt) -> Any:
        """The cache of all but the last token of ``prompt``, as generation read it; it serves once."""
        read, self._read = self._read, None
        if read is None or read[0] != prompt.ids:
            caches: list[Any] = []
            self._model.generate(prompt.ids, 1, caches=caches)
            read = prompt.ids, caches[0]
        cache = read[1]
        cache.crop(len(prompt.ids) - 1 - cache.get_seq_length())
        return cache

    def _choose(
        self,
        prompt: AssembledPrompt,
        prefix: tuple[int, ...],
        labels: Mapping[ForcedChoice, tuple[str, ...]],
        values: Sequence[str],
    ) -> Choice | Fault:
        continuations = [self._model.tokenize(f" {value}") for value in values]
        longest = max(len(ids) for ids in continuations)
        if len(prefix) + longest > self._model.context_window:
            return Fault(
                f"a prompt of {len(prefix)} tokens and a value of {longest} exceed the context window of "
                f"{self._model.context_window}"
            )
        try:
            scores = continuation_scores(self._model.model, prefix, continuations, self._read_prompt(prompt))
            scored = dict(zip(values, scores, strict=True))
        except (AttributionError, RuntimeError) as error:
            return _fault(error)
        preferred = max(labels, key=lambda label: max(scored[value] for value in labels[label]))
        return Choice(preferred, scored)

    def _key(self, purpose: str, ids: Sequence[int], *texts: str) -> str:
        identity = (purpose, self._model.files.weights_digest, self._model.dtype, str(MAX_ANSWER_TOKENS), SPLITTER)
        parts = [part.encode() for part in (*identity, *texts)]
        return digests.framed_hex(Prefix.CONFIG, [*parts, struct.pack(f">{len(ids)}I", *ids)])


def first_sentence(text: str) -> str:
    """The first claim of ``text`` by the ledger's splitter: what follows an answer is not the answer."""
    ranges = split_sentences(text)
    return text.encode()[: ranges[0][1]].decode().rstrip() if ranges else ""


def continuation_scores(
    model: Any, prefix: Sequence[int], continuations: Sequence[Sequence[int]], read: Any = None
) -> list[float]:
    """Log-probabilities of the continuations after ``prefix``, in nats; one pass over the prefix serves all.

    ``read`` is a key-value cache of the first tokens of ``prefix``, at least one less than all; it is used up.
    """
    import torch

    longest = max(len(ids) for ids in continuations)
    padded = torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids in continuations])
    with torch.inference_mode():
        known = 0 if read is None else read.get_seq_length()
        first = model(torch.tensor([list(prefix[known:])]), cache=read, use_cache=True, logits_to_keep=1)
        logits = first.logits.expand(len(continuations), 1, -1)
        if longest > 1:
            cache = first.cache
            cache.batch_repeat_interleave(len(continuations))
            rest = model(padded[:, :-1], cache=cache, use_cache=True).logits
            logits = torch.cat([logits, rest], dim=1)
        chosen = logits.double().log_softmax(dim=-1).gather(2, padded[:, :, None])[:, :, 0]
    return [float(chosen[row, : len(ids)].sum()) for row, ids in enumerate(continuations)]


def _fault(error: Exception) -> Fault:
    return Fault(f"{type(error).__name__}: {error}".splitlines()[0][:200])
