"""Greedy decoding and constrained decoding with a key-value cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constrained:
    """What the model thought of a response it was made to give."""

    log_probability: float
    """Of the whole response, in nats."""
    greedy_ids: tuple[int, ...]
    """Per position of the response, the model's first choice after the prompt and the response so far."""
    first_divergence: int | None
    """Index of the first token that free greedy decoding would have chosen otherwise; ``None`` when it agrees."""


def constrained(model: Any, prompt_ids: Sequence[int], response_ids: Sequence[int]) -> Constrained:
    """Teacher-force ``response_ids`` after ``prompt_ids`` in one pass; both are non-empty."""
    import torch

    ids = torch.tensor([[*prompt_ids, *response_ids[:-1]]], device=model.device)
    with torch.inference_mode():
        logits = model(ids, use_cache=False, logits_to_keep=len(response_ids)).logits[0].double()
    response = torch.tensor(list(response_ids), device=model.device)
    chosen = logits.gather(1, response[:, None])[:, 0] - logits.logsumexp(dim=1)
    greedy = logits.argmax(dim=1)
    differing = (greedy != response).nonzero()
    return Constrained(
        log_probability=float(chosen.sum()),
        greedy_ids=tuple(greedy.tolist()),
        first_divergence=int(differing[0, 0]) if len(differing) else None,
    )


def generate_many(
    model: Any,
    token_bytes: Callable[[int], bytes],
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    *,
    stop_ids: frozenset[int],
    stop_text: str | None,
    caches: list[Any] | None = None,
) -> list[tuple[int, ...]]:
    """Greedy continuations of non-empty ``prompts``, in order; finished rows leave the batch; the cache is put into ``caches``."""
    import torch

    answers = [_Answer(token_bytes, stop_ids, None if stop_text is None else stop_text.encode()) for _ in prompts]
    if not prompts or max_new_tokens <= 0:
        return [answer.ids for answer in answers]
    longest = max(len(prompt) for prompt in prompts)
    padded = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts], device=model.device)
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=model.device)
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    live = list(range(len(prompts)))
    with torch.inference_mode():
        cache: Any = None
        for _ in range(max_new_tokens):
            output = model(
                padded,
                attention_mask=mask,
                position_ids=positions,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            cache = output.cache
            chosen = output.logits[:, -1].argmax(dim=-1)
            going = [row for row, index in enumerate(live) if answers[index].take(int(chosen[row]))]
            if not going:
                break
            if len(going) < len(live):
                kept = torch.tensor(going, device=model.device)
                cache.reorder_cache(kept)
                chosen, mask, positions = chosen[kept], mask[kept], positions[kept]
                live = [live[row] for row in going]
            padded = chosen[:, None]
            mask = torch.cat([mask, mask.new_ones(len(live), 1)], dim=1)
            positions = positions[:, -1:] + 1
        if caches is not None:
            caches.append(cache)
    return [answer.ids for answer in answers]


class _Answer:
    """The tokens of one continuation and the rule that ends it."""

    def __init__(self, token_bytes: Callable[[int], bytes], stop_ids: frozenset[int], stop: bytes | None) -> None:
        self.ids: tuple[int, ...] = ()
        self._token_bytes = token_bytes
        self._stop_ids = stop_ids
        self._stop = stop
        self._text = b""

    def take(self, token: int) -> bool:
        """Add ``token``; false when it ends the continuation."""
        if token in self._stop_ids:
            return False
        before = len(self._text)
        self._text += self._token_bytes(token)
        found = -1 if not self._stop else self._text.find(self._stop)
        if found < 0 or found > before:
            self.ids += (token,)
        return found < 0
