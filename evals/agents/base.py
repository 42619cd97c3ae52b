"""What an agent is: a prompt in, an answer or a fault out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evals.prompts import AssembledPrompt
from evals.trials import ForcedChoice


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent said after a prompt."""

    text: str
    ids: tuple[int, ...]
    """Generated token ids, which may run on after the text; empty where the agent does not know them."""
    attempts: int = 1
    """How often it was asked for until it came: a retry is visible."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Log-probability of each candidate value at one slot, in nats, and which label holds the likeliest."""

    preferred: ForcedChoice
    log_probabilities: Mapping[str, float]
    """Candidate value -> sum over its tokens."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no answer: the trial's outcome is `error` and the run goes on."""

    reason: str
    """One line, without paths or traceback, so that a record does not depend on the machine."""
    attempts: int = 1


class Agent(Protocol):
    """Answers prompts; equal prompts get equal answers."""

    @property
    def name(self) -> str:
        """Which agent and which weights, for reports."""
        ...

    def answer(self, prompt: AssembledPrompt) -> Answer | Fault:
        """The continuation of ``prompt``."""
        ...

    def forced_choice(
        self, prompt: AssembledPrompt, own_stem: str, candidates: Mapping[ForcedChoice, Sequence[str]]
    ) -> Choice | Fault:
        """Which value the agent prefers after ``prompt`` and the words it began its own answer with."""
        ...
