"""Do fewer passes predict as well? LDS and top-k drop on the same responses, context by context, each kept when done."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attribution.designs import bernoulli, foldover_pair
from attribution.estimators import log_odds, main_effects
from attribution.games.base import DELETED, PRESENT, States, Values
from attribution.stability import spearman
from tests.bench.measuring import Figure, Finding, Goal
from tests.bench.peer_contextcite import ABLATIONS, VERSION, Peer, chosen_batch, mean_interval, peer_of, solvers, tabled
from tests.bench.peer_contextcite_contexts import SEED
from tests.bench.sections import Bench, Document

TOP = (1, 3, 5)
MARGIN = 0.02
"""LDS by which ours may be worse and still counts as not inferior."""
HELD_OUT_SEED = 10_000
"""Far from the package's masks, which are drawn from seeds 0 to 63."""
SAME_NATS = 0.05
"""Between the package's log-probability of a whole response and ours, float32 and another order of sums."""
SOLVERS = ("Lasso", "LassoCV", "RidgeCV", "OLS")
OURS = {"fold-over, log p": "log p", "fold-over, logit": "logit"}
"""Ours, and the scale on which the package's solvers are fitted to be compared with it."""
FIRST, SECOND = OURS


def run(bench: Bench) -> Iterator[Finding]:
    """Twenty-four contexts by default, as far as the budget reaches; sixty in full."""
    return tabled(bench, "contextcite-quality", _lines(bench))


def _lines(bench: Bench) -> Iterator[Finding]:
    contexts, minutes = bench.one_of(small=(2, None), default=(24, 18.0), full=(60, None))
    batch = chosen_batch(bench)
    documents: list[Document] = []
    for number in range(contexts):
        spent = sum(document["seconds"] for document in documents) / 60
        if minutes is not None and spent > minutes:
            break
        documents.append(
            bench.kept.get(f"contextcite/quality-{number:02}", lambda number=number: compare_one(bench, number, batch))
        )
    yield from findings(documents, contexts)


