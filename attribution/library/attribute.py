"""`attribute`: lay out, ablate, decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attribution.decision import ClaimDecision, RuleConfig, Undefined, UnitVerdict
from attribution.decision.effects import designs_for, measure_effects
from attribution.decision.floor_table import FloorTable, shipped
from attribution.decision.probe import Probe
from attribution.errors import InputError
from attribution.library.inputs import claim_ranges, items_of_context, items_of_messages
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
    from attribution.models import ChatPieces, LanguageModel

LONGEST_ANSWER = 128
"""Tokens that a response has at most where the model writes it."""
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
    start: int | None = None,
    stop: int | None = None,
    model: str | LanguageModel = DEFAULT_MODEL,
    threads: int = 2,
    cache: Path | None = None,
    floors: FloorTable | None = None,
) -> Attribution:
    """Measure which parts of a context each claim of a response rests on.

    Every source is a message of its own in the model's chat template. The token ids that are scored are the ids of the response;
    an ablation deletes a source's tokens. Where a floor is known for claims and contexts of this size, each source gets a
    verdict; elsewhere it gets its effect with an interval, and :attr:`ClaimAttribution.reason` says what is missing.

    Args:
        context: sources; one text is split into its sentences. Or give ``messages``.
        query: the question, never ablated.
        response: what was answered, by whatever model; None lets the model answer (greedy, at most 128 tokens).
        messages: a chat in OpenAI's form, with tools, in place of ``context`` and ``query``.
        start: first character of the one span of the response to attribute; default: each of its sentences.
        stop: the character after the span.
        model: a packaged name, a folder or ``.gguf`` file, or a loaded model.
        threads: torch threads, where the model is loaded here.
        cache: folder of converted models (default: the user's cache folder).
        floors: calibrated floors; default: those that ship with the packaged model.

    Raises:
        InputError: an input that cannot be attributed; the message names it.
        ContextWindowError: more tokens than the model sees; the message names both sizes.
        ModelNotFoundError: no such model on this machine.
    """
    from attribution.scorers.transformers_scorer import TransformersScorer

    items = _items(context, query, messages)
    if response is not None:
        claim_ranges(response, start, stop)  # what cannot be attributed is refused before a model is loaded
    language = _loaded(model, threads, cache)
    placed, prompt = _lay_out(items, language.tokenize, language.chat_template_pieces)
    generated = response is None
    if response is None:
        response_ids, response = _answer(language, prompt)
    else:
        response_ids = language.tokenize(response)
    ranges = claim_ranges(response, start, stop)
    trajectory = _trajectory(language, placed, prompt, response, response_ids, ranges)
    if not generated:
        trajectory = replace(trajectory, fidelity="proxy")
    scorer = TransformersScorer(language)
    measurer = Measurer(
        scorer,
        shipped() if floors is None else floors,
        weights_digest=language.files.weights_digest,
        template=TEMPLATE,
        cache=None,
    )
    sources = _sources(trajectory, items)
    scores = TrajectoryScores(trajectory, scorer, None)
    measured = [
        _claim(measurement, scores, sources, response, ranges[number])
        for number, measurement in enumerate(measurer.measure(trajectory, {}))
    ]
    identity = f"{language.files.name} {language.files.weights_digest[:12]} {language.dtype}"
    return Attribution(response, sources, tuple(measured), identity, generated)


def _items(
    context: str | Sequence[str] | None, query: str, messages: Sequence[Mapping[str, Any]] | None
) -> list[ContextItem]:
    if messages is not None:
        if context is not None or query:
            raise InputError("give messages, or context and query, not both")
        return items_of_messages(messages)
    if context is None:
        raise InputError("give a context: a text, a list of sources, or messages")
    return items_of_context(context, query)


def _loaded(model: str | LanguageModel, threads: int, cache: Path | None) -> LanguageModel:
    from attribution.models import load_language_model, resolve_model

    if not isinstance(model, str):
        return model
    if cache is None:
        from platformdirs import user_cache_path

        cache = user_cache_path("veritas") / "models"
    return load_language_model(resolve_model(model, cache), threads=threads)


def _answer(language: LanguageModel, prompt: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """The model's answer, cut before a character that its last tokens begin and do not end."""
    ids = language.generate(prompt, LONGEST_ANSWER, stop_ids=(language.chat_template_pieces.end,))
    for length in range(len(ids), max(0, len(ids) - _LONGEST_CHARACTER), -1):
        try:
            answer = language.detokenize(ids[:length]).decode()
        except UnicodeDecodeError:
            continue
        if answer.strip():
            return ids[:length], answer
    raise InputError("the model answers with no text; give a response, or another query")


def _lay_out(
    items: Sequence[ContextItem], tokenize: Any, chat: ChatPieces
) -> tuple[tuple[ContextItem, ...], tuple[int, ...]]:
    """The context with token bounds, template regions included, and the prompt's ids up to where the assistant speaks."""
    ids: list[int] = []
    placed: list[ContextItem] = []

    def add(item: ContextItem | None, tokens: Sequence[int]) -> None:
        if not tokens:
            return
        template = ContextItem(None, "template", "system", "", None)
        placed.append(replace(item or template, token_start=len(ids), token_stop=len(ids) + len(tokens)))
        ids.extend(tokens)

    for item in items:
        add(None, chat.opening(item.role))
        add(item, tokenize(item.text))
        add(None, chat.closing)
    add(None, chat.opening("assistant"))
    return tuple(placed), tuple(ids)


def _trajectory(
    language: LanguageModel,
    placed: tuple[ContextItem, ...],
    prompt: tuple[int, ...],
    response: str,
    response_ids: tuple[int, ...],
    ranges: Sequence[tuple[int, int]],
) -> Trajectory:
    encoded = response.encode()
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
