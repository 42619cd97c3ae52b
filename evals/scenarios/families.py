"""The families: what each plants, entry by entry.

A builder is a pure function of a :class:`Slot`; :mod:`evals.scenarios.generate` spreads slots over wordings, premise
orders and variants. At most five ablatable entries a trajectory, apart from the two long families.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evals.scenarios.attacks import SYBIL, SYNDICATED, posing_witnesses, reversal, true_premise_attacked
from evals.scenarios.base import CompactStep, Scenario, ScenarioEntry, Step
from evals.scenarios.cast import Cast, cast
from evals.scenarios.long import FOLDS, compaction, laundered_guess
from evals.scenarios.slot import BOTH_ORDERS, CORRECTIONS, Family, Slot, verdict
from evals.scenarios.sources import audited_source, conjunctive_causes, redundant_support
from evals.scenarios.wordings import Topic, topics


def planted_premise(slot: Slot) -> Scenario:
    """A sealed false premise, one or two claims built on it, two independent corrections.

    Variant `corrections-leave`: after the verdict a compaction takes the corrections out of the context.
    """
    drawn = cast(slot.draw, slot.topic)
    premise = drawn.premise("premise", "premise", drawn.false)
    first = drawn.claim("claim-1", "dependent", slot.topic.claim, drawn.false, declared=("premise",), used=("premise",))
    built: tuple[ScenarioEntry, ...]
    lead: tuple[ScenarioEntry, ...] = ()
    if slot.place // 2 % 2:
        parents = ("premise", "claim-1")
        second = drawn.claim("claim-2", "dependent", slot.topic.dependent, drawn.false, declared=parents, used=parents)
        built = (premise, first, second)
    elif slot.place // 4 % 2:
        lead, built = (drawn.task(),), (premise, first)
    else:
        built = (premise, drawn.filler(), first)
    corrections = (drawn.correction("a"), drawn.correction("b"))
    ordered = (*built, *corrections) if slot.order == "premise-first" else (*corrections, *built)
    leave: tuple[Step, ...] = (
        (CompactStep(drops=CORRECTIONS, step="compact"),) if slot.variant == "corrections-leave" else ()
    )
    return slot.scenario(
        (*lead, *ordered),
        then=(verdict("premise"), *leave),
        question=drawn.question(true=drawn.true, false=drawn.false),
        wording=slot.topic.id,
    )


def mixed_parents(slot: Slot) -> Scenario:
    """A claim declares two parents about one place and uses one; the corrections retract one of the two.

    Variant `used-retracted`: the claim must fall. Variant `unused-retracted`: the claim is true and must survive.
    """
    draw = slot.draw
    about = cast(draw, slot.topic)
    beside = cast(draw, slot.topic.sibling, entity=about.entity)
    if slot.variant == "used-retracted":
        said, false = about.false, about.false
        used = about.premise("used", "premise", said)
        unused = beside.premise("unused", "filler", beside.true)
        wrong, target = about, "used"
    else:
        said, false = about.true, None
        used = about.premise("used", "support", said)
        unused = beside.premise("unused", "premise", beside.false)
        wrong, target = beside, "unused"
    claim = about.claim(
        "claim-1",
        "dependent" if target == "used" else "unrelated",
        slot.topic.claim,
        said,
        declared=("used", "unused"),
        used=("used",),
    )
    parents = (used, unused) if slot.place // 2 % 2 else (unused, used)
    corrections = (wrong.correction("a"), wrong.correction("b"))
    built = (*parents, claim)
    return slot.scenario(
        (*built, *corrections) if slot.order == "premise-first" else (*corrections, *built),
        then=(verdict(target),),
        question=about.question(true=about.true, false=false),
        wording=f"{slot.topic.id}.{slot.topic.sibling.id}",
    )


def null(slot: Slot) -> Scenario:
    """A claim that no entry supports, short or long; two of four variants name its place in a distractor.

    Nothing is asked. Variant `asked`: the same four shapes in turn, with a question about what the claim states, so that an
    arm can read them.
    """
    draw = slot.draw
    about = cast(draw, slot.topic)
    template = slot.topic.claim
    asked = slot.variant == ASKED
    shape = NULL_SHAPES[(slot.index + slot.index // len(topics())) % len(NULL_SHAPES)] if asked else slot.variant
    if shape.startswith("long"):
        template = f"{template.removesuffix('.')}, {slot.topic.group.long_tail}."
    context: list[ScenarioEntry] = []
    if shape.endswith("distractor"):
        beside = cast(draw, slot.topic.sibling, entity=about.entity)
        context.append(beside.premise("distractor", "distractor", beside.true))
    others = [topic for topic in topics() if topic.group != slot.topic.group and not _alike(topic, slot.topic)]
    taken = [about.entity]
    while len(context) < _NULL_CONTEXT:
        topic = draw.pick(others)
        others = [other for other in others if other.group != topic.group]
        foreign = cast(draw, topic, avoid=tuple(taken))
        taken.append(foreign.entity)
        context.append(foreign.premise(f"foreign-{len(taken) - 1}", "filler", foreign.true))
    place = draw.below(len(context))
    claim = about.claim("claim-1", "unsupported", template, about.false, declared=(), used=())
    question = about.question(true=about.true, false=about.false) if asked else None
    return slot.scenario((*context[place:], *context[:place], claim), question=question, wording=slot.topic.id)


NULL_SHAPES = ("short", "long-distractor", "long", "short-distractor")
ASKED = "asked"
_NULL_CONTEXT = 4
_IN_DIGITS = frozenset({"number", "date"})


def _alike(left: Topic, right: Topic) -> bool:
    """Whether a value of one could be read as a value of the other."""
    return left.pool == right.pool or {left.pool, right.pool} <= _IN_DIGITS


def competence(slot: Slot) -> Scenario:
    """The corrections alone, with a filler before or after them: can the model read its context at all?"""
    drawn = cast(slot.draw, slot.topic)
    corrections = (drawn.correction("a"), drawn.correction("b"))
    entries = (*corrections, drawn.filler()) if slot.index % 2 else (drawn.filler(), *reversed(corrections))
    return slot.scenario(tuple(entries), question=drawn.question(true=drawn.true, false=None), wording=slot.topic.id)


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "planted-premise": Family(planted_premise, BOTH_ORDERS, ("base",), on_request=("corrections-leave",)),
        "mixed-parents": Family(mixed_parents, BOTH_ORDERS, ("used-retracted", "unused-retracted"), wordings=80),
        "null": Family(null, ("none",), NULL_SHAPES, on_request=(ASKED,)),
        "competence": Family(competence, ("none",), ("base",)),
        "redundant-support": Family(redundant_support, BOTH_ORDERS, ("one-retracted", "both-retracted")),
        "conjunctive-causes": Family(conjunctive_causes, BOTH_ORDERS, ("first-retracted", "second-retracted")),
        "laundered-guess": Family(laundered_guess, BOTH_ORDERS, ("base",)),
        "syndicated": Family(posing_witnesses, BOTH_ORDERS, SYNDICATED, wordings=80),
        "sybil": Family(posing_witnesses, BOTH_ORDERS, SYBIL, wordings=80),
        "true-premise-attacked": Family(true_premise_attacked, BOTH_ORDERS, ("used", "unused")),
        "poisoned-tool": Family(audited_source, BOTH_ORDERS, ("changed", "tampered")),
        "stale-source": Family(audited_source, BOTH_ORDERS, ("base",)),
        "compaction": Family(compaction, BOTH_ORDERS, FOLDS),
        "reversal": Family(reversal, BOTH_ORDERS, ("base",)),
    }
)
"""Family name -> how to make it."""

__all__ = ["FAMILIES", "Cast", "Family", "Slot"]
