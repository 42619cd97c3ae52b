"""Calibrates the floors that ship with a scorer, on claims that nothing in their context supports.

A floor belongs to a template, a bin of claim lengths and a bin of context sizes. Half of the null claims stand beside a distractor
that names their subject. Contexts larger than one scenario's are made by joining the contexts of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from attribution.decision import FinalStatistic, Floor, RuleConfig, Undefined, calibrate, final_statistic
from attribution.decision.floor_table import FloorRow, FloorTable
from attribution.measurement import UNCONTRASTED
from attribution.trajectory import (
    TEMPLATE as CHAT_TEMPLATE,
)
from attribution.trajectory import (
    Claim,
    ClaimGame,
    ContextItem,
    Generation,
    Trajectory,
    TrajectoryScores,
    Wording,
    exact_trajectories,
    foreign_trajectory,
    wording_of_texts,
)
from evals.answers import context_items
from evals.prompts import TEMPLATE as NOTES_TEMPLATE
from evals.prompts import Line, assemble, context_segments
from evals.scenarios import Scenario, ScenarioEntry, generate

if TYPE_CHECKING:
    from attribution.blocks import BlockCache
    from attribution.models import LanguageModel
    from attribution.scorers.base import Scorer

SEED = 900_000
"""Calibration never meets a run's scenarios: runs use small seeds."""


@dataclass(frozen=True, slots=True)
class FloorBin:
    """Which null claims a floor is made from."""

    template: str
    plain: tuple[str, ...]
    """Variants of the `null` family without a distractor, in turn."""
    same_entity: tuple[str, ...]
    """Variants with one: a family of its own, because claims are exchangeable only within a family."""
    n: int
    """Null claims, half of each family."""
    tokens: tuple[int, int]
    units: tuple[int, int]
    contexts: int = 1
    """How many scenarios' contexts are joined."""
    contrasted: bool = True


Scored = Callable[[FloorBin], None]
"""Called after each null claim of a bin, for progress."""

_SHORT = (("short",), ("short-distractor",))
_LONG = (("long",), ("long-distractor",))
_ANY = (("short", "long"), ("short-distractor", "long-distractor"))

BINS = (
    FloorBin(NOTES_TEMPLATE, *_SHORT, 200, (1, 24), (1, 6)),
    FloorBin(NOTES_TEMPLATE, *_LONG, 200, (25, 64), (1, 6)),
    FloorBin(CHAT_TEMPLATE, *_ANY, 40, (1, 64), (1, 6)),
    FloorBin(CHAT_TEMPLATE, *_ANY, 40, (1, 64), (7, 16), contexts=3),
)
"""The bins of the default run and of short transcripts; a claim outside them has no floor, which is said.

None is uncontrasted: what stands without a foil is mostly a tool call, and no null claim here is one (decision 007)."""


def calibrate_floors(
    model: LanguageModel,
    scorer: Scorer,
    cache: BlockCache | None,
    bins: Sequence[FloorBin] = BINS,
    *,
    scored: Scored = lambda _: None,
) -> FloorTable:
    """The floors of ``bins`` under ``scorer``; a bin without enough null claims is left out. ``scored`` hears of each claim."""
    rows: list[FloorRow] = []
    for wanted in bins:
        floor = bin_floor(model, scorer, cache, wanted, scored=scored)
        if isinstance(floor, Undefined):
            continue
        rows.append(
            FloorRow.of(
                floor,
                tokens=wanted.tokens,
                units=wanted.units,
                weights=model.files.weights_digest,
                template=wanted.template if wanted.contrasted else f"{wanted.template}{UNCONTRASTED}",
                dtype=scorer.dtype,
            )
        )
    return FloorTable.of(rows)


def bin_floor(
    model: LanguageModel,
    scorer: Scorer,
    cache: BlockCache | None,
    wanted: FloorBin,
    *,
    scored: Scored = lambda _: None,
) -> Floor | Undefined:
    """The floor of one bin."""
    families: list[list[FinalStatistic]] = []
    for variants in (wanted.plain, wanted.same_entity):
        family: list[FinalStatistic] = []
        for statistic in null_statistics(model, scorer, cache, wanted, variants):
            family.append(statistic)
            scored(wanted)
        families.append(family)
    return calibrate(*families)


