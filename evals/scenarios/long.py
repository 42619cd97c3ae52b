"""Families whose trajectories are long: a guess that is cited ten steps later, and contexts that are folded."""

from __future__ import annotations

from evals.scenarios.base import FoldStep, Scenario, ScenarioEntry, Step
from evals.scenarios.cast import Cast, introduce
from evals.scenarios.draw import Draw
from evals.scenarios.sentences import sentences
from evals.scenarios.slot import Slot, verdict
from evals.scenarios.wordings import topics

FOLDS = ("folds-1", "folds-2", "folds-3", "folds-4", "folds-5")
"""Variants of `compaction`: each begins with the entries of the one before."""

STEPS_BETWEEN = 10
"""Entries between a guess and the claim that cites it as a fact."""
_PER_FOLD = 2


def laundered_guess(slot: Slot) -> Scenario:
    """The agent guesses, and ten steps later cites its guess as a fact; one sealed observation says otherwise.

    Nothing is retracted: what stands against the guess is what it was recorded as. In the order `corrections-first` the
    observation was there before the guess.
    """
    draw = slot.draw
    drawn = slot.cast(draw)
    guess = drawn.claim("guess", "guess", sentences(slot.topic).guess, drawn.false, declared=(), used=())
    cited = drawn.claim("claim-1", "dependent", slot.topic.claim, drawn.false, declared=("guess",), used=("guess",))
    between = _remarks(draw, slot, drawn)[:STEPS_BETWEEN]
    return slot.scenario(
        slot.in_order((guess, *between, cited), (drawn.correction("a"),)),
        question=drawn.question(true=drawn.true, false=drawn.false),
        wording=slot.topic.id,
    )


def compaction(slot: Slot) -> Scenario:
    """A planted premise, corrected and retracted; then the context grows by two entries and is folded, one to five times."""
    draw = slot.draw
    drawn = slot.cast(draw)
    premise = drawn.premise("premise", "premise", drawn.false)
    claim = drawn.claim("claim-1", "dependent", slot.topic.claim, drawn.false, declared=("premise",), used=("premise",))
    entries = slot.in_order((premise, claim), (drawn.correction("a"), drawn.correction("b")))
    steps: tuple[Step, ...] = (*introduce(entries), verdict("premise"))
    remarks = _remarks(draw, slot, drawn)
    for fold in range(FOLDS.index(slot.variant) + 1):
        added = remarks[fold * _PER_FOLD : (fold + 1) * _PER_FOLD]
        entries = (*entries, *added)
        steps = (*steps, *introduce(added), FoldStep(step="fold"))
    return slot.of_steps(
        entries,
        steps,
        question=drawn.question(true=drawn.true, false=drawn.false),
        wording=slot.topic.id,
    )


def _remarks(draw: Draw, slot: Slot, drawn: Cast) -> tuple[ScenarioEntry, ...]:
    """One sealed sentence without a value about a place of each kind, the scenario's own place last."""
    kinds = {topic.group.group: topic for topic in topics() if topic.group != slot.topic.group}
    left = list(kinds.values())
    found: list[ScenarioEntry] = []
    while left:
        topic = draw.pick(left)
        left.remove(topic)
        found.append(slot.cast(draw, topic).filler(f"filler-{len(found) + 1}"))
    return (*found, drawn.filler(f"filler-{len(found) + 1}"))
