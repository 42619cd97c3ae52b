"""The log and its content on disk: contracts, rules of appending, memory and SQLite stores, verification."""

from ledger_core.stores.ledger import Ledger, list_scopes
from ledger_core.stores.protocols import BlobStatus, BlobStore, EventStore, Fresh, Outcome, Replayed, StoredEvent

__all__ = [
    "BlobStatus",
    "BlobStore",
    "EventStore",
    "Fresh",
    "Ledger",
    "Outcome",
    "Replayed",
    "StoredEvent",
    "list_scopes",
]
