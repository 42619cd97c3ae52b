"""The content that the events of a walked log cite: looked at once, judged when all erasures are known."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress

from ledger_core.belief.digest_table import DigestTable
from ledger_core.kernel.errors import LedgerError
from ledger_core.kernel.statements import FAMILIES, Statement, content_refs, decode_statement
from ledger_core.kernel.statements.control import BlobErased
from ledger_core.kernel.statements.outline import outline
from ledger_core.stores.blobs import FileBlobStore
from ledger_core.stores.divergence import Divergence
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.looks import Citation, Looks, SecondLook
from ledger_core.stores.protocols import IndexedRow

EVENTS_FOR_TWO = 50_000
"""From so many events on, a second process looks at the content: below, it would be ready when there is nothing left to do."""

_RECENT = 1 << 10
"""References seen last that need no second look, not even into the table."""
_DOMAIN = b',"protection_domain_id":'


class Cited:
    """Content that was looked at, each distinct reference once."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen = DigestTable(recent=0)
        self._recent: set[bytes] = set()
        self._announced: set[str] = set()
        self._looks = Looks()
        self._asked = 0
        self._second: SecondLook | None = None
        with suppress(
            OSError, LedgerError
        ):  # alone it goes as well; what is wrong with the ledger is for the walk to say
            self._second = _second(ledger)

    @property
    def present(self) -> int:
        """Distinct blobs that are there and correct; of a second process once it is :meth:`settled <settle>`."""
        return self._looks.present

    @property
    def erased(self) -> int:
        """Distinct blobs that were erased on purpose, as far as is known."""
        return sum(absence.ref.digest in self._announced for absence in self._looks.erased)

    def announce(self, statement: Statement) -> None:
        """Take note of an erasure that the log itself reports."""
        if isinstance(statement, BlobErased):
            self._announced.add(statement.body.content_digest)

    def see(self, row: IndexedRow, content: Iterable[bytes]) -> None:
        """Look at what the event of ``row`` cites for the first time; ``content`` are canonical bytes of references."""
        for ref in content:
            if ref in self._recent:
                continue
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent.add(ref)
            # Which domain protects the bytes makes no second content of them.
            if self._seen.add(hashlib.sha256(ref[: ref.rfind(_DOMAIN)]).digest()) is not None:
                self._look((row[1], row[2], row[0], ref))

    def _look(self, citation: Citation) -> None:
        self._asked += 1
        if self._second is None:
            self._looks.look(self._ledger.blobs, citation)
            return
        with suppress(OSError):  # gone: its answer will not come either
            self._second.ask(citation)

    def settle(self) -> None:
        """Wait until everything that was asked about has been looked at."""
        second, self._second = self._second, None
        if second is None:
            return
        try:
            self._looks = second.answer()
        except (OSError, ValueError):
            self._look_again()
        finally:
            second.close()

    def _look_again(self) -> None:
        """Look at what a second process was asked about, which is gone: nothing of the log is kept, so it is read again."""
        asked, self._asked = self._asked, 0
        self._seen = DigestTable(recent=0)
        self._recent.clear()
        for family in FAMILIES:
            for page in self._ledger.store.pages(family):
                for row in page:
                    if self._asked >= asked:
                        return
                    read = outline(row[5])
                    whole = () if read is not None else content_refs(decode_statement(row[5]))
                    self.see(row, [ref.canonical_bytes() for ref in whole] if read is None else read.content)

    def close(self) -> None:
        """End what is still at work; its answer is of no use any more."""
        if self._second is not None:
            self._second.close()
            self._second = None

    def divergence(self) -> Divergence | None:
        """The first blob that is not what it must be."""
        unannounced = (absence for absence in self._looks.erased if absence.ref.digest not in self._announced)
        first = next(unannounced, self._looks.loss)
        return None if first is None else first.divergence()


def _second(ledger: Ledger) -> SecondLook | None:
    """A second process for a large ledger with content in files, where there is a processor for it."""
    blobs = ledger.blobs
    if not isinstance(blobs, FileBlobStore) or _cores() == 1 or ledger.store.count("evidence") < EVENTS_FOR_TWO:
        return None
    return SecondLook(blobs)


def _cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
