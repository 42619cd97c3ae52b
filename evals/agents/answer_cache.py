"""What an agent said, kept by content: a resumed run asks nothing twice.

The key holds everything that decides an answer (weights, dtype, decoding limits, exact ids), so an entry never goes stale. A file
that is cut off or is no JSON counts as absent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledger_core.stores.files import write_whole


class AnswerCache:
    """JSON documents in a folder, by key; in memory alone where there is no folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, Any]] = {}

    def get(self, key: str) -> dict[str, Any] | None:
        """The document of ``key``, or None."""
        if key in self._known:
            return self._known[key]
        if self._folder is None:
            return None
        try:
            found = json.loads((self._folder / key[:2] / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict):
            return None
        self._known[key] = found
        return found

    def put(self, key: str, document: dict[str, Any]) -> None:
        """Keep ``document``; it appears whole, by one rename, or not at all."""
        self._known[key] = document
        if self._folder is None:
            return
        path = self._folder / key[:2] / f"{key}.json"
        write_whole(path, json.dumps(document, ensure_ascii=True, sort_keys=True).encode("ascii"), durable=False)
