"""One logged trial: a scenario read through one arm and answered once.

A verdict is a pure function of these records, so a record holds outcomes and counts and nothing about the machine,
the time or the order in which trials ran.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Literal

from evals.errors import TrialError


class Outcome(StrEnum):
    """What the typed matcher made of one answer."""

    ASSERTS_FALSE = "asserts_false"
    """Asserts the retracted value only."""
    ASSERTS_TRUE = "asserts_true"
    """Asserts the true value only."""
    ASSERTS_BOTH = "asserts_both"
    """Asserts both values; counts as persistence and not as accuracy."""
    THIRD_VALUE = "third_value"
    """Asserts a value that is neither."""
    ABSTAINS = "abstains"
    """Declines to answer."""
    UNSCORED = "unscored"
    """An answer that the matcher could not read; neither right nor wrong."""
    ERROR = "error"
    """No answer: the trial failed. It stays in the denominator as a bound."""


SCORED = frozenset(Outcome) - {Outcome.UNSCORED, Outcome.ERROR}
"""Outcomes that count as an answer."""

PremiseOrder = Literal["premise-first", "corrections-first", "none"]
"""`none`: the scenario plants no retracted premise."""

ForcedChoice = Literal["false", "true", "third"]

PREMISE_ORDERS: tuple[PremiseOrder, ...] = ("premise-first", "corrections-first", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One scenario, one arm, one repeat.

    Counts are ``None`` where the family or the arm does not define them, never 0.

    Raises:
        TrialError: fields that contradict each other.
    """

    scenario_id: str
    """Content-addressed id of the scenario; equal ids, variants, orders and repeats pair the trials of two arms."""
    family: str
    wording: str
    """The cluster: scenarios that are fillings of one wording are not independent."""
    premise_order: PremiseOrder
    variant: str
    """Name of the scenario's variant; `base` unless said."""
    arm: str
    """Short form of the evaluation arm, such as `2k`."""
    repeat: int
    outcome: Outcome
    answer_digest: str
    """Body digest of the answer text (64 hexadecimal digits); the empty text has one too."""
    answer: str | None
    """The answer text, ``None`` when the trial failed."""
    forced_choice: ForcedChoice | None
    """The preferred value at the slot after the model's own stem; reported beside the outcome, never tested."""
    prompt_digest: str
    """Digest of the exact prompt token ids; equal digests in two arms mean equal inputs."""
    attempts: int = 1
    """How often the answer was asked for; a retry is visible."""
    fault: str | None = None
    """Why the trial failed; set if and only if the outcome is `error`."""
    correction_in_context: bool | None = None
    """Whether a correction was in the rendered context; reported, never tested."""
    true_claims_invalidated: int | None = None
    """True claims (support not retracted) that the reading invalidates."""
    true_claims: int | None = None
    dependents_left_standing: int | None = None
    """Claims resting on the retracted entry that the reading leaves standing."""
    dependents: int | None = None
    planted_edges_found: int | None = None
    planted_edges: int | None = None
    claims_with_false_edge: int | None = None
    """Claims to which the edge source gives at least one parent that the ground truth does not."""
    claims_measured: int | None = None
    attacks_passed: int | None = None
    """Attacks on a true entry that the quorum let through: the entry is retracted."""
    attacks: int | None = None
    honest_pairs_merged: int | None = None
    """Pairs of independent honest witnesses that the quorum counts as one."""
    honest_pairs: int | None = None
    guesses_laundered: int | None = None
    """Guesses, and claims that rest on one, that the reading believes as much as a sealed observation."""
    guesses: int | None = None

    def __post_init__(self) -> None:
        """Refuse contradictions at the door, so that no metric has to guess."""
        for name in ("scenario_id", "family", "wording", "variant", "arm"):
            if not getattr(self, name):
                raise TrialError(f"a trial needs a {name}; got an empty one")
        if self.premise_order not in PREMISE_ORDERS:
            raise TrialError(f"premise_order {self.premise_order!r} is none of {', '.join(PREMISE_ORDERS)}")
        try:
            object.__setattr__(self, "outcome", Outcome(self.outcome))
        except ValueError as error:
            raise TrialError(f"outcome {self.outcome!r} is none of {', '.join(Outcome)}") from error
        if self.repeat < 0 or self.attempts < 1:
            raise TrialError(f"trial {self.key}: repeat {self.repeat} must be ≥ 0 and attempts {self.attempts} ≥ 1")
        if (self.outcome is Outcome.ERROR) != (self.fault is not None):
            raise TrialError(f"trial {self.key}: a fault belongs to the outcome `error` and to no other")
        if self.outcome is not Outcome.ERROR and self.answer is None:
            raise TrialError(f"trial {self.key}: an outcome of {self.outcome} needs the answer text")
        for part, whole in _PARTS:
            self._check_part(part, whole)

    def _check_part(self, part: str, whole: str) -> None:
        counted, total = getattr(self, part), getattr(self, whole)
        if (counted is None) != (total is None):
            raise TrialError(f"trial {self.key}: {part} and {whole} are both counts or both undefined")
        if counted is not None and not 0 <= counted <= total:
            raise TrialError(f"trial {self.key}: {part} = {counted} lies outside 0…{total} ({whole})")

    def document(self) -> dict[str, Any]:
        """The record as it is logged. Counts that most trials have not are left out where undefined."""
        logged = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in logged.items() if value is not None or name not in _LATER_COUNTS}

    @property
    def cell(self) -> tuple[str, str, str, int]:
        """What pairs trials of different arms: scenario, variant, premise order, repeat."""
        return (self.scenario_id, self.variant, self.premise_order, self.repeat)

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """What makes a trial unique in a run: its cell and its arm."""
        return (*self.cell, self.arm)

    @property
    def scored(self) -> bool:
        """Whether the matcher read an answer."""
        return self.outcome in SCORED


_PARTS = (
    ("true_claims_invalidated", "true_claims"),
    ("dependents_left_standing", "dependents"),
    ("planted_edges_found", "planted_edges"),
    ("claims_with_false_edge", "claims_measured"),
    ("attacks_passed", "attacks"),
    ("honest_pairs_merged", "honest_pairs"),
    ("guesses_laundered", "guesses"),
)

_LATER_COUNTS = frozenset(
    {"attacks_passed", "attacks", "honest_pairs_merged", "honest_pairs", "guesses_laundered", "guesses"}
)
"""Counts that only trials of the quorum and of laundering have."""


def in_order(records: Iterable[TrialRecord]) -> tuple[TrialRecord, ...]:
    """The records sorted by content, so that neither seed nor schedule shows; counted once each.

    Raises:
        TrialError: two different records under one key (a resume that counted twice, or a silent re-roll).
    """
    by_key: dict[tuple[str, str, str, int, str], TrialRecord] = {}
    for record in records:
        known = by_key.setdefault(record.key, record)
        if known != record:
            differing = [f.name for f in fields(record) if getattr(known, f.name) != getattr(record, f.name)]
            raise TrialError(
                f"trial {record.key} was recorded twice with different {', '.join(differing)}; "
                "keep the first and record a re-run as another repeat"
            )
    ordered = sorted(by_key.values(), key=lambda r: (r.family, r.variant, r.premise_order, r.wording, *r.key))
    return tuple(ordered)
