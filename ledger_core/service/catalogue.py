"""Where things are in a log: generations, the claims of each, the measurements of each claim. Kept up as the log grows."""

from __future__ import annotations

import threading
from collections import defaultdict

from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.statements.measurement import EdgesMeasured
from ledger_core.stores.ledger import Ledger


class Catalogue:
    """Event ids by what they are about, in log order; may be shared by threads."""

    def __init__(self, ledger: Ledger) -> None:
        """Nothing is read before :meth:`refresh`."""
        self._ledger = ledger
        self._lock = threading.Lock()
        self._read_to = 0
        self.generations: list[tuple[int, str]] = []
        """Offset and event id."""
        self.claims: defaultdict[str, list[str]] = defaultdict(list)
        """Generation -> its claims."""
        self.measurements: defaultdict[str, list[str]] = defaultdict(list)
        """Claim -> its measurements."""

    def refresh(self) -> Catalogue:
        """This catalogue, as far as the log goes now."""
        with self._lock:
            for event in self._ledger.events(after=self._read_to):
                statement = event.statement
                match statement:
                    case GenerationRecorded():
                        self.generations.append((event.offset, event.event_id))
                    case EntryDerived() | EntryConjectured() if statement.body.generation is not None:
                        self.claims[statement.body.generation].append(event.event_id)
                    case EdgesMeasured():
                        self.measurements[statement.body.claim].append(event.event_id)
                    case _:
                        pass
                self._read_to = event.offset
            return self
