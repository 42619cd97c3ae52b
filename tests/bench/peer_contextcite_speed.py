"""What an attribution costs: wall time taken apart into its factors, peak memory, leave-one-out, and the share of the GEMM peak."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from attribution.decision import Floor, decide
from attribution.designs import foldover, leave_one_out
from attribution.games.base import States, Values
from tests.attribution.scorers.sequences import naive_table
from tests.bench.measuring import Figure, Finding, Goal
from tests.bench.peer_contextcite import ABLATIONS, Peer, chosen_batch, peer_of, tabled
from tests.bench.sections import Bench, Document

_GEMM = 2_048
"""Rows and columns of the square product that stands for the peak."""


def run(bench: Bench) -> Iterator[Finding]:
    """Three contexts by default, ten in full."""
    return tabled(bench, "contextcite-speed", _lines(bench))


def _lines(bench: Bench) -> Iterator[Finding]:
    contexts = bench.one_of(small=1, default=3, full=10)
    factors = [bench.kept.get(f"contextcite/factors-{n}", lambda n=n: _factors(bench, n)) for n in range(contexts)]
    yield from _factor_findings(factors)
    loo = [bench.kept.get(f"contextcite/loo-{n}", lambda n=n: _leave_one_out(bench, n)) for n in range(contexts)]
    yield _loo_finding(loo)
    yield from _memory_findings(bench.kept.get("contextcite/memory", lambda: _memory(bench)))
    for dtype, share in (("float32", 0.8), ("bfloat16", 0.7)):
        yield _peak_finding(bench.kept.get(f"contextcite/peak-{dtype}", lambda dtype=dtype: _peak(bench, dtype)), share)


def seconds_of(work: Callable[[], object], rounds: int) -> float:
    """Median wall seconds of ``rounds`` rounds, after none to warm up: call the work once before."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _factors(bench: Bench, number: int) -> Document:
    """Seconds an ablation of each way, all over the same masks in the same process, and the passes that each needs."""
    peer = peer_of(bench, number)
    if not peer.same_ids:
        return {"compared": False}
    units = len(peer.context.sentences)
    masks, rounds = bench.one_of(small=(4, 1), default=(16, 2), full=(32, 3))
    design = foldover(units, 0).states
    states = np.ascontiguousarray(design[: min(masks, len(design))])
    best, seconds = peer.best_batch(bench.one_of(small=1, default=4, full=8))
    peer.log_p(states[:1])
    ours = seconds_of(lambda: peer.log_p(design), rounds) / len(design)
    plain = seconds_of(lambda: plain_passes(peer, states, keep=False), rounds) / len(states)
    kept = seconds_of(lambda: plain_passes(peer, states, keep=True), rounds) / len(states)
    batched = seconds_of(lambda: batched_passes(peer, states, best), rounds) / len(states)
    gate = _gate(peer)
    return {
        "compared": True,
        "units": units,
        "tokens": len(peer.layout.ids),
        "batch": best,
        "peer_seconds": {str(batch): took for batch, took in seconds.items()},
        "plain": plain,
        "logits_to_keep": kept,
        "batched": batched,
        "tree": ours,
        "passes": len(design),
        "gate_passes": gate["passes"],
        "gate_seconds": gate["seconds"],
    }


def plain_passes(peer: Peer, states: States, *, keep: bool) -> Values:
    """One pass a mask, with the logits of all tokens or of the response alone; ``float64[mask]``, nats."""
    import torch

    response = list(peer.response_ids)
    scores = []
    with torch.inference_mode():
        for mask in states:
            ids = torch.tensor([[*peer.ids_under(mask), *response]])
            wanted = {"logits_to_keep": len(response) + 1} if keep else {}
            logits = peer.language.model(ids, use_cache=False, **wanted).logits[0, -len(response) - 1 : -1]
            scores.append(_sum(logits, response))
    return np.array(scores)


