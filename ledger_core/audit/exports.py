"""A whole ledger in one file, read without trusting any of it: an export, or rows as JSON lines.

An export is a tar archive (``docs/stores.md``): a header, the two logs as lines of five fields between tabs, the erased
digests, and content. JSON lines hold the scope, then every event with the exact bytes of statement and receipt as
strings, then content in base64.
"""

from __future__ import annotations

import base64
import binascii
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledger_core.audit import canonical
from ledger_core.audit.hashing import body
from ledger_core.audit.source import FAMILIES, MemoryBlobs, OutOfReachError, Row, Source, SourceError

HEADER = "veritas-ledger.json"
_ERASED = "erased.txt"
_FIELDS = 5


def from_archive(file: Path) -> Source:
    """The ledger in the export ``file``.

    Raises:
        SourceError: no tar archive, or one without the members of an export.
    """
    try:
        archive = tarfile.open(file, "r:")  # noqa: SIM115 - read as long as the source is
        members = {member.name: member for member in archive}
        header = canonical.load(_bytes(archive, members, HEADER).removesuffix(b"\n"))
        heads = {family: (header[f"{family}_events"], header[f"{family}_head"]) for family in FAMILIES}
        erased = set(_bytes(archive, members, _ERASED).decode().split())
        scope, complete = dict(header["scope"]), bool(header["blobs"])
    except (tarfile.TarError, ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{file} is no export of a ledger: {error!r}") from error
    rows = {family: _ArchivedRows(archive, members, family) for family in FAMILIES}
    return Source(dict(rows), _ArchivedBlobs(archive, members, erased, complete=complete), heads, scope)


def _bytes(archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], name: str) -> bytes:
    opened = archive.extractfile(members[name])
    if opened is None:
        raise KeyError(name)
    return opened.read()


class _ArchivedRows:
    """One log, line by line."""

    def __init__(self, archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], family: str) -> None:
        self._archive, self._members, self._family = archive, members, family

    def __iter__(self) -> Iterator[Row]:
        try:
            lines = self._archive.extractfile(self._members[f"{self._family}.tsv"])
            for number, line in enumerate(lines or (), start=1):
                fields = line.removesuffix(b"\n").split(b"\t")
                if len(fields) != _FIELDS:
                    raise SourceError(f"line {number} has {len(fields)} fields instead of {_FIELDS}")
                chain, event_id, position, receipt, statement = fields
                place = _position(position)
                yield Row(
                    self._family, *place, _word(event_id), statement=statement, receipt=receipt, chain=_word(chain)
                )
        except (tarfile.TarError, KeyError) as error:
            raise SourceError(f"the export has no {self._family} log: {error!r}") from error


def _position(data: bytes) -> tuple[int, str, int]:
    """Offset, epoch and shard; such as no event has where the bytes are none."""
    try:
        position = canonical.load(data)
        return int(position["committed_offset"]), str(position["epoch_id"]), int(position["shard"])
    except (ValueError, KeyError, TypeError):
        return -1, "", -1


def _word(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _ArchivedBlobs:
    """Content in members ``blobs/<digest>``, read as it is asked for."""

    def __init__(
        self, archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], erased: set[str], *, complete: bool
    ) -> None:
        self._archive, self._members, self._erased, self._complete = archive, members, erased, complete

    def read(self, digest: str) -> bytes | None:
        """See :class:`~.source.Blobs`."""
        name = f"blobs/{digest}"
        if name in self._members:
            return _bytes(self._archive, self._members, name)
        if not self._complete:
            raise OutOfReachError("the export was made without content")
        return None

    def is_erased(self, digest: str) -> bool:
        """See :class:`~.source.Blobs`."""
        return digest in self._erased


def from_lines(file: Path) -> Source:
    """The ledger in ``file``; content lies in it too.

    Raises:
        SourceError: a line that is none of the format's.
    """
    rows: dict[str, list[Row]] = {family: [] for family in FAMILIES}
    held = MemoryBlobs()
    scope: dict[str, str] | None = None
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                item = json.loads(line)
                if "statement" in item:
                    row = _row(item)
                    rows[row.family].append(row)
                elif "blob" in item:
                    data = base64.b64decode(item["blob"], validate=True)
                    held.held[body(data)] = data
                else:
                    scope = dict(item["scope"])
            except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
                raise SourceError(f"line {number} of {file} is no line of a ledger: {error!r}") from error
    return Source(dict(rows), held, scope=scope)


def _row(item: dict[str, Any]) -> Row:
    position = item["position"]
    return Row(
        item["family"],
        int(position["committed_offset"]),
        position["epoch_id"],
        position["shard"],
        item["event_id"],
        item["statement"].encode("utf-8"),
        item["receipt"].encode("utf-8"),
        item["chain"],
    )
