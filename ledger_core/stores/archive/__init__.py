"""A whole ledger as one file that verifies by itself; `docs/stores.md` describes the format."""

from ledger_core.stores.archive.reading import Archive, open_archive
from ledger_core.stores.archive.restoring import Restored, restore
from ledger_core.stores.archive.writing import export

__all__ = ["Archive", "Restored", "export", "open_archive", "restore"]
