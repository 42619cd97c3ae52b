"""Writes the golden ledger: ``python -m tests.golden.build`` (only for a new file; the committed one never changes).

One JSON object a line: first the scope, then every event (control, then evidence) with the exact bytes of statement and
receipt as strings, then every blob in base64.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.log import Position
from ledger_core.kernel.statements import FAMILIES, Scope, content_refs
from ledger_core.stores import Ledger
from ledger_core.stores.blobs import MemoryBlobStore
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.protocols import StoredEvent
from tests.ledger_core.story import NOW, open_memory, tell

FILE = Path(__file__).with_name("ledger-v1.jsonl")


def lines_of(ledger: Ledger) -> Iterator[str]:
    """The whole ledger as text."""
    yield _line({"scope": ledger.scope.model_dump()})
    blobs: dict[str, ContentRef] = {}
    for family in FAMILIES:
        for event in ledger.events(family):
            blobs.update((ref.digest, ref) for ref in content_refs(event.statement))
            yield _line(
                {
                    "family": family,
                    "position": event.position.model_dump(),
                    "event_id": event.event_id,
                    "statement": event.encoded.decode(),
                    "receipt": event.receipt_bytes.decode(),
                    "chain": event.chain,
                }
            )
    for digest in sorted(blobs):
        yield _line({"blob": base64.b64encode(ledger.read_blob(blobs[digest])).decode()})


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def ledger_from(lines: list[str]) -> Ledger:
    """A ledger that holds exactly what ``lines`` say, unchecked."""
    head, *rest = (json.loads(line) for line in lines)
    blobs = MemoryBlobStore()
    events = []
    for item in rest:
        if "blob" in item:
            blobs.put(base64.b64decode(item["blob"]))
            continue
        events.append(
            StoredEvent(
                event_id=item["event_id"],
                family=item["family"],
                position=Position.model_construct(**item["position"]),
                encoded=item["statement"].encode(),
                receipt_bytes=item["receipt"].encode(),
                chain=item["chain"],
            )
        )
    scope = Scope.make(**head["scope"])
    return Ledger(MemoryEventStore.restore(scope, blobs, events), blobs, now=NOW)


def golden_lines() -> list[str]:
    """The committed file."""
    return FILE.read_text(encoding="utf-8").splitlines(keepends=True)


if __name__ == "__main__":
    told = open_memory()
    tell(told)
    FILE.write_text("".join(lines_of(told)), encoding="utf-8")