def compare_one(bench: Bench, number: int, batch: int) -> Document:
    """Everything about one context; `compared` is false where the package cannot score these response ids."""
    ablations, scored = bench.one_of(small=(16, 12), default=(ABLATIONS, 48), full=(ABLATIONS, 128))
    began = time.perf_counter()
    peer = peer_of(bench, number)
    if not peer.same_ids:
        return {"compared": False, "number": number, "seconds": time.perf_counter() - began}
    units = len(peer.context.sentences)
    citer, peer_seconds = peer.peer_passes(batch, ablations)
    masks = citer._masks
    theirs = {"logit": peer.peer_scores(citer, "logit_prob"), "log p": peer.peer_scores(citer, "log_prob")}
    drawn = masks.astype(np.uint8)
    same = np.array([peer.differing(mask[None]) == 0 for mask in drawn])
    few = np.flatnonzero(same)[:: max(1, ablations // 8)]
    difference = float(np.abs(peer.log_p(drawn[few]) - theirs["log p"][few]).max(initial=0.0))
    designs = foldover_pair(units, 0)
    ours_began = time.perf_counter()
    first = peer.log_p(designs[0].states)
    ours_seconds = time.perf_counter() - ours_began
    second = peer.log_p(designs[1].states)
    held_out = bernoulli(units, scored, HELD_OUT_SEED).states
    truth = peer.log_p(held_out)
    weights = _peer_weights(masks, theirs, len(peer.response_ids))
    both = np.concatenate([first, second])
    weights |= {
        FIRST: main_effects(designs[0].states, first),
        SECOND: main_effects(designs[0].states, log_odds(first)),
        "both fold-overs, log p": main_effects(np.concatenate([one.states for one in designs]), both),
    }
    return {
        "compared": True,
        "number": number,
        "seed": SEED + number,
        "units": units,
        "tokens": len(peer.layout.ids),
        "response_tokens": len(peer.response_ids),
        "peer_passes": ablations,
        "passes": len(designs[0].states),
        "peer_seconds": peer_seconds,
        "ours_seconds": ours_seconds,
        "batch": batch,
        "same_function_nats": difference,
        "other_ids": peer.differing(held_out),
        "held_out": len(held_out),
        "lds": {name: spearman(_predicted(held_out, vector), truth) for name, vector in weights.items()},
        "drop": {name: _drops(peer, vector) for name, vector in weights.items()},
        "seconds": time.perf_counter() - began,
    }


def _peer_weights(masks: Any, scores: dict[str, Values], tokens: int) -> dict[str, Values]:
    return {
        f"{solver}, {scale}": np.asarray(fit(masks, values, tokens)[0], dtype=np.float64)
        for scale, values in scores.items()
        if np.isfinite(values).all()
        for solver, fit in solvers().items()
    }


def _predicted(states: States, weights: Values) -> Values:
    """A linear prediction but for its constant, which no rank sees."""
    return np.asarray(states.astype(np.float64) @ weights, dtype=np.float64)


def _drops(peer: Peer, weights: Values) -> list[float]:
    """Log-probability that the response loses with the strongest sources deleted, one number each of :data:`TOP`."""
    order = np.argsort(-weights, kind="stable")
    states = np.full((1 + len(TOP), len(weights)), PRESENT, dtype=np.uint8)
    for row, k in enumerate(TOP, start=1):
        states[row, order[:k]] = DELETED
    values = peer.log_p(states)
    return [float(values[0] - value) for value in values[1:]]


def findings(documents: Sequence[Document], asked: int) -> Iterator[Finding]:
    """The figures of all contexts that were compared."""
    compared = [document for document in documents if document["compared"]]
    if not compared:
        yield Figure("context-cite, quality", f"no context of {len(documents)} could be compared")
        return
    worst = max(document["same_function_nats"] for document in compared)
    other = sum(document["other_ids"] for document in compared)
    yield Figure(
        f"context-cite {VERSION}, same response ids, template and dtype",
        f"{len(compared)} of {asked} contexts reached (seeds {SEED} on; {len(documents) - len(compared)} left out because "
        f"it tokenises their response otherwise); "
        f"log p of a response differs by at most {worst:.2g} nats where the prompt's ids are the same, which they are not "
        f"under {other} of "
        f"{sum(document['held_out'] for document in compared)} held-out masks; its batch size {compared[0]['batch']}",
        (Goal("largest difference", worst, SAME_NATS, at_most=True, unit="nats"),),
    )
    ratios = [one["peer_seconds"] / one["ours_seconds"] for one in compared]
    yield Figure(
        "wall time of these passes, context-cite / ours",
        f"{statistics.median(ratios):.1f} x ({min(ratios):.1f}–{max(ratios):.1f}), median "
        f"{statistics.median(one['peer_seconds'] for one in compared):.1f} s against "
        f"{statistics.median(one['ours_seconds'] for one in compared):.1f} s a response, n = {len(ratios)}",
        (Goal("speed", statistics.median(ratios), 4, at_most=False, unit="×"),),
    )
    for ours, scale in OURS.items():
        yield from (_lds(compared, ours, f"{solver}, {scale}") for solver in SOLVERS)
    yield from (
        _drop(compared, place, peer) for place in range(len(TOP)) for peer in ("Lasso, logit", "RidgeCV, log p")
    )


def _lds(compared: Sequence[Document], ours: str, peer: str) -> Finding:
    pairs = [(one["lds"][ours], one["lds"].get(peer)) for one in compared]
    defined = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    if not defined:
        return Figure(f"LDS, {ours} against {peer}", f"undefined in all {len(pairs)} contexts")
    lead, low, high = mean_interval([mine - theirs for mine, theirs in defined])
    passes = np.mean([one["passes"] / one["peer_passes"] for one in compared])
    mine, theirs = (float(np.mean([pair[side] for pair in defined])) for side in (0, 1))
    return Figure(
        f"LDS, {ours} against {peer}",
        f"{mine:.3f} against {theirs:.3f} at {passes:.2f} of its passes; lead {lead:+.3f} [{low:+.3f}, {high:+.3f}], "
        f"n = {len(defined)} contexts{_undefined(len(pairs) - len(defined))}{_winner(low, high)}",
        (Goal("lower end of the lead", low, -MARGIN, at_most=False, unit="LDS"),),
    )


def _drop(compared: Sequence[Document], place: int, peer: str) -> Finding:
    pairs = [(one["drop"][FIRST][place], one["drop"][peer][place]) for one in compared if peer in one["drop"]]
    lead, low, high = mean_interval([mine - theirs for mine, theirs in pairs])
    mine, theirs = (float(np.mean([pair[side] for pair in pairs])) for side in (0, 1))
    return Figure(
        f"top-{TOP[place]} drop, {FIRST} against {peer}",
        f"{mine:.2f} against {theirs:.2f} nats; lead {lead:+.2f} [{low:+.2f}, {high:+.2f}], n = {len(pairs)} "
        f"contexts{_winner(low, high)}",
    )


def _undefined(count: int) -> str:
    return f" ({count} without: a constant prediction)" if count else ""


def _winner(low: float, high: float) -> str:
    """Who wins beyond the interval, if anyone."""
    if high < 0:
        return "; the peer wins"
    return "; ours wins" if low > 0 else ""
