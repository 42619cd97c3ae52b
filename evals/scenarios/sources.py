"""Families about where a fact comes from: sources of which either or only both suffice, and one found changed or tampered with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from evals.scenarios.base import AuditStep, DeclaredParent, Scenario, ScenarioEntry, Step
from evals.scenarios.cast import Cast
from evals.scenarios.sentences import sentences
from evals.scenarios.slot import CORRECTIONS, Slot, verdict
from ledger_core.kernel.types import PPM

Outcome = Literal["mismatch", "stale", "tampered"]

AUDITED: Mapping[tuple[str, str], Outcome] = MappingProxyType(
    {
        ("poisoned-tool", "changed"): "mismatch",
        ("poisoned-tool", "tampered"): "tampered",
        ("stale-source", "base"): "stale",
    }
)
"""(family, variant) -> what the replay audit of the source shows."""


def redundant_support(slot: Slot) -> Scenario:
    """Two sources of one fact, and a claim that either of them carries.

    Variant `one-retracted`: one source is withdrawn, and the true claim must survive. Variant `both-retracted`: both say
    a falsehood, both are corrected, and the claim must fall.
    """
    drawn = slot.cast(slot.draw)
    one = slot.variant == "one-retracted"
    said = drawn.true if one else drawn.false
    sources = (
        drawn.premise("source-a", "premise", said),
        drawn.sealed("source-b", "support" if one else "premise", "second", sentences(slot.topic).second, said),
    )
    keys = ("source-a", "source-b")
    claim = drawn.claim(
        "claim-1", "unrelated" if one else "dependent", slot.topic.claim, said, declared=keys, used=keys
    )
    against = _withdrawn(drawn) if one else (drawn.correction("a"), drawn.correction("b"))
    targets = keys[:1] if one else keys
    return slot.scenario(
        slot.in_order((*(sources if slot.place // 2 % 2 else sources[::-1]), claim), against),
        then=tuple(verdict(target) for target in targets),
        question=drawn.question(true=drawn.true, false=None if one else drawn.false),
        wording=slot.topic.id,
    )


def conjunctive_causes(slot: Slot) -> Scenario:
    """Two facts about one place from two sources, and a claim that states both: it follows from neither source alone.

    One of the two is false and is corrected, the first named by the claim (`first-retracted`) or the second; the claim falls
    with either. It is asked about the fact that was corrected. Foils exchange both values.
    """
    draw = slot.draw
    first = slot.cast(draw)
    second = slot.cast(draw, slot.topic.sibling, entity=first.entity)
    about = first if slot.variant == "first-retracted" else second
    values = tuple(drawn.false if drawn is about else drawn.true for drawn in (first, second))
    sources = tuple(
        drawn.premise(key, "premise" if drawn is about else "support", value)
        for key, drawn, value in zip(_JOINT, (first, second), values, strict=True)
    )
    return slot.scenario(
        slot.in_order(
            (*(sources if slot.place // 2 % 2 else sources[::-1]), _joint(first, second, values)),
            (about.correction("a"), about.correction("b")),
        ),
        then=(verdict(_JOINT[about is second]),),
        question=about.question(true=about.true, false=about.false),
        wording=f"{slot.topic.id}.{slot.topic.sibling.id}",
    )


_JOINT = ("first", "second")


def _joint(first: Cast, second: Cast, values: tuple[str, ...]) -> ScenarioEntry:
    """One sentence that states a fact of each; what else it could have said differs in both."""
    stem = first.topic.sibling.answer
    beginning = first.topic.claim.removesuffix(".")

    def said(one: str, other: str) -> str:
        named = stem if stem.startswith("{entity}") else f"{stem[0].lower()}{stem[1:]}"
        return f"{first.fill(beginning, one)}, and {second.fill(named)} {other}."

    others = [
        [value for value in (drawn.false, drawn.true, *drawn.third) if value != stated]
        for drawn, stated in zip((first, second), values, strict=True)
    ]
    return ScenarioEntry(
        declared=tuple(DeclaredParent(key=key, ppm=PPM) for key in _JOINT),
        foils=tuple(said(one, other) for one, other in zip(*others, strict=True)),
        host=None,
        key="claim-1",
        kind="claim",
        role="joint",
        swap=said(first.swap, second.swap),
        text=said(*values),
        tool=None,
        used=_JOINT,
        value=values[0],
    )


def audited_source(slot: Slot) -> Scenario:
    """A tool's result, a claim built on it, another tool that says otherwise, and a replay audit of the first.

    `poisoned-tool`: asked again the origin gives other bytes (`changed`), or the stored bytes are not those that were
    sealed (`tampered`). `stale-source`: the origin itself says that it changed since.
    """
    drawn = slot.cast(slot.draw)
    source = drawn.sealed("source", "premise", "correction_a", slot.topic.correction_a, drawn.false)
    claim = drawn.claim("claim-1", "dependent", slot.topic.claim, drawn.false, declared=("source",), used=("source",))
    built = (source, drawn.filler(), claim) if slot.place // 2 % 2 else (source, claim)
    audit: Step = AuditStep(outcome=AUDITED[slot.family, slot.variant], step="audit", target="source")
    return slot.scenario(
        slot.in_order(built, (drawn.correction("b"),)),
        then=(audit,),
        question=drawn.question(true=drawn.true, false=drawn.false),
        wording=slot.topic.id,
    )


def _withdrawn(drawn: Cast) -> tuple[ScenarioEntry, ...]:
    """Two origins say that the first source is not to be relied on; neither states a value."""
    said = sentences(drawn.topic)
    return tuple(
        drawn.remark(key, "correction", key.replace("-", "_"), text, said.aside)
        for key, text in zip(CORRECTIONS, (said.withdrawal_a, said.withdrawal_b), strict=True)
    )
