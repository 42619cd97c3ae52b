"""Writes a ledger's export, and publishes the file only once it has been read back and verified."""

from __future__ import annotations

import os
import tempfile
from itertools import islice
from pathlib import Path

from ledger_core.kernel.content import DEFAULT_PROTECTION_DOMAIN, ContentRef
from ledger_core.kernel.errors import StoreError
from ledger_core.kernel.statements import LogFamily, content_refs
from ledger_core.kernel.statements.control import BlobErased
from ledger_core.stores.archive.members import (
    BLOBS,
    COLLISIONS,
    ERASED,
    HEADER,
    ArchiveHeader,
    MemberWriter,
    line_of,
    log_member,
)
from ledger_core.stores.archive.reading import open_archive
from ledger_core.stores.files import storage_errors, sync_directory
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import BlobStatus

BYTES = "application/octet-stream"


def export(ledger: Ledger, path: Path, *, blobs: bool = True) -> ArchiveHeader:
    """Write ``ledger``, as it stands now, to the new file ``path``; durable, verified and complete on return.

    Equal ledgers give equal bytes. Content that was erased on purpose is named; without ``blobs`` all other content is left
    out, and the file verifies but for its content.

    Raises:
        VerificationError: the ledger does not verify; no file is made.
        BlobError: content is missing or damaged.
        StoreError: ``path`` exists.
        StorageFullError: it cannot be written.
    """
    if path.exists():
        raise StoreError(f"{path} exists; choose another name, or remove it first")
    with storage_errors(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            os.fchmod(handle, 0o644)
            with os.fdopen(handle, "w+b") as file:
                header = _write(ledger, MemberWriter(file), blobs=blobs)
                file.flush()
                os.fsync(file.fileno())
            with open_archive(temporary) as archive:
                archive.verify()
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)
    return header


def _write(ledger: Ledger, writer: MemberWriter, *, blobs: bool) -> ArchiveHeader:
    # Evidence ends first: what it refers to in the control log was there by then.
    evidence_events = ledger.count("evidence")
    control_events = ledger.count("control")
    header = ArchiveHeader.make(
        blobs=blobs,
        control_events=control_events,
        control_head=_head_at(ledger, "control", control_events),
        evidence_events=evidence_events,
        evidence_head=_head_at(ledger, "evidence", evidence_events),
        format_version=1,
        scope=ledger.scope,
    )
    with writer.member(HEADER) as file:
        file.write(header.canonical_bytes() + b"\n")
    cited: dict[str, ContentRef] = {}
    announced: set[str] = set()
    families: tuple[LogFamily, ...] = ("control", "evidence")
    for family in families:
        with writer.member(log_member(family)) as file:
            for event in islice(ledger.events(family), header.events(family)):
                file.write(line_of(event))
                cited.update((ref.digest, ref) for ref in content_refs(event.statement))
                if isinstance(event.statement, BlobErased):
                    announced.add(event.statement.body.content_digest)
    with writer.member(COLLISIONS) as file:
        for each in ledger.store.collisions():
            held = ledger.event(each.held)
            if held.offset <= header.events(held.family):
                file.write(f"{each.source_fact_id}\t{each.held}\t{each.refused}\t{each.received_at}\n".encode())
    erased = {digest for digest in cited.keys() | announced if _is_erased(ledger, digest)}
    with writer.member(ERASED) as file:
        file.writelines(f"{digest}\n".encode() for digest in sorted(erased))
    for digest in sorted(cited.keys() - erased) if blobs else ():
        with writer.member(f"{BLOBS}{digest}") as file:
            file.write(ledger.read_blob(cited[digest]))
    writer.finish()
    return header


def _head_at(ledger: Ledger, family: LogFamily, count: int) -> str:
    last = next(ledger.events(family, count - 1), None) if count else None
    return ledger.head(family) if last is None else last.chain


def _is_erased(ledger: Ledger, digest: str) -> bool:
    # What was erased has no length any more to ask by.
    ref = ContentRef.make(
        algorithm="ostk-body-v1",
        byte_length=0,
        digest=digest,
        media_type=BYTES,
        protection_domain_id=DEFAULT_PROTECTION_DOMAIN,
    )
    return ledger.blob_status(ref) is BlobStatus.ERASED