def batched_passes(peer: Peer, states: States, batch: int) -> Values:
    """As :func:`plain_passes` for the response alone, several masks a pass, the short ones padded on the left."""
    import torch

    response = list(peer.response_ids)
    rows = [[*peer.ids_under(mask), *response] for mask in states]
    scores = []
    with torch.inference_mode():
        for start in range(0, len(rows), batch):
            part = rows[start : start + batch]
            longest = max(map(len, part))
            ids = torch.tensor([[0] * (longest - len(row)) + row for row in part])
            seen = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in part])
            places = (seen.cumsum(1) - 1).clamp(min=0)
            logits = peer.language.model(
                ids, attention_mask=seen, position_ids=places, use_cache=False, logits_to_keep=len(response) + 1
            ).logits[:, -len(response) - 1 : -1]
            scores += [_sum(row, response) for row in logits]
    return np.array(scores)


def _sum(logits: Any, response: Sequence[int]) -> float:
    wide = logits.double()
    return float(wide.log_softmax(1)[range(len(response)), list(response)].sum())


class _Game:
    """The response over its sentences, as the gate sees it; what has no matched text is deleted where the rule would swap."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.units = len(peer.context.sentences)

    def values(self, states: States) -> Values:
        """Log-probabilities, nats."""
        return self._peer.log_p((states == 1).astype(np.uint8))


def _gate(peer: Peer) -> Document:
    """Passes and seconds of a whole decision: two designs, the lattice of candidates, swaps, total effect."""
    tau = max(0.5, 0.28 * len(peer.response_ids) ** 0.5)
    began = time.perf_counter()
    decision = decide(_Game(peer), Floor(tau, tau, 199, "shipped"))
    return {"passes": decision.runs, "seconds": time.perf_counter() - began}


def _factor_findings(documents: Sequence[Document]) -> Iterator[Finding]:
    compared = [one for one in documents if one["compared"]]
    if not compared:
        yield Figure("wall time", "no context could be compared")
        return
    for one in compared:
        one["peer"] = min(one["peer_seconds"].values())
        one["peer_total"] = one["peer"] * ABLATIONS
    total = statistics.median(one["peer_total"] / (one["tree"] * one["passes"]) for one in compared)
    gate = statistics.median(one["peer_total"] / one["gate_seconds"] for one in compared)
    steps = {
        "passes": [ABLATIONS / one["passes"] for one in compared],
        "no full logits, no loss": [one["peer_seconds"]["1"] / one["logits_to_keep"] for one in compared],
        "batching": [one["logits_to_keep"] / one["batched"] for one in compared],
        "shared prefixes": [one["batched"] / one["tree"] for one in compared],
        "the peer's own batching, taken off": [one["peer"] / one["peer_seconds"]["1"] for one in compared],
    }
    yield Figure(
        "wall time of one attribution, context-cite / ours",
        f"{total:.1f} x at the passes of the LDS lines, {gate:.1f} x at the whole gate's cost "
        f"({statistics.median(one['gate_passes'] for one in compared):.0f} passes); "
        f"{statistics.median(one['peer'] for one in compared):.3f} against "
        f"{statistics.median(one['tree'] for one in compared):.3f} s an ablation, n = {len(compared)} contexts of "
        f"{min(one['tokens'] for one in compared)}–{max(one['tokens'] for one in compared)} tokens",
        (Goal("speed", total, 4, at_most=False, unit="×"),),
    )
    factors = " × ".join(f"{statistics.median(values):.2f} {name}" for name, values in steps.items())
    yield Figure("wall time, factored", f"{factors} (medians; their product is the ratio up to medians)")


def _leave_one_out(bench: Bench, number: int) -> Document:
    peer = peer_of(bench, number)
    states = leave_one_out(len(peer.context.sentences)).states
    rounds = bench.one_of(small=1, default=2, full=3)
    exact, naive = peer.log_p(states), naive_table(peer.language, peer.layout, states).sum(axis=1)
    ours, plain = [], []
    for _ in range(rounds):
        ours.append(seconds_of(lambda: peer.log_p(states), 1))
        plain.append(seconds_of(lambda: naive_table(peer.language, peer.layout, states), 1))
    effects = (exact[0] - exact[1:]) - (naive[0] - naive[1:])
    return {
        "units": len(states) - 1,
        "tokens": len(peer.layout.ids),
        "ours": statistics.median(ours),
        "naive": statistics.median(plain),
        "difference_nats": float(np.abs(effects).max()),
    }


def _loo_finding(documents: Sequence[Document]) -> Finding:
    ratios = [one["naive"] / one["ours"] for one in documents]
    worst = max(one["difference_nats"] for one in documents)
    return Figure(
        "exact leave-one-out against the naive loop",
        f"{statistics.median(ratios):.2f} x ({min(ratios):.2f}–{max(ratios):.2f}), effects differ by at most {worst:.2g} "
        f"nats, n = {len(documents)} contexts of {min(one['units'] for one in documents)} sources or more",
        (
            Goal("speed", statistics.median(ratios), 2, at_most=False, unit="×"),
            Goal("largest difference", worst, 1e-3, at_most=True, unit="nats"),
        ),
    )


def _memory(bench: Bench) -> Document:
    """Resident memory in MiB of a process that does nothing else, before and at most during one attribution."""
    batch = chosen_batch(bench)
    found: Document = {"batch": batch}
    both = (("ours", batch), ("peer", batch))
    for who, size in bench.one_of(small=both, default=(*both, ("peer", 1)), full=(*both, ("peer", 1))):
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.peer_contextcite_memory", who, *_arguments(bench), str(size)],
            check=True,
            capture_output=True,
            text=True,
        )
        name = who if size == batch else f"{who}-1"
        found[name] = dict(zip(("before", "peak"), map(float, done.stdout.split()[-2:]), strict=True))
    return found


def _arguments(bench: Bench) -> list[str]:
    """Model folder, size and threads for a process of its own."""
    return [str(bench.language.files.path), bench.size, str(bench.threads)]


def _memory_findings(found: Document) -> Iterator[Finding]:
    over = {who: found[who]["peak"] - found[who]["before"] for who in found if who != "batch"}
    alone = f" and {over['peer-1']:.0f} (one by one)" if "peer-1" in over else ""
    yield Figure(
        "peak memory of one attribution, above the loaded model",
        f"{over['ours']:.0f} MiB against context-cite's {over['peer']:.0f} (batches of {found['batch']}){alone}; "
        f"loaded {found['ours']['before']:.0f} MiB",
    )


def _peak(bench: Bench, dtype: str) -> Document:
    """Floating-point operations a second of our passes and of a square product, in turn, in one process."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from attribution.models import load_language_model

    language = bench.language
    if dtype != "float32":
        language = load_language_model(bench.language.files, threads=bench.threads, dtype="bfloat16")
    peer = peer_of(bench, 0, language)
    states = foldover(len(peer.context.sentences), 0).states
    size, rounds = bench.one_of(small=(128, 1), default=(_GEMM, 5), full=(_GEMM, 9))
    left, right = (torch.randn(size, size).to(getattr(torch, dtype)) for _ in range(2))
    peer.log_p(states[:2])
    with FlopCounterMode(display=False) as counted:
        peer.log_p(states)
    product: list[float] = []
    passes: list[float] = []
    for _ in range(rounds):
        product.append(2 * size**3 / seconds_of(lambda: left @ right, 3))
        passes.append(counted.get_total_flops() / seconds_of(lambda: peer.log_p(states), 1))
    return {"dtype": dtype, "product": max(product), "passes": max(passes), "size": size}


def _peak_finding(found: Document, target: float) -> Finding:
    share = found["passes"] / found["product"]
    return Figure(
        f"share of the GEMM peak, {found['dtype']}",
        f"{share:.0%}: {found['passes'] / 1e9:.0f} of {found['product'] / 1e9:.0f} GFLOP/s of a product of order "
        f"{found['size']}, tree and softmax included",
        (Goal("share", share, target, at_most=False, unit=""),),
    )
