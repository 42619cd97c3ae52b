"""Makes a ledger out of an export: the same events under the same heads, whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ledger_core.kernel.errors import AppendError
from ledger_core.kernel.statements import FAMILIES, Scope, content_refs
from ledger_core.stores.archive.members import ArchiveHeader
from ledger_core.stores.archive.reading import EPOCH, Archive, open_archive
from ledger_core.stores.files import LOCK_WAIT_SECONDS, make_directories, storage_errors, sync_directory
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.place import Place
from ledger_core.stores.verify import VerificationReport

_STAGE = ".restoring-"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restored ledger is."""

    scope: Scope
    report: VerificationReport
    fresh: bool
    """False where the ledger was there already, with these very heads."""


def restore(path: Path, where: Path | Place, *, wait_seconds: float = LOCK_WAIT_SECONDS) -> Restored:
    """Verify the export at ``path`` and make its ledger at ``where``, under the scope that it names.

    With SQLite the ledger is made aside and moved into place, with PostgreSQL its events come in one transaction, after
    its content.

    Raises:
        VerificationError: the export does not verify; nothing was made.
        AppendError: there is another ledger of that scope, or something in its place.
        StorageFullError, LedgerBusyError, StoreError: see the message; there is no such ledger afterwards.
        BlobError: the export is without content, and some of it is not here.
    """
    place = Place.of(where)
    with open_archive(path) as archive:
        report = archive.verify()
        scope = archive.header.scope
        if _is_there(place, archive.header, wait_seconds):
            return Restored(scope, report, fresh=False)
        if place.store is None:
            with _staged(place, scope) as stage:
                _fill(archive, stage, wait_seconds)
        else:
            _fill(archive, place, wait_seconds)
    return Restored(scope, report, fresh=True)


def _is_there(place: Place, header: ArchiveHeader, wait_seconds: float) -> bool:
    """Whether the export's ledger is at ``place``; raises :class:`AppendError` for another one in its place."""
    if not place.exists(header.scope):
        return False
    with Ledger.existing(place, header.scope, now=EPOCH, wait_seconds=wait_seconds) as ledger:
        counts = {family: ledger.count(family) for family in FAMILIES}
        if not any(counts.values()):
            return False
        if all(
            (counts[family], ledger.head(family)) == (header.events(family), header.head(family)) for family in FAMILIES
        ):
            return True
    name = f"{header.scope.tenant_namespace}/{header.scope.project_namespace}"
    raise AppendError(
        f"there is another ledger {name} of {counts['evidence']} evidence events at {place}; restore into another --home"
    )


@contextmanager
def _staged(place: Place, scope: Scope) -> Iterator[Place]:
    """A place whose ledger of ``scope`` comes to stand at ``place`` at the end, and never where anything was raised."""
    target = place.folder(scope)
    with storage_errors(target):
        make_directories(target.parent)
        if target.exists():
            raise AppendError(f"{target} exists; move it away, or restore into another --home")
        aside = Path(tempfile.mkdtemp(dir=place.home, prefix=_STAGE))
        try:
            stage = replace(place, home=aside)
            yield stage
            stage.folder(scope).rename(target)
            sync_directory(target.parent)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _fill(archive: Archive, place: Place, wait_seconds: float) -> None:
    scope = archive.header.scope
    blobs = place.blobs(scope)
    for digest in archive.erased:
        blobs.erase(digest)
    for digest in archive.content:
        blobs.put_stream(archive.blobs.pieces(digest))
    events = [event for family in FAMILIES for event in archive.events[family]]
    for event in events:
        for ref in content_refs(event.statement):
            blobs.require_durable(ref)
    store = place.events(scope, blobs, wait_seconds)
    try:
        store.adopt(events, archive.collisions)
    finally:
        store.close()
