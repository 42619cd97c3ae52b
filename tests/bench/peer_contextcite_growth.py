"""Whole trajectories, and how the cost grows with sources, tokens and claims."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attribution.decision import Floor, RuleConfig, decide
from attribution.decision.effects import designs_for
from attribution.designs import foldover
from attribution.games.base import PRESENT
from attribution.layout import Region, Target, TokenLayout, Unit, build_layout
from attribution.models import LanguageModel
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory import (
    Claim,
    ClaimGame,
    ContextItem,
    Generation,
    Trajectory,
    TrajectoryScores,
    exact_trajectories,
    wording_of_texts,
)
from tests.bench.measuring import Figure, Finding, Goal
from tests.bench.peer_contextcite import ABLATIONS, Peer, chosen_batch, tabled
from tests.bench.peer_contextcite_contexts import Context, context
from tests.bench.sections import Bench, Document


def run(bench: Bench) -> Iterator[Finding]:
    """One trajectory by default, five in full, then the growth lines."""
    return tabled(bench, "contextcite-growth", _lines(bench))


def _lines(bench: Bench) -> Iterator[Finding]:
    count = bench.one_of(small=1, default=1, full=5)
    found = [bench.kept.get(f"contextcite/trajectory-{n}", lambda n=n: _trajectory(bench, n)) for n in range(count)]
    yield from _trajectory_findings(found)
    for what in ("sources", "tokens", "claims"):
        document = bench.kept.get(f"contextcite/growth-{what}", lambda what=what: _growth(bench, what))
        rows = ", ".join(
            f"{row['amount']}: {row['seconds']:.1f} s in {row['passes']} passes" for row in document["rows"]
        )
        yield Figure(f"growth with {what}", f"{rows} ({document['rest']})")


def steps_of(language: LanguageModel, number: int, steps: int, answer: int) -> list[Generation]:
    """An agent that reads two notes a step and writes a sentence; every prompt extends the last prompt and its response.

    Args:
        language: who writes.
        number: which notes.
        steps: how many answers.
        answer: tokens of each at most; an agent that writes none repeats its first note.
    """
    chat = language.chat_template_pieces
    notes = [s for n in range(number, number + 3) for s in context(n, least=10, most=12).sentences][: 2 * steps]
    ids: list[int] = []
    items: list[ContextItem] = []

    def add(entry: str | None, kind: str, role: str, tokens: Sequence[int], text: str, unit: int | None) -> None:
        items.append(ContextItem(entry, kind, role, text, unit, len(ids), len(ids) + len(tokens)))
        ids.extend(tokens)

    def frame(tokens: Sequence[int]) -> None:
        add(None, "template", "system", tokens, "", None)

    def message(entry: str, role: str, text: str, unit: int | None) -> None:
        frame(chat.opening(role))
        add(entry, "entry.given" if role == "user" else "entry.observed", role, language.tokenize(text), text, unit)
        frame(chat.closing)

    message("question", "user", "Note in one sentence what is new.", None)
    found: list[Generation] = []
    units = 0
    for step in range(steps):
        for place in (2 * step, 2 * step + 1):
            message(f"note-{place}", "tool", notes[place], units)
            units += 1
        frame(chat.opening("assistant"))
        prompt, context_now = tuple(ids), tuple(items)
        said = language.generate(prompt, answer, stop_ids=(chat.end,)) if answer else ()
        said = said or language.tokenize(notes[2 * step])
        text = language.detokenize(said).decode("utf-8", "replace")
        size = sum(len(language.token_bytes(token)) for token in said)
        found.append(
            Generation(
                event_id=f"step-{step}",
                record=f"agent-{number}",
                step=step,
                context=context_now,
                response=text,
                claims=(Claim(f"claim-{step}", 0, size, "sentence"),),
                prompt_ids=prompt,
                response_ids=said,
                weights_digest=language.files.weights_digest,
            )
        )
        add(f"claim-{step}", "claim", "assistant", said, text, units)
        units += 1
        frame(chat.closing)
    return found


def _trajectory(bench: Bench, number: int) -> Document:
    """Ours once for all steps; the package once a step, over a context that holds what the agent had read and said."""
    steps, answer, measured = bench.one_of(small=(3, 0, 2), default=(10, 16, 8), full=(10, 16, ABLATIONS))
    language = bench.language
    generations = steps_of(language, number, steps, answer)
    texts = {i.entry: i.text for g in generations for i in g.context if i.entry is not None}
    texts |= {claim.entry: g.response for g in generations for claim in g.claims}
    (trajectory,) = exact_trajectories(
        generations,
        wording_of_texts(texts, []),
        tokenize=language.tokenize,
        token_bytes=language.token_bytes,
        context_window=language.context_window,
    )
    scorer = TransformersScorer(language)
    scores = TrajectoryScores(trajectory, scorer, None)
    began = time.perf_counter()
    designs = designs_for(trajectory.claims[-1].units, RuleConfig())
    whole = np.full((len(designs[0].states), len(trajectory.layout.units)), PRESENT, dtype=np.uint8)
    whole[:, : designs[0].units] = designs[0].states
    scores.require(whole)
    surrogate = time.perf_counter() - began
    gate = time.perf_counter()
    runs = [_decided(scores, claim, designs) for claim in trajectory.claims]
    gate_seconds = time.perf_counter() - gate + surrogate
    lengths = [len(g.prompt_ids or ()) + len(g.response_ids or ()) for g in generations]
    peer = [_peer_step(bench, generation, measured) for generation in generations]
    return {
        "steps": steps,
        "lengths": lengths,
        "surrogate_seconds": surrogate,
        "passes": len(whole),
        "gate_seconds": gate_seconds,
        "gate_passes": sum(runs),
        "peer_seconds_an_ablation": peer,
        "peer_ablations_measured": measured,
    }


def _decided(scores: TrajectoryScores, claim: Any, designs: Sequence[Any]) -> int:
    """Runs of the gate for one claim, under the floor that a claim of its length would about have."""
    target = scores.trajectory.layout.targets[claim.target]
    tau = max(0.5, 0.28 * (target.stop - target.start) ** 0.5)
    cut = [design.head(claim.units) for design in designs] if claim.units > RuleConfig().cube_up_to else None
    return decide(ClaimGame(scores, claim), Floor(tau, tau, 199, "shipped"), designs=cut).runs


def _peer_step(bench: Bench, generation: Generation, measured: int) -> float:
    """Seconds an ablation at its best batch size, over the same notes and answers and the same response text."""
    sources = tuple(item.text for item in generation.context if item.unit is not None and item.text)
    question = Context(generation.step, sources, "Note in one sentence what is new.")
    peer = Peer(bench.language, question, tuple(generation.response_ids or ()))
    return peer.peer_passes(min(chosen_batch(bench), measured), measured)[1] / measured


def _trajectory_findings(documents: Sequence[Document]) -> Iterator[Finding]:
    for number, one in enumerate(documents):
        ratio = sum(one["lengths"]) / one["lengths"][-1]
        theirs = sum(one["peer_seconds_an_ablation"]) * ABLATIONS
        whole = (
            "" if one["peer_ablations_measured"] == ABLATIONS else f", {one['peer_ablations_measured']} of them timed"
        )
        speed = theirs / one["surrogate_seconds"]
        yield Figure(
            f"a trajectory of {one['steps']} steps, context-cite / ours ({number})",
            f"{speed:.1f} x for the effects of all claims ({one['passes']} passes, {one['surrogate_seconds']:.0f} s), "
            f"{theirs / one['gate_seconds']:.1f} x at the gate's cost ({one['gate_passes']} runs, "
            f"{one['gate_seconds']:.0f} s); the peer {theirs:.0f} s = {ABLATIONS} ablations a step{whole}; "
            f"ΣL/L = {ratio:.1f}, last step {one['lengths'][-1]} tokens",
            (Goal("speed", speed, 3 * ratio, at_most=False, unit="×"),),
        )


def _growth(bench: Bench, what: str) -> Document:
    """Seconds of one whole fold-over while one size doubles and the others stay."""
    amounts, units, tokens = {
        "sources": (bench.one_of(small=(4, 8), default=(8, 16, 32, 64), full=(8, 16, 32, 64, 128)), None, 512),
        "tokens": (bench.one_of(small=(64, 128), default=(256, 512, 1024), full=(256, 512, 1024, 2048)), 16, None),
        "claims": (bench.one_of(small=(1, 2), default=(1, 2, 4, 8), full=(1, 2, 4, 8, 16)), 16, 512),
    }[what]
    if bench.size == "small":
        units, tokens = units and 4, tokens and 128
    scorer = TransformersScorer(bench.language)
    rows = []
    for amount in amounts:
        layout = _filled(
            bench.language,
            units=amount if units is None else units,
            tokens=amount if tokens is None else tokens,
            claims=amount if what == "claims" else 1,
        )
        states = foldover(len(layout.units), 0).states
        scores = TrajectoryScores(Trajectory("growth", layout, (), (), "exact", ()), scorer, None)
        began = time.perf_counter()
        scores.require(states)
        rows.append({"amount": amount, "seconds": time.perf_counter() - began, "passes": len(states)})
    rest = {"sources": f"{tokens} tokens", "tokens": f"{units} sources", "claims": f"{units} sources, {tokens} tokens"}
    return {"rows": rows, "rest": rest[what]}


def _filled(language: LanguageModel, *, units: int, tokens: int, claims: int) -> TokenLayout:
    """A context of that many tokens in sources of like length, and claims of eight tokens each behind it."""
    words = [t for n in range(64) for s in context(n).sentences for t in language.tokenize(f" {s}")]
    head, width = 4, 8
    size = max(1, (tokens - head) // units)
    ids = [*words[:head], *words[head : head + size * units], *words[: claims * width]]
    edges = [head + size * unit for unit in range(units + 1)]
    regions = [
        Region(0, head, None),
        *(Region(edges[unit], edges[unit + 1], unit) for unit in range(units)),
        Region(edges[-1], len(ids), None),
    ]
    starts = [edges[-1] + width * claim for claim in range(claims)]
    return build_layout(
        ids,
        regions,
        [Unit(f"s{unit}", "source") for unit in range(units)],
        [Target(f"c{claim}", start, start + width, None) for claim, start in enumerate(starts)],
        context_window=language.context_window,
    )
