"""Regenerate and compare: a claim measured at a chat interface that gives text and nothing else. The lower tier.

Under every mask the model is asked anew, and the score says how often its answer still makes the claim. That is coarse (a few
answers a mask, and a claim that could be worded otherwise), so what comes of it is labelled, and may add dependence or raise its
weight, never lower one that was declared.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

import numpy as np

from attribution.decision import ClaimDecision, Floor, RuleConfig, Undefined, decide
from attribution.errors import BlockError, InputError, ScoringServerError
from attribution.games.base import DELETED, PRESENT, CountingGame, States, Values
from ledger_core.kernel.statements.measurement import MeasurementFlag
from ledger_core.providers.protocols import LlmProvider, Message

Comparer = Callable[[str], bool]
"""Whether an answer makes the claim. An evaluation injects its typed matcher; :func:`asserts_value` is a plain one."""
Tier = Literal["regenerated"]
TIER: Tier = "regenerated"
FLAGS: tuple[MeasurementFlag, ...] = ("proxy-scored", "uncalibrated")
"""How a ledger marks such a measurement: under `proxy-scored` it may only add or raise."""
_UNREADABLE = "other"
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?!\w)")


@dataclass(frozen=True, slots=True)
class Part:
    """One message of the conversation; several parts may be one unit, and are then left out together."""

    role: Literal["system", "user", "assistant"]
    text: str
    unit: int | None = None
    """None: never left out."""
    swap: str | None = None
    """Matched text that takes its place where the unit is swapped."""


class RegenerationGame:
    """A claim as a game over a conversation's units: ``log((k + ½) / (n − k + ½))`` nats for k of n answers that make it.

    The halves (the Haldane–Anscombe correction) keep the odds finite; with n answers a score lies within ``±log(2n + 1)``.
    Deletion and swap are two questions here as everywhere: a swapped unit without matched text is refused.

    Args:
        parts: the conversation up to the answer; units are numbered from 0 without gaps.
        provider: the chat model. With more than one sample it must not be asked at temperature 0, or all are one.
        makes_claim: compares an answer with the claim.
        samples: answers a mask.
        max_tokens: most tokens of an answer.

    Raises:
        InputError: no parts, gaps between the units, or no samples.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        provider: LlmProvider,
        makes_claim: Comparer,
        *,
        samples: int = 1,
        max_tokens: int = 128,
    ) -> None:
        numbers = sorted({part.unit for part in parts if part.unit is not None})
        if not parts or numbers != list(range(len(numbers))):
            raise InputError(
                f"units {numbers} of {len(parts)} parts are not numbered 0, 1, … without gaps; number them so"
            )
        if samples < 1:
            raise InputError(f"{samples} answers a mask measure nothing; give at least 1")
        self.units = len(numbers)
        self._parts = tuple(parts)
        self._provider = provider
        self._makes_claim = makes_claim
        self._samples = samples
        self._max_tokens = max_tokens

    def values(self, states: States) -> Values:
        """Log-odds in nats that an answer makes the claim, ``float64[mask]``.

        Raises:
            BlockError: a unit is swapped that has no matched text.
            ScoringServerError: an answer was held back by the provider.
            ProviderError: no answer.
        """
        return np.array([self._log_odds(self._conversation(mask)) for mask in states], dtype=np.float64)

    def recipe(self) -> Mapping[str, str | int]:
        """What decides the numbers, for a measurement's recipe."""
        return {"scorer": "regenerate-v1", "tier": TIER, "model": self._provider.model, "samples": self._samples}

    def _conversation(self, mask: np.ndarray) -> tuple[Message, ...]:
        messages = []
        for part in self._parts:
            state = PRESENT if part.unit is None else int(mask[part.unit])
            if state == PRESENT:
                messages.append(Message(part.role, part.text))
            elif state != DELETED:
                if part.swap is None:
                    raise BlockError(f"unit {part.unit} is to be swapped but has no matched text; delete it")
                messages.append(Message(part.role, part.swap))
        return tuple(messages)

    def _log_odds(self, messages: tuple[Message, ...]) -> float:
        made = 0
        for _ in range(self._samples):
            answer = self._provider.complete(messages, max_tokens=self._max_tokens)
            if answer.finish == _UNREADABLE:
                raise ScoringServerError(
                    f"{answer.model} ended an answer for a reason of its own (a filter, or a tool call), so nothing can be "
                    "compared; measure this claim with another model"
                )
            made += self._makes_claim(answer.text)
        return math.log((made + 0.5) / (self._samples - made + 0.5))


@dataclass(frozen=True, slots=True)
class RegeneratedDecision:
    """What the rule finds on regenerated answers."""

    decision: ClaimDecision
    flags: tuple[MeasurementFlag, ...]
    """For the ledger; `proxy-scored` among them, whoever wrote the transcript."""
    tier: Tier = TIER


def measure_regenerated(
    game: RegenerationGame, floor: Floor | Undefined, config: RuleConfig | None = None
) -> RegeneratedDecision:
    """Decide one claim by regenerated answers.

    Args:
        game: the claim.
        floor: what null claims show *under regeneration with the same model and samples*
            (:func:`attribution.decision.floor.calibrate`); a floor of log-probabilities says nothing about answers.
        config: the rule's numbers.
    """
    swappable = [unit for unit in range(game.units) if _swaps(game, unit)]
    decision = decide(CountingGame(game), floor, config, swappable=swappable, lowerable=False)
    return RegeneratedDecision(decision, tuple(sorted({*decision.flags, *FLAGS})))


def asserts_value(value: str, others: Sequence[str] = ()) -> Comparer:
    """A plain comparer: an answer makes the claim if it names ``value`` and none of ``others``.

    Numbers are compared as numbers ("1,200" is 1200), anything else as whole words without case. It knows no negation.

    Raises:
        InputError: an empty value, or one of ``others`` that is the value.
    """
    if not value.strip():
        raise InputError("the claim's value is empty; give the word or number that an answer must name")
    mine, theirs = _finder(value), [_finder(other) for other in others]
    if any(finds(value) for finds in theirs):
        raise InputError(f"{value!r} is among the values that the claim does not state: {list(others)}")
    return lambda answer: mine(answer) and not any(finds(answer) for finds in theirs)


def _finder(value: str) -> Comparer:
    number = _as_number(value.strip())
    if number is not None:
        return lambda text: any(_as_number(found) == number for found in _NUMBER.findall(text))
    pattern = re.compile(rf"(?<!\w){re.escape(_folded(value.strip()))}(?!\w)")
    return lambda text: pattern.search(_folded(text)) is not None


def _as_number(text: str) -> Decimal | None:
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _swaps(game: RegenerationGame, unit: int) -> bool:
    return all(part.swap is not None for part in game._parts if part.unit == unit)  # noqa: SLF001 - one file
