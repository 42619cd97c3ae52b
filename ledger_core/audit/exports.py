"""A whole ledger in one file: JSON lines, read without trusting any of them.

One object a line: the scope, then every event with the exact bytes of statement and receipt as strings, then content.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any

from ledger_core.audit.hashing import body
from ledger_core.audit.source import FAMILIES, Blobs, MemoryBlobs, Row, Source, SourceError


def from_export(file: Path, blobs: Blobs | None = None) -> Source:
    """The ledger in ``file``; content lies in it, or in ``blobs``.

    Raises:
        SourceError: a line that is none of the format's.
    """
    rows: dict[str, list[Row]] = {family: [] for family in FAMILIES}
    held = MemoryBlobs()
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
                elif "erased" in item:
                    held.erased.add(str(item["erased"]))
                elif "scope" not in item:
                    raise KeyError("scope")  # noqa: TRY301 - one place says what is wrong with a line
            except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
                raise SourceError(f"line {number} of {file} is no line of an export: {error!r}") from error
    return Source(dict(rows), held if blobs is None else blobs)


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
