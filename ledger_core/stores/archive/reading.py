"""Reads a ledger's export as a ledger that can be walked, without believing anything of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from ledger_core.kernel import digests
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import DigestHex
from ledger_core.kernel.errors import BlobError, CanonicalError, StatementError, VerificationError
from ledger_core.kernel.statements import FAMILIES, LogFamily, content_refs
from ledger_core.kernel.statements.control import BlobErased
from ledger_core.kernel.timestamps import check_timestamp
from ledger_core.stores.archive.members import (
    BLOBS,
    COLLISIONS,
    ERASED,
    HEADER,
    ArchiveHeader,
    Member,
    event_of,
    lines_of,
    log_member,
    pieces_of,
    read_members,
)
from ledger_core.stores.files import storage_errors
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.memory import MemoryEventStore
from ledger_core.stores.protocols import BlobStatus, Collision, StoredBlob, StoredEvent
from ledger_core.stores.verify import VerificationReport, verify

_FIXED = (HEADER, *(log_member(family) for family in FAMILIES), COLLISIONS, ERASED)
_DIGEST_DIGITS = frozenset("0123456789abcdef")
_COLLISION_FIELDS = 4
EPOCH = "1970-01-01T00:00:00.000000000Z"
"""A clock for a ledger that nothing is appended to."""


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The export at ``path``.

    Raises:
        VerificationError: it is no export, or not a whole one; the message names the place.
        StoreError: it cannot be read.
    """
    with storage_errors(path), path.open("rb") as file:
        try:
            yield Archive(file)
        except VerificationError as error:
            raise VerificationError(f"{path} does not verify: {error}") from error


