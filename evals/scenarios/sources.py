"""Families about where a fact comes from: two sources of one fact, and a source that is found changed or tampered with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from evals.scenarios.base import AuditStep, Scenario, ScenarioEntry, Step
from evals.scenarios.cast import Cast
from evals.scenarios.sentences import sentences
from evals.scenarios.slot import CORRECTIONS, Slot, verdict

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
