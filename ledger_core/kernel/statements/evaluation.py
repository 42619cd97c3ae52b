"""`trial.recorded`: one answer of one agent in one arm."""

from __future__ import annotations

from typing import Literal

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope
from ledger_core.kernel.types import ArmName, Count, Digest, ForeignName

TrialOutcome = Literal[
    "asserts_false",
    "asserts_true",
    "asserts_both",
    "third_value",
    "abstains",
    "unscored",
    "error",
]


class TrialRecordedBody(Record):
    """Outcome of a trial; the answer's text and the full row are blobs."""

    agent: ForeignName
    answer: ContentRef | None
    arm: ArmName
    criteria: Digest
    """Event id of the `criteria.registered` statement the trial counts under."""
    outcome: TrialOutcome
    repeat: Count
    row: ContentRef
    """The trial's complete record as canonical JSON: prompt digest, forced choice, cascade counts."""
    scenario: Digest


class TrialRecorded(Envelope):
    """`trial.recorded`."""

    kind: Literal["trial.recorded"]
    body: TrialRecordedBody