class Archive:
    """An opened export: its events in memory, its content where it lies."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        members = read_members(file)
        names = tuple(member.name for member in members)
        if names[: len(_FIXED)] != _FIXED:
            raise VerificationError(f"unreadable: its members begin with {', '.join(names[:5])}; it is no export")
        header, *logs, collisions, erased = members[: len(_FIXED)]
        self.header = _header(b"".join(pieces_of(file, header)))
        self.events: dict[LogFamily, list[StoredEvent]] = {
            family: [event_of(line, family, number) for number, line in enumerate(lines_of(file, member), start=1)]
            for family, member in zip(FAMILIES, logs, strict=True)
        }
        self.erased = _ascending(ERASED, [line.decode("latin-1") for line in lines_of(file, erased)])
        content = members[len(_FIXED) :]
        _ascending("blobs", [member.name.removeprefix(BLOBS) for member in content])
        self.content = {member.name.removeprefix(BLOBS): member for member in content}
        self.blobs = _ArchivedBlobs(file, self.content, frozenset(self.erased))
        self.ledger = Ledger(_ArchivedLog.of(self), self.blobs, now=EPOCH)
        self.collisions = tuple(_collision(line) for line in lines_of(file, collisions))

    def verify(self) -> VerificationReport:
        """Walk all of it; raises :class:`VerificationError` naming the first divergence."""
        report = verify(self.ledger, content=self.header.blobs)
        if report.first_divergence is not None:
            raise VerificationError(f"{report.first_divergence}; ask for another copy")
        self._check_content()
        self._check_collisions()
        return report

    def _check_content(self) -> None:
        """Nothing but what the events cite may be there: what the walk never asks for, it never finds."""
        statements = [event.statement for family in FAMILIES for event in self.events[family]]
        cited = {ref.digest for statement in statements for ref in content_refs(statement)}
        announced = {each.body.content_digest for each in statements if isinstance(each, BlobErased)}
        strays = sorted((self.content.keys() - cited) | (set(self.erased) - announced))
        if not self.header.blobs:
            strays += sorted(self.content)
        strays += sorted(self.content.keys() & set(self.erased))
        if strays:
            raise VerificationError(f"content {strays[0]} belongs to no event; ask for another copy")

    def _check_collisions(self) -> None:
        seen: set[str] = set()
        for number, each in enumerate(self.collisions, start=1):
            held = self.ledger.store.event(each.held)
            sound = held is not None and held.statement.source_fact_id == each.source_fact_id
            if not sound or each.refused in seen or self.ledger.store.event(each.refused) is not None:
                raise VerificationError(f"collision {number} contradicts the events; ask for another copy")
            seen.add(each.refused)


def _header(line: bytes) -> ArchiveHeader:
    try:
        if not line.endswith(b"\n"):
            raise VerificationError(f"unreadable: {HEADER} does not end with a newline")
        return ArchiveHeader.decode(line[:-1])
    except StatementError as error:
        raise VerificationError(f"unreadable: {HEADER}: {error}; use the program version that wrote it") from error


def _ascending(name: str, found: list[str]) -> tuple[str, ...]:
    for digest in found:
        if len(digest) != 2 * digests.DIGEST_BYTES or not _DIGEST_DIGITS.issuperset(digest):
            raise VerificationError(f"unreadable: {digest[:80]!r} among {name} is no digest")
    if any(left >= right for left, right in pairwise(found)):
        raise VerificationError(f"unreadable: {name} are not sorted, each once")
    return tuple(found)


def _collision(line: bytes) -> Collision:
    fields = line.decode("latin-1").split("\t")
    try:
        if len(fields) == _COLLISION_FIELDS:
            check_timestamp(fields[3])
            for digest in fields[:3]:
                _ascending(COLLISIONS, [digest])
            return Collision(*fields)
    except CanonicalError:
        pass
    raise VerificationError(f"unreadable: {COLLISIONS} has a line that is no collision")


class _ArchivedLog(MemoryEventStore):
    """The events of an export, which end where its header says."""

    header: ArchiveHeader

    @classmethod
    def of(cls, archive: Archive) -> _ArchivedLog:
        events = [event for family in FAMILIES for event in archive.events[family]]
        store = cls.restore(archive.header.scope, archive.blobs, events)
        store.header = archive.header
        return store

    def head(self, family: LogFamily) -> str:
        return self.header.head(family)

    def count(self, family: LogFamily) -> int:
        return self.header.events(family)


class _ArchivedBlobs:
    """The content of an export, read where it lies."""

    def __init__(self, file: BinaryIO, content: dict[str, Member], erased: frozenset[str]) -> None:
        self._file = file
        self._content = content
        self._erased = erased

    def pieces(self, digest: str) -> Iterator[bytes]:
        """The bytes of ``digest``, unverified, in pieces."""
        return pieces_of(self._file, self._content[digest])

    def read(self, ref: ContentRef) -> bytes:
        status = self.status(ref)
        if status is not BlobStatus.PRESENT:
            raise BlobError(f"blob {ref.digest} is {status} in this export")
        return b"".join(self.pieces(ref.digest))

    def status(self, ref: ContentRef) -> BlobStatus:
        if ref.digest in self._erased:
            return BlobStatus.ERASED
        member = self._content.get(ref.digest)
        if member is None:
            return BlobStatus.MISSING
        intact = (
            member.size == ref.byte_length and digests.body_hex_of(self.pieces(ref.digest), member.size) == ref.digest
        )
        return BlobStatus.PRESENT if intact else BlobStatus.CORRUPT

    def require_durable(self, ref: ContentRef) -> None:
        """An export is not appended to."""
        self.read(ref)

    def put(self, data: bytes) -> DigestHex:
        raise _unwritable(digests.body_hex(data))

    def put_all(self, many: Iterable[bytes]) -> tuple[DigestHex, ...]:
        return tuple(self.put(data) for data in many)

    def put_stream(self, chunks: Iterable[bytes]) -> StoredBlob:
        raise _unwritable(digests.body_hex(b"".join(chunks)))

    def erase(self, digest: str) -> None:
        raise _unwritable(digest)


def _unwritable(digest: str) -> BlobError:
    return BlobError(f"an export is only read; restore it, then change {digest} in the ledger")
