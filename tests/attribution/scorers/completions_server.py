"""A server on loopback that speaks the completions protocol with a loaded model, one plain pass a prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from attribution.models import LanguageModel
from tests.ledger_core.providers.local_server import Reply, Request, Server

MODEL = "served"


@dataclass
class CompletionsServer:
    """Answers as vLLM and SGLang do; ``change`` may spoil an answer before it is sent."""

    language: LanguageModel
    change: Callable[[dict[str, Any]], object] = lambda _: None
    server: Server = field(default_factory=Server)

    def __post_init__(self) -> None:
        self.server.rule = self._answer

    @property
    def prompts(self) -> list[list[int]]:
        """Every prompt received so far, as it came."""
        return [prompt for request in self.server.requests for prompt in request.body["prompt"]]

    def _answer(self, request: Request) -> Reply:
        asked = request.body
        assert request.path == "/v1/completions"
        assert asked["model"] == MODEL
        assert asked["max_tokens"] == 1
        choices = [self._choice(asked, number, prompt) for number, prompt in enumerate(asked["prompt"])]
        body = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": MODEL, "choices": choices}
        self.change(body)
        return Reply(body=body)

    def _choice(self, asked: dict[str, Any], number: int, prompt: list[int]) -> dict[str, Any]:
        assert all(isinstance(token, int) for token in prompt)
        with torch.inference_mode():
            logits = self.language.model(torch.tensor([prompt])).logits[0]
        log_p = logits.float().log_softmax(1)
        new = int(log_p[-1].argmax())
        choice = {"index": number, "text": self._text(new), "finish_reason": "length", "logprobs": None}
        if "prompt_logprobs" in asked:
            choice["prompt_logprobs"] = [
                None,
                *(self._best_and_own(row, own) for row, own in zip(log_p, prompt[1:], strict=False)),
            ]
        if asked.get("echo"):
            own = [None, *(float(row[token]) for row, token in zip(log_p, [*prompt[1:], new], strict=True))]
            choice["logprobs"] = {
                "tokens": [self._text(token) for token in [*prompt, new]],
                "token_logprobs": own,
                "text_offset": [0] * len(own),
            }
            choice["prompt_token_ids"] = prompt if asked.get("return_token_ids") else None
        return choice

    def _best_and_own(self, row: torch.Tensor, own: int) -> dict[str, Any]:
        found = {int(row.argmax()): 1, own: int((row >= row[own]).sum())}
        return {
            str(token): {"logprob": float(row[token]), "rank": rank, "decoded_token": self._text(token)}
            for token, rank in found.items()
        }

    def _text(self, token: int) -> str:
        return self.language.token_bytes(token).decode("utf-8", "replace")

    def close(self) -> None:
        self.server.close()
