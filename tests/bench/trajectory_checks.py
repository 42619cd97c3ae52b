"""Measured edges against what they must survive: another order, filler in every place, and steps that are generated again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from attribution.decision import ClaimDecision, Floor, RuleConfig, decide
from attribution.decision.effects import designs_for
from attribution.decision.floor_table import shipped
from attribution.foils import exchanged_entity
from attribution.layout import Ids
from attribution.models import LanguageModel
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.shares import Share
from attribution.trajectory import (
    TEMPLATE,
    ClaimGame,
    Trajectory,
    TrajectoryClaim,
    TrajectoryScores,
    exact_trajectories,
    wording_of_texts,
)
from attribution.trajectory.placebos import order_placebo, position_placebo
from attribution.trajectory.total_effects import Checked, Predicted, check_total_effects, summarise
from tests.bench.measuring import Figure, Finding
from tests.bench.peer_contextcite import tabled
from tests.bench.peer_contextcite_growth import steps_of
from tests.bench.sections import Bench, Document

_NUMBER = re.compile(r"\d+")


def run(bench: Bench) -> Iterator[Finding]:
    """Three trajectories by default, forty in full; each is kept when done."""
    return tabled(bench, "trajectory-checks", _lines(bench))


def _lines(bench: Bench) -> Iterator[Finding]:
    count = bench.one_of(small=1, default=3, full=40)
    found = [bench.kept.get(f"trajectory-checks/{n:02}", lambda n=n: check_one(bench, n)) for n in range(count)]
    order = [one["order"] for one in found]
    yield Figure("order placebo: edges that are edges in another order", _sum([one["kept"] for one in order]))
    yield Figure("order placebo: same verdict, edge or none", _sum([one["same"] for one in order]))
    filler = _sum([one["position"]["edges"] for one in found])
    yield Figure("position placebo: filler taken for an edge", f"{filler}; {_largest(found)}")
    checked = [
        Checked(pair["unit"], pair["claim"], Predicted(**pair["predicted"]), pair["lost"])
        for one in found
        for pair in one["checked"]
    ]
    line = summarise(checked, sum(one["unstable"] for one in found)).line()
    yield Figure("total effects", line.removeprefix("total effects by the fold: "))


def check_one(bench: Bench, number: int) -> Document:
    """All three checks on one trajectory of an agent that takes notes."""
    steps, answer = bench.one_of(small=(2, 0), default=(4, 20), full=(4, 20))
    language = bench.language
    generations = steps_of(language, 100 + 3 * number, steps, answer)
    texts = {i.entry: i.text for g in generations for i in g.context if i.entry is not None}
    texts |= {claim.entry: g.response for g in generations for claim in g.claims}
    (trajectory,) = exact_trajectories(
        generations,
        wording_of_texts(texts, [claim.entry for g in generations for claim in g.claims]),
        tokenize=language.tokenize,
        token_bytes=language.token_bytes,
        context_window=language.context_window,
    )

    def measure(laid_out: Trajectory) -> Mapping[str, ClaimDecision]:
        return measured(language, laid_out, bench)

    def generate(prompt: Ids) -> Ids:
        return language.generate(prompt, answer or 4, stop_ids=(language.chat_template_pieces.end,))

    def asserts(claim: TrajectoryClaim, ids: Ids) -> bool:
        value = value_of(texts[claim.entry])
        return value is not None and value in language.detokenize(ids).decode("utf-8", "replace")

    chat = language.chat_template_pieces
    units = range(len(trajectory.units))
    checked, unstable = check_total_effects(trajectory, measure(trajectory), units, generate, asserts)
    return {
        "order": asdict(order_placebo([trajectory], measure, seed=number)),
        "position": asdict(
            position_placebo([trajectory], measure, language.tokenize, frame=(chat.opening("tool"), chat.closing))
        ),
        "checked": [asdict(one) for one in checked],
        "unstable": unstable,
    }


def measured(language: LanguageModel, trajectory: Trajectory, bench: Bench) -> dict[str, ClaimDecision]:
    """The decision on every claim that a shipped floor is for; a small run, whose model has none, takes one of half a nat."""
    scores = TrajectoryScores(trajectory, TransformersScorer(language), None)
    found = {}
    for claim in trajectory.claims:
        floor = _floor(language, trajectory, claim) if bench.size != "small" else Floor(0.5, 0.5, 199, "shipped")
        if isinstance(floor, Floor) and claim.contrasted:
            found[claim.entry] = decide(ClaimGame(scores, claim), floor, designs=designs_for(claim.units, RuleConfig()))
    return found


def _floor(language: LanguageModel, trajectory: Trajectory, claim: TrajectoryClaim) -> object:
    target = trajectory.layout.targets[claim.target]
    return shipped().lookup(
        tokens=target.stop - target.start,
        units=claim.units,
        weights=language.files.weights_digest,
        template=TEMPLATE,
        dtype=language.dtype,
    )


def value_of(claim: str) -> str | None:
    """What a claim states: its first number, else the name it ends with; None where it has neither."""
    number = _NUMBER.search(claim)
    if number is not None:
        return number.group()
    named = exchanged_entity(claim)
    return None if named is None else named[0]


def _sum(shares: list[Document | None]) -> str:
    """The counts of all trajectories as one share."""
    from attribution.shares import share

    known = [one for one in shares if one is not None]
    total: Share | None = share(sum(one["events"] for one in known), sum(one["n"] for one in known))
    return "no pair to compare" if total is None else total.words()


def _largest(found: list[Document]) -> str:
    largest = [one["position"]["largest_nats"] for one in found if one["position"]["largest_nats"] is not None]
    return f"its largest effect {max(largest):.2f} nats" if largest else "no effect was defined"
