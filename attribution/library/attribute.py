"""`attribute`: lay out, ablate, decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attribution.blocks import BlockCache
from attribution.decision import ClaimDecision, RuleConfig, Undefined, UnitVerdict
from attribution.decision.effects import designs_for, measure_effects
from attribution.decision.floor_table import FloorTable, shipped
from attribution.decision.probe import Probe
from attribution.errors import InputError, LayoutError
from attribution.layout import claim_token_span
from attribution.library.inputs import Message, Parts, claim_ranges, messages_of_chat, messages_of_context
from attribution.library.loading import load
from attribution.library.placing import IN_PLACE, place
from attribution.library.result import Attribution, ClaimAttribution, Cut, Source, SourceVerdict
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

LONGEST_ANSWER = 128
"""Tokens that a response has at most where the model writes it, unless the caller says otherwise."""
_LONGEST_CHARACTER = 4
"""Tokens over which one character is spread at most: its UTF-8 bytes."""
_PPM = 1_000_000
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
    """
    said = _messages(context, query, messages, parts, prompt)
    if response is not None:
        claim_ranges(response, start, stop, spans)  # what cannot be attributed is refused before a model is loaded
    language = load(model, threads, cache)
    placed, prompt_ids = place(said, language, language.chat_template_pieces)
    generated = response is None
    if response is None:
        response_ids, response = _answer(language, prompt_ids, max_new_tokens)
    else:
        response_ids = language.tokenize(response)
    ranges = claim_ranges(response, start, stop, spans)
    trajectory = _trajectory(language, placed, prompt_ids, response, response_ids, ranges)
    if not generated:
        trajectory = replace(trajectory, fidelity="proxy")
    sources = _sources(trajectory, [item for message in said for item in message.parts])
    template = IN_PLACE if any(len(message.parts) > 1 for message in said) else TEMPLATE
    kept = None if scores is None else BlockCache(scores)
    measured = _measured(language, trajectory, template, shipped() if floors is None else floors, kept)
    claims = tuple(
        _claim(measurement, table, sources, response, claim_range)
        for (measurement, table), claim_range in zip(measured, ranges, strict=True)
    )
    identity = f"{language.files.name} {language.files.weights_digest[:12]} {language.dtype}"
    return Attribution(response, sources, claims, identity, generated)


def _measured(
    language: LanguageModel, trajectory: Trajectory, template: str, floors: FloorTable, kept: BlockCache | None
) -> Iterator[tuple[ClaimMeasurement, TrajectoryScores]]:
    """A measurement of each claim, with the table of scores that all of them share."""
    from attribution.scorers.transformers_scorer import TransformersScorer

    scorer = TransformersScorer(language)
    measurer = Measurer(scorer, floors, weights_digest=language.files.weights_digest, template=template, cache=kept)
    table = TrajectoryScores(trajectory, scorer, kept)
    for measurement in measurer.measure(trajectory, {}):
        yield measurement, table


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
    language: LanguageModel,
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
        weights_digest=language.files.weights_digest,
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
    language: LanguageModel, response: str, response_ids: Sequence[int], ranges: Sequence[tuple[int, int]]
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
    verdicts = tuple(_verdict(unit, sources[unit.unit]) for unit in decision.units)
    if not measured.claim.units:
        reason = "no source stands before the claim"
    elif isinstance(measured.floor, Undefined):
        reason = measured.floor.reason
        verdicts, passes = _effects_alone(scores, measured, sources)
    return ClaimAttribution(
        text=text.strip(),
        start=low,
        stop=high,
        result=decision.result,
        reason=reason,
        contrasted=measured.claim.contrasted,
        verdicts=verdicts,
        cuts=_cuts(decision, sources, text.strip()),
        total_effect_nats=decision.total_effect,
        passes=passes,
    )


def _verdict(unit: UnitVerdict, source: Source) -> SourceVerdict:
    interval = unit.interval if unit.interval is not None and all(np.isfinite(unit.interval)) else None
    return SourceVerdict(
        source=source,
        verdict=unit.verdict,
        effect_nats=unit.effect_nats,
        interval=interval,
        labels=tuple(label.name for label in unit.labels),
        weight=None if unit.ppm is None else unit.ppm / _PPM,
    )


def _effects_alone(
    scores: TrajectoryScores, measured: ClaimMeasurement, sources: tuple[Source, ...]
) -> tuple[tuple[SourceVerdict, ...], int]:
    """Effects with intervals for a claim that no floor is known for: what moves it is shown, what carries it is not decided."""
    config = RuleConfig()
    probe = Probe(ClaimGame(scores, measured.claim))
    designs = designs_for(probe.units, config)
    # All sources stand before all claims, so the same masks serve every claim: what is known is not scored again.
    scores.require(np.concatenate([design.states for design in designs]))
    effects = measure_effects(probe, designs, 0.0, config, lowerable=True)
    found = []
    for unit in range(probe.units):
        mean, margin = float(effects.mean[unit]), effects.margin
        interval = None if margin is None else (mean - margin, mean + margin)
        found.append(SourceVerdict(sources[unit], "undetermined", mean, interval, (), None))
    return tuple(found), probe.game.runs


def _cuts(decision: ClaimDecision, sources: tuple[Source, ...], claim: str) -> tuple[Cut, ...]:
    return tuple(Cut(claim, tuple(sources[member] for member in cut.members), cut.ppm / _PPM) for cut in decision.cuts)
