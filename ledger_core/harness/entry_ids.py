"""Entries as people name them: by the beginning of their event id."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.statements import ENTRY_KINDS, Statement
from ledger_core.kernel.types import EventId

SHORTEST = 8
"""Hex digits that an id may be cut to."""

_ID = re.compile(r"[0-9a-f]{8,64}")
_LISTED = 4


def find_entry(statements: Iterable[Statement], name: str) -> EventId:
    """The one entry whose event id begins with ``name``.

    Raises:
        BeliefError: fewer than 8 hex digits, no entry, several of them, or an event that is no entry.
    """
    prefix = name.lower()
    if _ID.fullmatch(prefix) is None:
        raise BeliefError(f"{name!r} is no entry id: write its first {SHORTEST} to 64 hex digits")
    found = {statement.event_id: statement.kind for statement in statements if statement.event_id.startswith(prefix)}
    entries = sorted(key for key, kind in found.items() if kind in ENTRY_KINDS)
    if len(entries) == 1:
        return EventId(entries[0])
    if entries:
        listed = ", ".join(entries[:_LISTED]) + (", …" if len(entries) > _LISTED else "")
        raise BeliefError(f"{name} begins the ids of {len(entries)} entries ({listed}); write more of it")
    if found:
        key, kind = min(found.items())
        raise BeliefError(f"{key} is a `{kind}`, not an entry; name a claim, an observation or a given message")
    raise BeliefError(f"no entry of this ledger has an id that begins with {name}; `veritas why` lists all of them")
