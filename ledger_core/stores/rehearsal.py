"""A ledger to try things on: it begins as another ledger stands, and nothing that is appended to it is kept."""

from __future__ import annotations

from collections.abc import Iterable

from ledger_core.kernel.content import ContentRef, content_ref
from ledger_core.kernel.digests import DigestHex
from ledger_core.kernel.errors import BlobError
from ledger_core.kernel.statements import FAMILIES
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.protocols import BlobStatus, BlobStore, Delivery, StoredBlob


def rehearsal(ledger: Ledger) -> Ledger:
    """A ledger in memory with the statements of ``ledger``, for dry runs.

    It refuses what ``ledger`` would refuse. New content is weighed and dropped: only what ``ledger`` holds can be read.
    Its heads are its own, for the receipts are.
    """
    blobs = _DroppingBlobStore(ledger.blobs)
    store = MemoryEventStore(ledger.scope, blobs)
    delivery = Delivery(principal_id="rehearsal", role="admin", channel="embedded", received_at=ledger.now())
    for family in FAMILIES:
        store.append([event.statement for event in ledger.events(family)], delivery)
    return Ledger(store, blobs, now=ledger.now())


class _DroppingBlobStore:
    """Shows the content of another store; what is put is known by its digest and not kept."""

    def __init__(self, under: BlobStore) -> None:
        self._under = under

    def put(self, data: bytes) -> DigestHex:
        ref = content_ref(data, "application/octet-stream")
        if self._under.status(ref) is BlobStatus.ERASED:
            raise BlobError(
                f"blob {ref.digest} was erased on purpose and may not be stored again; drop it from the input"
            )
        return DigestHex(ref.digest)

    def put_all(self, many: Iterable[bytes]) -> tuple[DigestHex, ...]:
        return tuple(self.put(data) for data in many)

    def put_stream(self, chunks: Iterable[bytes]) -> StoredBlob:
        data = b"".join(chunks)
        return StoredBlob(self.put(data), len(data))

    def read(self, ref: ContentRef) -> bytes:
        return self._under.read(ref)

    def status(self, ref: ContentRef) -> BlobStatus:
        return self._under.status(ref)

    def require_durable(self, ref: ContentRef) -> None:
        """Nothing of a rehearsal has to survive."""

    def erase(self, digest: str) -> None:
        raise BlobError(f"a rehearsal erases nothing; erase {digest} in the ledger itself")
