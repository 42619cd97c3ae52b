"""What an agent did, and what the ledger spared it, as lines of canonical JSON beside the ledger.

Neither log is a record: the ledger is. Both hold ids, heads and digests and no text, so that erasing content erases it
here as well; texts are made again from the ledger (:func:`~ledger_core.harness.contexts.context_at`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from ledger_core.kernel import jcs
from ledger_core.stores.files import make_directories, storage_errors


class Log(Protocol):
    """Takes in one line at a time."""

    def write(self, line: Mapping[str, Any]) -> None:
        """Append ``line``."""
        ...


class ListLog:
    """A log in memory."""

    def __init__(self) -> None:
        self.lines: list[Mapping[str, Any]] = []

    def write(self, line: Mapping[str, Any]) -> None:
        """See :meth:`Log.write`."""
        self.lines.append(dict(line))


class JsonlLog:
    """A log in a file, a line of canonical JSON for each call; appended to where it exists.

    One process at a time writes it. What a crash left of a last line is cut off when the log is opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with storage_errors(path):
            make_directories(path.parent)
            if path.exists():
                _cut_to_whole_lines(path)

    def write(self, line: Mapping[str, Any]) -> None:
        """See :meth:`Log.write`; raises :class:`StoreError` where the file cannot be written."""
        with storage_errors(self._path), self._path.open("ab") as file:
            file.write(jcs.encode(dict(line)) + b"\n")

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """The lines that were written, in order."""
        with storage_errors(self._path):
            data = self._path.read_bytes() if self._path.exists() else b""
        for line in data.splitlines():
            value = jcs.parse(line)
            assert isinstance(value, dict), "lines are objects"
            yield value


def _cut_to_whole_lines(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)
