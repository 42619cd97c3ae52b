"""`attribute`: lay out, ablate, decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attribution.blocks import BlockCache
from attribution.decision import RuleConfig, Undefined
from attribution.decision.effects import designs_for
from attribution.decision.floor_table import FloorTable, shipped
from attribution.decision.probe import Probe
from attribution.errors import InputError, LayoutError
from attribution.layout import claim_token_span
from attribution.library.claims import cuts_of, effects_alone, verdict_of
from attribution.library.inputs import Asked, Message, Parts, claim_ranges, messages_of_chat, messages_of_context
from attribution.library.loading import load
from attribution.library.placing import IN_PLACE, place
from attribution.library.regenerating import Regenerate, regenerated
from attribution.library.result import Attribution, ClaimAttribution, Source
from attribution.library.served import Completions, ServedModel
from attribution.measurement import ClaimMeasurement, Measurer
from attribution.models.files import DEFAULT_MODEL
from attribution.trajectory import (
    TEMPLATE,
    Claim,
    ClaimGame,
    ContextItem,
    Generation,
    Trajectory,
    TrajectoryScores,
    exact_trajectories,
    wording_of_texts,
)

if TYPE_CHECKING:
    from attribution.models import LanguageModel
    from attribution.scorers.base import Scorer

LONGEST_ANSWER = 128
"""Tokens that a response has at most where the model writes it, unless the caller says otherwise."""
_LONGEST_CHARACTER = 4
"""Tokens over which one character is spread at most: its UTF-8 bytes."""
_RECORD = "text"


def attribute(
    context: str | Sequence[str] | None = None,
    query: str = "",
    response: str | None = None,
    *,
    messages: Sequence[Mapping[str, Any]] | None = None,
    parts: Parts = "sentence",
    prompt: str | None = None,
    start: int | None = None,
    stop: int | None = None,
    spans: Sequence[tuple[int, int]] | None = None,
    model: str | Path | LanguageModel | tuple[Any, Any] = DEFAULT_MODEL,
    scorer: Completions | Regenerate | None = None,
    max_new_tokens: int = LONGEST_ANSWER,
    threads: int = 2,
    cache: Path | None = None,
    scores: Path | None = None,
    floors: FloorTable | None = None,
) -> Attribution:
    """Measure which parts of a context each claim of a response rests on.

    The token ids that are scored are the ids of the response; an ablation deletes a source's tokens. Where a floor is known
    for claims and contexts of this size, each source gets a verdict; elsewhere it gets its effect with an interval, and
    :attr:`ClaimAttribution.reason` says what is missing. All claims share their ablations.

    Args:
        context: sources; one text is taken apart by ``parts``. Or give ``messages``.
        query: the question, never ablated.
        response: what was answered, by whatever model; None lets the model answer, greedily.
        messages: a chat in OpenAI's form, with tools, in place of ``context`` and ``query``; a content may be a list of
            text parts, each of them a source.
        parts: ``sentence``, ``line``, ``word``, or a function from a text to its pieces in order.
        prompt: None makes each source a message of its own, for which floors ship. A text with ``{context}`` and ``{query}``
            makes one user message with the sources in place.
        start: first character of the one span of the response to attribute; default: each of its sentences.
        stop: the character after the span.
        spans: several spans, each ``(start, stop)``, in place of ``start`` and ``stop``.
        model: a packaged name, a folder or ``.gguf`` file, a transformers model with its tokenizer, or a loaded model.
        scorer: None scores with the model in this process. :class:`Completions` scores on a server, over the tokens of ``model``;
            :class:`Regenerate` asks a chat model anew, the lower tier, and needs no ``model``.
        max_new_tokens: length of the response at most, where the model writes it.
        threads: torch threads, where the model is loaded here.
        cache: folder of converted models (default: the user's cache folder).
        scores: folder that keeps what was scored, so that a repeated or interrupted call goes on where it was.
        floors: calibrated floors; default: those that ship with the packaged model.

    Raises:
        InputError: an input that cannot be attributed; the message names it.
        ContextWindowError: more tokens than the model sees; the message names both sizes.
        ModelNotFoundError: no such model on this machine.
        UnsupportedModelError: a model whose tokens or branches are not exact.
        ScoringServerError: a server whose answers cannot be taken as scores.
        BudgetError: more requests than were granted to a server; what was scored is kept in ``scores``.
        ProviderError: a server that does not answer.
    """
    said = _messages(context, query, messages, parts, prompt)
    if response is not None:
        claim_ranges(response, start, stop, spans)  # what cannot be attributed is refused before a model is loaded
    if isinstance(scorer, Regenerate):
        if prompt is not None or parts == "word" or scores is not None:
            raise InputError(
                "a chat model is given whole messages and no scores are kept: leave prompt, words and scores out"
            )
        return regenerated(scorer, said, response, (start, stop, spans))
    if scorer is not None and response is None:
        raise InputError("a server scores a response and writes none here; give the response")
    language = load(model, threads, cache) if scorer is None else scorer.reader(model, cache)
    generated = response is None
    laid_out = _laid_out(said, language, response, max_new_tokens, (start, stop, spans))
    kept = None if scores is None else BlockCache(scores)
    claims, identity = _measured(language, scorer, laid_out, shipped() if floors is None else floors, kept)
    return Attribution(laid_out.response, laid_out.sources, claims, identity, generated)


@dataclass(frozen=True, slots=True)
class _LaidOut:
    """A response over its context, in tokens."""

    trajectory: Trajectory
    sources: tuple[Source, ...]
    response: str
    ranges: list[tuple[int, int]]
    template: str


def _laid_out(
    said: list[Message],
    language: LanguageModel | ServedModel,
    response: str | None,
    longest: int,
    asked: Asked,
) -> _LaidOut:
    """Lay out a response that was given, or one that the model writes."""
    placed, prompt_ids = place(said, language, language.chat_template_pieces)
    given = response is not None
    if response is None:
        assert not isinstance(language, ServedModel)
        response_ids, response = _answer(language, prompt_ids, longest)
    else:
        response_ids = language.tokenize(response)
    ranges = claim_ranges(response, *asked)
    trajectory = _trajectory(language, placed, prompt_ids, response, response_ids, ranges)
    if given:
        trajectory = replace(trajectory, fidelity="proxy")
    sources = _sources(trajectory, [item for message in said for item in message.parts])
    template = IN_PLACE if any(len(message.parts) > 1 for message in said) else TEMPLATE
    return _LaidOut(trajectory, sources, response, ranges, template)


def _measured(
    language: LanguageModel | ServedModel,
    scorer: Completions | None,
    laid_out: _LaidOut,
    floors: FloorTable,
    kept: BlockCache | None,
) -> tuple[tuple[ClaimAttribution, ...], str]:
    """Every claim, over ablations that all of them share, and who scored them."""
    with_what, weights = _scorer(language, scorer)
    measurer = Measurer(with_what, floors, weights_digest=weights, template=laid_out.template, cache=kept)
    table = TrajectoryScores(laid_out.trajectory, with_what, kept)
    claims = tuple(
        _claim(measurement, table, laid_out.sources, laid_out.response, claim_range)
        for measurement, claim_range in zip(measurer.measure(laid_out.trajectory, {}), laid_out.ranges, strict=True)
    )
    return claims, f"{_name(language)} {weights[:12]} {with_what.dtype}"


def _scorer(language: LanguageModel | ServedModel, asked: Completions | None) -> tuple[Scorer, str]:
    """The scorer, and the digest of its weights."""
    if isinstance(language, ServedModel):
        assert asked is not None
        return asked.scorer(language), language.weights_digest
    from attribution.scorers.transformers_scorer import TransformersScorer

    return TransformersScorer(language), language.files.weights_digest


def _name(language: LanguageModel | ServedModel) -> str:
    return language.name if isinstance(language, ServedModel) else language.files.name


def _messages(
    context: str | Sequence[str] | None,
    query: str,
    messages: Sequence[Mapping[str, Any]] | None,
    parts: Parts,
    prompt: str | None,
) -> list[Message]:
    if messages is not None:
        if context is not None or query or prompt is not None:
            raise InputError("give messages, or context, query and prompt, not both")
        return messages_of_chat(messages)
    if context is None:
        raise InputError("give a context: a text, a list of sources, or messages")
    return messages_of_context(context, query, parts=parts, prompt=prompt)


def _answer(language: LanguageModel, prompt: tuple[int, ...], longest: int) -> tuple[tuple[int, ...], str]:
    """The model's answer, cut before a character that its last tokens begin and do not end."""
    ids = language.generate(prompt, longest, stop_ids=(language.chat_template_pieces.end,))
    for length in range(len(ids), max(0, len(ids) - _LONGEST_CHARACTER), -1):
        try:
            answer = language.detokenize(ids[:length]).decode()
        except UnicodeDecodeError:
            continue
        if answer.strip():
            return ids[:length], answer
    raise InputError("the model answers with no text; give a response, or another query")


def _trajectory(
    language: LanguageModel | ServedModel,
    placed: tuple[ContextItem, ...],
    prompt: tuple[int, ...],
    response: str,
    response_ids: tuple[int, ...],
    ranges: Sequence[tuple[int, int]],
) -> Trajectory:
    encoded = response.encode()
    _require_tokens(language, response, response_ids, ranges)
    claims = tuple(Claim(f"claim-{number}", low, high, "sentence") for number, (low, high) in enumerate(ranges))
    texts = {item.entry: item.text for item in placed if item.entry is not None}
    texts |= {claim.entry: encoded[claim.byte_start : claim.byte_stop].decode() for claim in claims}
    generation = Generation(
        event_id=_RECORD,
        record=_RECORD,
        step=0,
        context=placed,
        response=response,
        claims=claims,
        prompt_ids=prompt,
        response_ids=response_ids,
        weights_digest=language.weights_digest if isinstance(language, ServedModel) else language.files.weights_digest,
    )
    (trajectory,) = exact_trajectories(
        [generation],
        wording_of_texts(texts, [claim.entry for claim in claims]),
        tokenize=language.tokenize,
        token_bytes=language.token_bytes,
        context_window=language.context_window,
    )
    return trajectory


def _require_tokens(
    language: LanguageModel | ServedModel, response: str, response_ids: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> None:
    """Refuse a span inside which no token of the response ends, in the caller's own terms."""
    encoded, lengths = response.encode(), [len(language.token_bytes(token)) for token in response_ids]
    for low, high in ranges:
        try:
            claim_token_span(lengths, low, high)
        except LayoutError as error:
            start, stop = (len(encoded[:edge].decode()) for edge in (low, high))
            raise InputError(
                f"the span [{start}, {stop}), {response[start:stop]!r}, lies inside one token of the response; "
                "widen it to its word"
            ) from error


def _sources(trajectory: Trajectory, items: Sequence[ContextItem]) -> tuple[Source, ...]:
    texts = {item.entry: item.text for item in items if item.entry is not None}
    return tuple(Source(unit.named, "\n".join(texts[entry] for entry in unit.entries)) for unit in trajectory.units)


def _claim(
    measured: ClaimMeasurement,
    scores: TrajectoryScores,
    sources: tuple[Source, ...],
    response: str,
    span: tuple[int, int],
) -> ClaimAttribution:
    encoded = response.encode()
    low, high = (len(encoded[:place].decode()) for place in span)
    text = response[low:high]
    decision = measured.cuts
    reason, passes = None, decision.runs
    verdicts = tuple(verdict_of(unit, sources[unit.unit]) for unit in decision.units)
    if not measured.claim.units:
        reason = "no source stands before the claim"
    elif isinstance(measured.floor, Undefined):
        reason = measured.floor.reason
        probe = Probe(ClaimGame(scores, measured.claim))
        designs = designs_for(probe.units, RuleConfig())
        # All sources stand before all claims, so the same masks serve every claim: what is known is not scored again.
        scores.require(np.concatenate([design.states for design in designs]))
        verdicts, passes = effects_alone(probe, designs, sources)
    return ClaimAttribution(
        text=text.strip(),
        start=low,
        stop=high,
        result=decision.result,
        reason=reason,
        contrasted=measured.claim.contrasted,
        verdicts=verdicts,
        cuts=cuts_of(decision, sources, text.strip()),
        total_effect_nats=decision.total_effect,
        passes=passes,
    )
