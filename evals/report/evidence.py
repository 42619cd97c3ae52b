"""Rows about claims, beliefs and texts: what the trials' counts rest on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evals.report.fields import Belief, Count, GateName, Number, Row, Text


class PersistedRow(Row):
    """One answer that asserts the retracted value, and the entry that measurement holds responsible."""

    scenario_id: Text
    variant: Text
    premise_order: Text
    arm: Text
    answer: Text
    claim_id: Text
    """Event id of the `trial.recorded` whose answer it is."""
    result: Literal["grounded", "ungrounded", "diffuse", "undetermined", "not measured"]
    entry_id: Text | None
    entry_label: Text | None
    entry_role: Text | None
    """Such as `retracted premise`, `dependent claim`, `correction`, `question`."""
    effect_nats: Number | None
    effect_low: Number | None
    effect_high: Number | None
    labels: tuple[Text, ...]
    note: Text


class CascadeNode(Row):
    """An entry with its belief before and after the retraction."""

    entry_id: Text
    label: Text
    tier: Text
    belief_before: Belief
    belief_after: Belief
    retracted: bool
    invalidated: bool


class CascadeEdge(Row):
    """A dependence along which the retraction may pass."""

    parents: tuple[Text, ...]
    """Several of them are joint support: the child loses only what all of them lose."""
    child: Text
    ppm: Annotated[int, Field(ge=0, le=1_000_000)]
    basis: Literal["declared", "measured"]


class Cascade(Row):
    """One retraction and everything that rests on it."""

    title: Text
    scenario_id: Text
    arm: Text
    nodes: tuple[CascadeNode, ...]
    edges: tuple[CascadeEdge, ...]
    command: Text


class StabilityRow(Row):
    """One claim under one gate; a figure the gate does not use, or could not compute, is ``None``."""

    gate: GateName
    ledger: Text
    """``tenant/project`` of the claim's ledger; a run's project is cut to the beginning that its folder is named by."""
    subject: Text
    """Scenario or transcript and claim, for the reader."""
    claim_id: Text
    claim: Text
    units: Count
    passes: Count
    design: Text
    scorer: Text
    rho: Number | None
    rho_threshold: Number | None
    jaccard: Number | None
    lds: Number | None
    floor_nats: Number | None
    edges: Count
    nulls: Count
    undetermined: Count
    decision: Text
    """Such as `measured`, `declared edges kept`, `ungrounded`."""
    flags: tuple[Text, ...]


class WhatIfRow(Row):
    """One consequence of a retraction by hypothesis; nothing was appended."""

    source: Text
    retracted_id: Text
    retracted_label: Text
    fallen_id: Text
    fallen_label: Text
    belief_before: Belief
    belief_after: Belief
    path: tuple[Text, ...]
    flags: tuple[Text, ...]
    command: Text


class Reading(Row):
    """What one arm showed the model and what the model said."""

    arm: Text
    outcome: Text
    answer: Text
    prompt: Text | None
    forced_choice: Text | None
    correction_in_context: bool | None


class Transcript(Row):
    """One scenario across all arms."""

    scenario_id: Text
    family: Text
    variant: Text
    premise_order: Text
    wording: Text
    question: Text | None
    false_value: Text | None
    true_value: Text | None
    disagreement: Number
    """Share of the arm pairs whose outcomes differ."""
    decides: tuple[Text, ...]
    """Criteria whose arms disagree here."""
    readings: tuple[Reading, ...]
    command: Text
