"""A text that is compared, with the entry it is the content of."""

from __future__ import annotations

from dataclasses import dataclass

from ledger_core.kernel.types import EventId


@dataclass(frozen=True, slots=True)
class Text:
    """What an entry says."""

    entry: EventId
    digest: str
    """Body digest of the content."""
    text: str
    """As much of it as is read, see :attr:`.Settings.read_characters`."""
