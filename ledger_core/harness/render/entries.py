"""What a renderer is given: one value per entry of the context, already judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ledger_core.belief.state import BeliefState, Tier
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.statements import ENTRY_KINDS, Statement
from ledger_core.kernel.types import EventId

RenderOrder = Literal["renderer", "log"]
"""`renderer`: the renderer's own order; `log`: as logged, so that arms which differ in more can share an order."""


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """One entry as a context window would show it."""

    key: EventId
    text: str
    tier: Tier
    """Stored tier; what corroboration adds is the renderer's business."""
    belief: int | None
    """Parts of U; None for `given`."""
    invalidated: bool
    retracted: bool
    corroborated: bool
    external: bool
    """Sealed from an `external_read` tool."""
    order: int
    """Place in the log."""
    kind: str


@dataclass(frozen=True, slots=True)
class RenderedLine:
    """One entry's share of a rendered context, markers included."""

    key: EventId
    text: str


def context_entries(
    state: BeliefState, statements: Iterable[Statement], texts: Mapping[EventId, str]
) -> tuple[ContextEntry, ...]:
    """The entries among ``statements``, in their order, with their state and text.

    ``statements`` come as logged and give the entries' order; a repeated one counts once. Entries without a text in
    ``texts`` are left out, which is how a caller renders a part of a ledger.

    Raises:
        BeliefError: an entry is missing from ``state``, which was folded from other statements.
    """
    rendered: dict[EventId, ContextEntry] = {}
    for order, statement in enumerate(statements):
        key = statement.event_id
        if statement.kind not in ENTRY_KINDS or key not in texts or key in rendered:
            continue
        entry = state.entries.get(key)
        if entry is None:
            raise BeliefError(f"entry {key} is not in the folded state; fold the statements that are rendered")
        rendered[key] = ContextEntry(
            key=key,
            text=texts[key],
            tier=entry.tier,
            belief=entry.belief,
            invalidated=entry.invalidated,
            retracted=entry.retracted,
            corroborated=entry.corroborated,
            external=entry.external,
            order=order,
            kind=entry.kind,
        )
    return tuple(rendered.values())