def null_statistics(
    model: LanguageModel, scorer: Scorer, cache: BlockCache | None, wanted: FloorBin, variants: tuple[str, ...]
) -> Iterator[FinalStatistic]:
    """Statistics of each null claim of one family of a bin, in nats."""
    for trajectory in null_trajectories(model, wanted, variants):
        claim = trajectory.claims[-1]
        game = ClaimGame(TrajectoryScores(trajectory, scorer, cache), claim)
        yield final_statistic(game, config=RuleConfig())


def null_trajectories(model: LanguageModel, wanted: FloorBin, variants: tuple[str, ...]) -> Iterator[Trajectory]:
    """Laid-out null claims of one family, one a scenario; a contrasted bin passes over claims without a foil."""
    found = 0
    for index in count():
        if found == wanted.n // 2:
            return
        variant = variants[index % len(variants)]
        scenario = generate("null", index + 1, SEED, variant=variant)[-1]
        others = [generate("null", index + 1, SEED + extra, variant=variant)[-1] for extra in range(1, wanted.contexts)]
        trajectory = (
            _notes(model, scenario)
            if wanted.template == NOTES_TEMPLATE
            else _chat(model, scenario, others, contrasted=wanted.contrasted)
        )
        if trajectory.claims[-1].contrasted == wanted.contrasted:
            found += 1
            yield trajectory


def _notes(model: LanguageModel, scenario: Scenario) -> Trajectory:
    claim = scenario.claims[-1]
    context = [entry for entry in scenario.entries if entry.key != claim.key]
    prompt = assemble(context_segments([Line(entry.key, entry.text) for entry in context]), model)
    texts = {entry.key: entry.text for entry in context}
    items = context_items(prompt, texts)
    generation = _generation(scenario, claim, items, prompt.ids, model.tokenize(claim.text))
    wording = Wording({claim.key: claim.foils}, {entry.key: entry.swap for entry in context})
    (trajectory,) = exact_trajectories(
        [generation],
        wording,
        tokenize=model.tokenize,
        token_bytes=model.token_bytes,
        context_window=model.context_window,
    )
    return trajectory


def _chat(model: LanguageModel, scenario: Scenario, others: Sequence[Scenario], *, contrasted: bool) -> Trajectory:
    claim = scenario.claims[-1]
    entries: list[ScenarioEntry] = [entry for entry in scenario.entries if entry.key != claim.key]
    texts = [entry.text for entry in entries]
    texts += [entry.text for other in others for entry in other.entries if entry.kind != "claim"]
    question = "What do you know about this?"
    items = (
        ContextItem("question", "entry.given", "user", question, None),
        *(ContextItem(f"entry-{number}", "entry.observed", "tool", text, number) for number, text in enumerate(texts)),
    )
    made = wording_of_texts(
        {item.entry: item.text for item in items if item.entry} | {claim.key: claim.text}, [claim.key]
    )
    wording = made if contrasted else Wording({}, made.swaps)
    return foreign_trajectory(
        [_generation(scenario, claim, items, None, None)],
        wording,
        tokenize=model.tokenize,
        chat=model.chat_template_pieces,
        context_window=model.context_window,
    )


def _generation(
    scenario: Scenario,
    claim: ScenarioEntry,
    context: tuple[ContextItem, ...],
    prompt_ids: tuple[int, ...] | None,
    response_ids: tuple[int, ...] | None,
) -> Generation:
    return Generation(
        event_id=scenario.id,
        record=scenario.id,
        step=0,
        context=context,
        response=claim.text,
        claims=(Claim(claim.key, 0, len(claim.text.encode()), "sentence"),),
        prompt_ids=prompt_ids,
        response_ids=response_ids,
        weights_digest=None,
    )
