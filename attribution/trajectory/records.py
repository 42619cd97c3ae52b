"""Values between the ledger and a layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attribution.layout import TokenLayout

Fidelity = Literal["exact", "proxy"]
"""`exact`: the scored ids are the ids the agent saw, by its own weights. `proxy`: another model's text, laid out by a template."""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One region of a generation's context: template text (``entry`` None) or an entry's text."""

    entry: str | None
    kind: str
    """Statement kind of the entry, or ``template``."""
    role: str
    """Speaker in a foreign transcript: system, user, assistant or tool."""
    text: str
    unit: int | None
    """Number of the unit that is ablated together; None is never ablated."""
    token_start: int | None = None
    token_stop: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a generation, as a UTF-8 byte range of its response."""

    entry: str
    byte_start: int
    byte_stop: int
    form: str


@dataclass(frozen=True, slots=True)
class Generation:
    """One model call as the ledger recorded it."""

    event_id: str
    record: str
    step: int
    context: tuple[ContextItem, ...]
    response: str
    claims: tuple[Claim, ...]
    prompt_ids: tuple[int, ...] | None
    response_ids: tuple[int, ...] | None
    weights_digest: str | None


@dataclass(frozen=True, slots=True)
class Wording:
    """What else could have been said or read: foils per claim entry, matched swap text per context entry."""

    foils: dict[str, tuple[str, ...]]
    swaps: dict[str, str]


@dataclass(frozen=True, slots=True)
class TrajectoryUnit:
    """What is ablated together."""

    entries: tuple[str, ...]
    """All entries of the unit: a tool call and its result share one, and both get its verdict."""
    named: str
    """The entry by which cuts name the unit: the result of a tool call."""


@dataclass(frozen=True, slots=True)
class TrajectoryClaim:
    """A claim to be attributed."""

    entry: str
    generation: str
    target: int
    """Index of its target in the layout."""
    units: int
    """How many units stand before it, in token order: what can move its score."""
    context: frozenset[str]
    """Ablatable entries that its generation's recorded context holds. Other units before the claim are earlier claims of the
    same response: measured along, but no context entries."""
    contrasted: bool
    """Whether it is scored against foils."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A laid-out trajectory; its units are numbered in token order."""

    key: str
    layout: TokenLayout
    units: tuple[TrajectoryUnit, ...]
    claims: tuple[TrajectoryClaim, ...]
    fidelity: Fidelity
    dropped: tuple[str, ...]
    """Entries that a recorded window left out: they can only be `undetermined`."""
