"""Entries as they are named on the command line: by the beginning of their event id."""

from __future__ import annotations

from string import hexdigits
from typing import TYPE_CHECKING

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from ledger_core.kernel.types import EventId
    from pipelines.cli.snapshot import Snapshot

_LONGEST = 64
_LISTED = 4


def check_entry_name(name: str) -> None:
    """Raise :class:`UsageError` for what can be the beginning of no event id, whatever the ledger holds."""
    from ledger_core.harness.entry_ids import SHORTEST

    if not SHORTEST <= len(name) <= _LONGEST or not set(name) <= set(hexdigits):
        raise UsageError(f"{name!r} is no entry id: write its first {SHORTEST} to {_LONGEST} hex digits")


def entry_named(seen: Snapshot, name: str) -> EventId:
    """The one entry whose id begins with ``name``.

    Raises:
        UsageError: it begins the ids of several; lists them.
        BeliefError: of none, or of an event that is no entry.
    """
    from ledger_core.harness.entry_ids import find_entry

    candidates = sorted(key for key in seen.contents if key.startswith(name.lower()))
    if len(candidates) > 1:
        more = f" and {len(candidates) - _LISTED} more" if len(candidates) > _LISTED else ""
        raise UsageError(
            f"{name} begins the ids of {len(candidates)} entries ({', '.join(candidates[:_LISTED])}{more}); write more of it"
        )
    return find_entry(seen.statements, name)
