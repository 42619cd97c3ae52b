"""Where ledgers are: one folder, and optionally a PostgreSQL database for their events and a folder for data keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ledger_core.kernel.errors import StoreError
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.text import is_contract_id
from ledger_core.stores.blobs import FileBlobStore
from ledger_core.stores.protocols import EventStore
from ledger_core.stores.sqlite import SqliteEventStore

_LEDGERS = "ledgers"
_FILE = "ledger.sqlite3"
_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Place:
    """Whoever opens a ledger names its home, or all of this."""

    home: Path
    """Below it ``ledgers/<tenant>/<project>``: content, and without ``store`` the events too."""
    store: str | None = None
    """A PostgreSQL address for the events of all ledgers; None: an SQLite file each."""
    keys: Path | None = None
    """Folder of data keys: new content is encrypted. None: it lies there in plain."""

    @classmethod
    def of(cls, where: Path | Place) -> Place:
        """``where``, or the place that a home alone is."""
        return where if isinstance(where, Place) else cls(where)

    def __str__(self) -> str:
        if self.store is None:
            return str(self.home)
        parts = urlsplit(self.store)
        return f"postgresql://{parts.hostname or 'localhost'}{parts.path}"

    def folder(self, scope: Scope) -> Path:
        """Where the files of the ledger of ``scope`` lie."""
        return self.home / _LEDGERS / scope.tenant_namespace / scope.project_namespace

    def blobs(self, scope: Scope) -> FileBlobStore:
        """The content of the ledger of ``scope``."""
        keys = None if self.keys is None else self.keys / scope.tenant_namespace / scope.project_namespace
        return FileBlobStore(self.folder(scope) / "blobs", keys)

    def events(self, scope: Scope, blobs: FileBlobStore, wait_seconds: float) -> EventStore:
        """The events of the ledger of ``scope``, opened; empty ones are created where there are none.

        Raises:
            StoreError: ``store`` is no PostgreSQL address, or see the message.
        """
        if self.store is None:
            return SqliteEventStore(self.folder(scope), scope, blobs, wait_seconds)
        from ledger_core.stores.postgres import PostgresEventStore

        return PostgresEventStore(self._address(self.store), scope, blobs, wait_seconds)

    def exists(self, scope: Scope) -> bool:
        """Whether there is a ledger of ``scope``."""
        if self.store is not None:
            return scope in self.scopes()
        file = self.folder(scope) / _FILE
        return file.is_file() and file.stat().st_size > 0

    def scopes(self) -> tuple[Scope, ...]:
        """Every scope that has a ledger here, sorted by tenant and project."""
        if self.store is not None:
            from ledger_core.stores.postgres import postgres_scopes

            return postgres_scopes(self._address(self.store))
        places = sorted(file.parent for file in (self.home / _LEDGERS).glob(f"*/*/{_FILE}"))
        scopes = (
            Scope.make(tenant_namespace=place.parent.name, project_namespace=place.name)
            for place in places
            if is_contract_id(place.parent.name) and is_contract_id(place.name)
        )
        return tuple(scope for scope in scopes if self.exists(scope))

    @staticmethod
    def _address(store: str) -> str:
        if not store.startswith(_SCHEMES):
            raise StoreError(f"store {store!r} is no PostgreSQL address; write postgresql://user@host/database")
        return store
