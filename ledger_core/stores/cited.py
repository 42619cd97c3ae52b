"""The content that the events of a walked log cite: looked at once, judged when all erasures are known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from ledger_core.belief.digest_table import DigestTable
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.statements import LogFamily, Statement
from ledger_core.kernel.statements.control import BlobErased
from ledger_core.stores.divergence import Divergence, DivergenceKind
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import BlobStatus, IndexedRow

_RECENT = 1 << 10
"""References seen last that need no second look, not even into the table."""
_DOMAIN = b',"protection_domain_id":'


@dataclass(frozen=True, slots=True)
class _Absence:
    """A blob that is not what an event cites, and what the store says of it."""

    family: LogFamily
    offset: int
    event_id: str
    ref: ContentRef
    status: BlobStatus

    def divergence(self) -> Divergence:
        kind = {
            BlobStatus.MISSING: DivergenceKind.BLOB_MISSING,
            BlobStatus.CORRUPT: DivergenceKind.BLOB_CORRUPT,
            BlobStatus.ERASED: DivergenceKind.BLOB_ERASED,
        }[self.status]
        detail = f"content {self.ref.digest} of {self.ref.byte_length} bytes ({self.ref.media_type})"
        return Divergence(kind, self.family, self.offset, self.event_id, detail)


class Cited:
    """Content that was looked at, each distinct reference once."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen = DigestTable()
        self._recent: set[bytes] = set()
        self._announced: set[str] = set()
        self._erased: list[_Absence] = []
        self._first_loss: _Absence | None = None
        self.present = 0

    @property
    def erased(self) -> int:
        """Distinct blobs that were erased on purpose, as far as is known."""
        return sum(absence.ref.digest in self._announced for absence in self._erased)

    def announce(self, statement: Statement) -> None:
        """Take note of an erasure that the log itself reports."""
        if isinstance(statement, BlobErased):
            self._announced.add(statement.body.content_digest)

    def see(self, row: IndexedRow, content: Iterable[bytes]) -> None:
        """Look at what the event of ``row`` cites for the first time; ``content`` are canonical bytes of references."""
        if self._first_loss is not None:
            return  # nothing that comes later can be the first divergence
        for ref in content:
            if ref in self._recent:
                continue
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent.add(ref)
            # Which domain protects the bytes makes no second content of them.
            if self._seen.add(hashlib.sha256(ref[: ref.rfind(_DOMAIN)]).digest()) is not None:
                self._look(row, ContentRef.decode(ref))

    def _look(self, row: IndexedRow, ref: ContentRef) -> None:
        status = self._ledger.blob_status(ref)
        if status is BlobStatus.PRESENT:
            self.present += 1
            return
        event_id, family, offset, *_ = row
        absence = _Absence(family, offset, event_id, ref, status)
        if status is BlobStatus.ERASED:
            self._erased.append(absence)
        elif self._first_loss is None:
            self._first_loss = absence

    def divergence(self) -> Divergence | None:
        """The first blob that is not what it must be."""
        unannounced = (absence for absence in self._erased if absence.ref.digest not in self._announced)
        first = next(unannounced, self._first_loss)
        return None if first is None else first.divergence()
