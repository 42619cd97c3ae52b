"""What a tree holds of an event: enough to find it, to pin everything before it, and to check who appended it when.

A leaf is the canonical bytes of ``{chain, event_id, family, position, receipt}``, the receipt as its digest
``domain("veritas-append-receipt-v1", canonical(receipt))``; its hash is that of RFC 6962 §2.1.
"""

from __future__ import annotations

from ledger_core.kernel import digests, merkle
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.log import Position
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements import LogFamily
from ledger_core.kernel.types import Digest
from ledger_core.stores.protocols import StoredEvent


class Leaf(Record):
    """One event's leaf."""

    chain: Digest
    event_id: Digest
    family: LogFamily
    position: Position
    receipt: Digest
    """Digest of the receipt's canonical bytes."""

    @property
    def index(self) -> int:
        """Place in the family's tree, from 0."""
        return int(self.position.committed_offset) - 1

    def hashed(self) -> bytes:
        """The leaf hash, 32 bytes."""
        return merkle.leaf_hash(self.canonical_bytes())


def leaf_of(event: StoredEvent) -> Leaf:
    """The leaf of ``event`` as it is stored; raises :class:`StatementError` where its digests are none."""
    return Leaf.make(
        chain=event.chain,
        event_id=event.event_id,
        family=event.family,
        position=event.position,
        receipt=digests.domain_hex(Prefix.APPEND_RECEIPT, event.receipt_bytes),
    )
