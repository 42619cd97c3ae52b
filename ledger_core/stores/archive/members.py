"""The file as a POSIX tar archive in which every byte is decided: equal ledgers give equal files, and no byte is free.

Any `tar` lists and unpacks it. Here each header must be exactly the one that its name and size give, each padding zero, and
nothing may follow the end: what the walk over the events does not cover, these rules do.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Literal

from ledger_core.kernel.errors import StatementError, VerificationError
from ledger_core.kernel.log import Position
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements import LogFamily, Scope
from ledger_core.kernel.types import Count, Digest
from ledger_core.stores.protocols import StoredEvent

HEADER = "veritas-ledger.json"
COLLISIONS = "collisions.tsv"
ERASED = "erased.txt"
BLOBS = "blobs/"
_BLOCK = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK)
_FIELDS = 5


class ArchiveHeader(Record):
    """What the file holds, before anything of it: the ledger's scope and where its two logs end."""

    blobs: bool
    """Whether the content is in the file; else only its digests are."""
    control_events: Count
    control_head: Digest
    evidence_events: Count
    evidence_head: Digest
    format_version: Literal[1]
    scope: Scope

    def events(self, family: LogFamily) -> int:
        """Number of events in ``family``."""
        return self.control_events if family == "control" else self.evidence_events

    def head(self, family: LogFamily) -> str:
        """Chain digest of the last event of ``family``."""
        return self.control_head if family == "control" else self.evidence_head


def log_member(family: LogFamily) -> str:
    """Name of the member with the events of ``family``."""
    return f"{family}.tsv"


def line_of(event: StoredEvent) -> bytes:
    """An event as one line; canonical bytes hold neither tab nor newline, so nothing is escaped."""
    fields = (event.chain.encode(), event.event_id.encode(), event.position.canonical_bytes(), event.receipt_bytes)
    return b"\t".join((*fields, event.encoded)) + b"\n"


def event_of(line: bytes, family: LogFamily, number: int) -> StoredEvent:
    """The event of a line, unchecked beyond its shape; raises :class:`VerificationError` that names it."""
    fields = line.split(b"\t")
    if len(fields) != _FIELDS or not all(field.isascii() for field in fields[:3]):
        raise VerificationError(f"statement at {family} event {number}: the line is not five fields; export it again")
    chain, event_id, position, receipt, statement = fields
    try:
        where = Position.decode(position)
    except StatementError as error:
        raise VerificationError(f"position at {family} event {number}: {error}; export it again") from error
    return StoredEvent(event_id.decode(), family, where, statement, receipt, chain.decode())


@dataclass(frozen=True, slots=True)
class Member:
    """A member's place in the file."""

    name: str
    start: int
    """Offset of its first byte of content."""
    size: int


def _tar_header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _padding(size: int) -> int:
    return -size % _BLOCK


class MemberWriter:
    """Writes members one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        """``file`` is empty and can be sought."""
        self._file = file

    @contextmanager
    def member(self, name: str) -> Iterator[BinaryIO]:
        """What is written to the file inside becomes the member's content, whatever its size turns out to be."""
        before = self._file.tell()
        self._file.write(bytes(_BLOCK))
        yield self._file
        size = self._file.tell() - before - _BLOCK
        self._file.write(bytes(_padding(size)))
        after = self._file.tell()
        self._file.seek(before)
        self._file.write(_tar_header(name, size))
        self._file.seek(after)

    def finish(self) -> None:
        """Write the end of the file."""
        self._file.write(_END)


def read_members(file: BinaryIO) -> tuple[Member, ...]:
    """The members of ``file`` in order.

    Raises :class:`VerificationError` for a byte that no export has, naming its offset.
    """
    size_of_file = file.seek(0, io.SEEK_END)
    members: list[Member] = []
    at = 0
    while True:
        file.seek(at)
        block = file.read(_BLOCK)
        if block == bytes(_BLOCK):
            break
        members.append(_member(block, at))
        content = members[-1].start + members[-1].size
        file.seek(content)
        at = content + _padding(members[-1].size)
        if at > size_of_file:
            raise _broken(size_of_file, f"the file ends within {members[-1].name}")
        if any(file.read(at - content)):
            raise _broken(content, f"bytes behind {members[-1].name} that are not zero")
    file.seek(at)
    if file.read(len(_END) + 1) != _END:
        raise _broken(at, "the end is not two blocks of zeros, or something follows it")
    return tuple(members)


def _member(block: bytes, at: int) -> Member:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if info.size >= 0 and block == _tar_header(info.name, info.size):
            return Member(info.name, at + _BLOCK, info.size)
    except (tarfile.HeaderError, ValueError):
        pass
    raise _broken(at, "no header of a member")


def _broken(offset: int, what: str) -> VerificationError:
    return VerificationError(f"unreadable at byte {offset}: {what}; export the ledger again")


def pieces_of(file: BinaryIO, member: Member, piece: int = 1 << 20) -> Iterator[bytes]:
    """The content of ``member`` in pieces; the file may be used otherwise meanwhile."""
    at, left = member.start, member.size
    while left:
        file.seek(at)
        read = file.read(min(piece, left))
        if not read:
            raise _broken(at, f"the file ends within {member.name}")
        yield read
        at, left = at + len(read), left - len(read)


def lines_of(file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The lines of ``member`` without their ends; raises :class:`VerificationError` where the last one has none."""
    rest = b""
    for piece in pieces_of(file, member):
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        raise _broken(member.start + member.size, f"the last line of {member.name} does not end")
