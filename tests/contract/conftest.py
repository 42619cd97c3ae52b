"""The stores that the contract holds for; a new store joins the list and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ledger_core.kernel.content import ContentRef, content_ref
from ledger_core.stores.blobs import FileBlobStore, MemoryBlobStore
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.postgres import PostgresEventStore
from ledger_core.stores.protocols import BlobStore, EventStore
from ledger_core.stores.sqlite import SqliteEventStore
from tests.ledger_core.story import SCOPE
from tests.postgres import emptied


@dataclass
class Backend:
    """An event store, its blobs, and another store of the same kind that is empty."""

    store: EventStore
    blobs: BlobStore
    another: Callable[[], EventStore]

    def put(self, data: bytes, media_type: str) -> ContentRef:
        self.blobs.put(data)
        return content_ref(data, media_type)


def _memory(_: pytest.FixtureRequest, __: Path) -> Backend:
    blobs = MemoryBlobStore()
    return Backend(MemoryEventStore(SCOPE, blobs), blobs, lambda: MemoryEventStore(SCOPE, blobs))


def _sqlite(_: pytest.FixtureRequest, folder: Path) -> Backend:
    blobs = FileBlobStore(folder / "blobs")
    return Backend(
        SqliteEventStore(folder, SCOPE, blobs), blobs, lambda: SqliteEventStore(folder / "another", SCOPE, blobs)
    )


def _postgres(request: pytest.FixtureRequest, folder: Path) -> Backend:
    server = request.getfixturevalue("postgres")
    blobs = FileBlobStore(folder / "blobs")
    return Backend(
        PostgresEventStore(emptied(server, "contract"), SCOPE, blobs),
        blobs,
        lambda: PostgresEventStore(emptied(server, "another"), SCOPE, blobs),
    )


@pytest.fixture(params=[_memory, _sqlite, _postgres], ids=["memory", "sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    made = request.param(request, tmp_path / "ledger")
    yield made
    made.store.close()


_STORED_BLOBS = {
    "files": lambda folder: FileBlobStore(folder / "blobs"),
    "encrypted": lambda folder: FileBlobStore(folder / "blobs", folder / "keys"),
}


@pytest.fixture(params=_STORED_BLOBS.values(), ids=_STORED_BLOBS)
def stored_blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """Stores that keep their blobs outside the process."""
    return request.param(tmp_path)


@pytest.fixture(params=[lambda _: MemoryBlobStore(), *_STORED_BLOBS.values()], ids=["memory", *_STORED_BLOBS])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return request.param(tmp_path)
