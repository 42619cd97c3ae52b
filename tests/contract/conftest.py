"""The stores that the contract holds for; a new store joins the list and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ledger_core.kernel.content import ContentRef, content_ref
from ledger_core.stores.blobs import FileBlobStore, MemoryBlobStore
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.protocols import BlobStore, EventStore
from ledger_core.stores.sqlite import SqliteEventStore
from tests.ledger_core.story import SCOPE


@dataclass
class Backend:
    """An event store and its blobs."""

    store: EventStore
    blobs: BlobStore

    def put(self, data: bytes, media_type: str) -> ContentRef:
        self.blobs.put(data)
        return content_ref(data, media_type)


def _memory(_: Path) -> Backend:
    blobs = MemoryBlobStore()
    return Backend(MemoryEventStore(SCOPE, blobs), blobs)


def _sqlite(folder: Path) -> Backend:
    blobs = FileBlobStore(folder / "blobs")
    return Backend(SqliteEventStore(folder, SCOPE, blobs), blobs)


@pytest.fixture(params=[_memory, _sqlite], ids=["memory", "sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    made = request.param(tmp_path / "ledger")
    yield made
    made.store.close()


@pytest.fixture(params=[lambda _: MemoryBlobStore(), FileBlobStore], ids=["memory", "files"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return request.param(tmp_path / "blobs")
