"""Writes the golden files: ``python -m tests.golden.build`` (only those that are not there; a committed one never changes).

``ledger-v1.jsonl``: one JSON object a line: first the scope, then every event (control, then evidence) with the exact
bytes of statement and receipt as strings, then every blob in base64. ``ledger-v1.sqlite3`` is the same ledger as a file of
the SQLite store. ``signed-v1/`` holds what was signed about it: checkpoints, proofs of both forms and a receipt.
"""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.log import Position
from ledger_core.kernel.statements import FAMILIES, Scope, content_refs
from ledger_core.signing import SigningKey, sign_append
from ledger_core.stores import Ledger
from ledger_core.stores.blobs import MemoryBlobStore
from ledger_core.stores.checkpoints import LedgerTrees
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.protocols import StoredEvent
from tests.ledger_core.stores.test_sqlite import file_of, open_ledger
from tests.ledger_core.story import NOW, open_memory, tell

FILE = Path(__file__).with_name("ledger-v1.jsonl")
SQLITE = Path(__file__).with_name("ledger-v1.sqlite3")
SIGNED = Path(__file__).with_name("signed-v1")
KEY = SigningKey("veritas.golden", bytes(range(32)))
"""Anybody can sign with it: it shows forms, not trust."""


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


def sign(ledger: Ledger, folder: Path) -> None:
    """Write what can be signed about ``ledger`` to ``folder``: an anchor of two sizes, both proofs and a receipt."""
    folder.mkdir()
    trees = LedgerTrees(ledger)
    early, late = (KEY.sign(trees.checkpoint("evidence", size).text) for size in (11, None))
    control = KEY.sign(trees.checkpoint("control").text)
    last = list(ledger.events())[-1]
    files = {
        "anchor.notes": f"{KEY.verifier}\n{early.encode()}{control.encode()}{late.encode()}",
        "event.tlog-proof": trees.prove_inclusion(last.event_id, late).encode(),
        "growth.consistency-proof": trees.prove_consistency(early, late).encode(),
        "event.receipt": sign_append(last, KEY).encode(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _write_sqlite(path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with open_ledger(home) as ledger:
            tell(ledger)
        with closing(sqlite3.connect(file_of(home))) as connection:
            connection.execute("VACUUM")
        shutil.copyfile(file_of(home), path)


if __name__ == "__main__":
    told = open_memory()
    tell(told)
    if not FILE.exists():
        FILE.write_text("".join(lines_of(told)), encoding="utf-8")
    if not SQLITE.exists():
        _write_sqlite(SQLITE)
    if not SIGNED.exists():
        sign(told, SIGNED)
