"""The log and its content on disk: contracts, rules of appending, stores, verification."""

from ledger_core.stores.ledger import Ledger, list_scopes
from ledger_core.stores.place import Place
from ledger_core.stores.protocols import BlobStatus, BlobStore, EventStore, Fresh, Outcome, Replayed, StoredEvent

__all__ = [
    "BlobStatus",
    "BlobStore",
    "EventStore",
    "Fresh",
    "Ledger",
    "Outcome",
    "Place",
    "Replayed",
    "StoredEvent",
    "list_scopes",
]
