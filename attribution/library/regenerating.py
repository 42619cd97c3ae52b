"""A claim measured at a chat interface that gives text alone: asked anew under every ablation. The lower tier."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, cast

from attribution.decision import Floor, RuleConfig
from attribution.decision.effects import designs_for
from attribution.decision.probe import Probe
from attribution.foils import claim_value
from attribution.library.claims import cuts_of, effects_alone, verdict_of
from attribution.library.inputs import Asked, Message, claim_ranges
from attribution.library.result import Attribution, ClaimAttribution, Source, SourceVerdict
from attribution.scorers.regeneration import Part, RegenerationGame, asserts_value, measure_regenerated
from attribution.trajectory import wording_of_texts
from ledger_core.providers import Message as Turn
from ledger_core.providers.protocols import Completion, LlmProvider

_ROLES: Mapping[str, Literal["system", "user", "assistant"]] = MappingProxyType(
    {"system": "system", "assistant": "assistant", "user": "user", "tool": "user"}
)
"""A chat model has no results of tools that it did not call: they are told it."""


@dataclass(frozen=True, slots=True)
class Regenerate:
    """Ask a chat model anew under every ablation, and count the answers that still make the claim.

    An answer makes a claim if it names the claim's value: ``value``, else the number that the claim holds, else the name it ends
    with. With more than one sample ``llm`` must not be asked at temperature 0.
    """

    llm: LlmProvider
    value: str | None = None
    others: tuple[str, ...] = ()
    """Values whose naming means that an answer does not make the claim."""
    samples: int = 1
    """Answers an ablation."""
    max_tokens: int = 128
    floor: Floor | None = None
    """What null claims show under this model with so many samples; None decides nothing and shows effects."""


def regenerated(scorer: Regenerate, messages: Sequence[Message], response: str | None, spans: Asked) -> Attribution:
    """Attribute the claims of a response to the sources of a chat by asking again.

    Args:
        scorer: whom and how.
        messages: the conversation.
        response: what was answered; None asks for it.
        spans: characters of the response.

    Raises:
        InputError: what cannot be attributed.
        ScoringServerError: an answer that was held back.
        BudgetError: more requests than were granted.
        ProviderError: no answer.
    """
    asked = _Remembered(scorer.llm)
    generated = response is None
    if response is None:
        answer = asked.view().complete(
            [Turn(part.role, part.text) for part in _parts(messages, {})], max_tokens=scorer.max_tokens
        )
        response = answer.text
    ranges = claim_ranges(response, *spans)
    encoded = response.encode()
    texts = {item.entry: item.text for message in messages for item in message.parts if item.entry is not None}
    claims = {f"claim-{number}": encoded[low:high].decode() for number, (low, high) in enumerate(ranges)}
    swaps = wording_of_texts(texts | claims, list(claims)).swaps
    parts = _parts(messages, swaps)
    sources = _sources(messages)
    found = tuple(
        _claim(scorer, asked, parts, sources, (len(encoded[:low].decode()), len(encoded[:high].decode()), text))
        for (low, high), text in zip(ranges, claims.values(), strict=True)
    )
    return Attribution(response, sources, found, scorer.llm.model, generated)


def _parts(messages: Sequence[Message], swaps: dict[str, str]) -> list[Part]:
    return [
        Part(_ROLES[message.role], item.text, item.unit, swaps.get(item.entry or ""))
        for message in messages
        for item in message.parts
    ]


def _sources(messages: Sequence[Message]) -> tuple[Source, ...]:
    units: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for message in messages:
        for item in message.parts:
            if item.unit is not None:
                units[item.unit].append((cast("str", item.entry), item.text))
    return tuple(Source(units[unit][-1][0], "\n".join(text for _, text in units[unit])) for unit in sorted(units))


def _claim(
    scorer: Regenerate,
    asked: _Remembered,
    parts: Sequence[Part],
    sources: tuple[Source, ...],
    place: tuple[int, int, str],
) -> ClaimAttribution:
    start, stop, text = place
    value = scorer.value or claim_value(text)
    shared: dict[str, Any] = {
        "text": text.strip(),
        "start": start,
        "stop": stop,
        "contrasted": False,
        "tier": "regenerated",
    }
    if value is None or not sources:
        reason = (
            "no source stands before the claim"
            if not sources
            else "it states no number and ends with no name: say which value an answer must name"
        )
        unknown = tuple(SourceVerdict(source, "undetermined", None, None, (), None) for source in sources)
        return ClaimAttribution(
            **shared, result="undetermined", reason=reason, verdicts=unknown, cuts=(), total_effect_nats=None, passes=0
        )
    game = RegenerationGame(
        parts, asked.view(), asserts_value(value, scorer.others), samples=scorer.samples, max_tokens=scorer.max_tokens
    )
    if scorer.floor is None:
        swappable = [unit for unit in range(game.units) if all(p.swap is not None for p in parts if p.unit == unit)]
        verdicts, passes = effects_alone(Probe(game, swappable), designs_for(game.units, RuleConfig()), sources)
        return ClaimAttribution(
            **shared,
            result="undetermined",
            reason=f"no floor is known for answers of {scorer.llm.model}; effects alone are shown",
            verdicts=verdicts,
            cuts=(),
            total_effect_nats=None,
            passes=passes,
        )
    decision = measure_regenerated(game, scorer.floor).decision
    return ClaimAttribution(
        **shared,
        result=decision.result,
        reason=None,
        verdicts=tuple(verdict_of(unit, sources[unit.unit]) for unit in decision.units),
        cuts=cuts_of(decision, sources, text.strip()),
        total_effect_nats=decision.total_effect,
        passes=decision.runs,
    )


class _Remembered:
    """Answers by conversation, so that all claims of a response share them."""

    def __init__(self, llm: LlmProvider) -> None:
        self._llm = llm
        self._known: dict[tuple[Turn, ...], list[Completion]] = defaultdict(list)

    def view(self) -> LlmProvider:
        """A provider that gives a conversation's answers in order, and asks only for those that are not known."""
        return _View(self._llm, self._known)


class _View:
    def __init__(self, llm: LlmProvider, known: dict[tuple[Turn, ...], list[Completion]]) -> None:
        self.model = llm.model
        self._llm = llm
        self._known = known
        self._given: Counter[tuple[Turn, ...]] = Counter()

    def complete(self, messages: Sequence[Turn], *, max_tokens: int) -> Completion:
        key = tuple(messages)
        answers, place = self._known[key], self._given[key]
        if place == len(answers):
            answers.append(self._llm.complete(messages, max_tokens=max_tokens))
        self._given[key] += 1
        return answers[place]
