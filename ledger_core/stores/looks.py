"""Looks at cited content, one after the other; by the process that walks the log, or by one beside it.

``python -m ledger_core.stores.looks FOLDER [KEYS]`` reads a :data:`Citation` a line and, when its input ends, says what it found.
It ends with whoever started it: their end of the pipe closes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import StoreError
from ledger_core.kernel.statements import LogFamily
from ledger_core.stores.blobs import FileBlobStore
from ledger_core.stores.divergence import Divergence, DivergenceKind
from ledger_core.stores.protocols import BlobStatus, BlobStore

Citation = tuple[LogFamily, int, str, bytes]
"""Family, offset and id of the event that cites content first, and canonical bytes of the reference."""

_KINDS: Final = {
    BlobStatus.MISSING: DivergenceKind.BLOB_MISSING,
    BlobStatus.CORRUPT: DivergenceKind.BLOB_CORRUPT,
    BlobStatus.ERASED: DivergenceKind.BLOB_ERASED,
}
_BUFFER_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Absence:
    """Content that is not what an event cites."""

    citation: Citation
    status: BlobStatus | None
    """What the store says of it; None where it cannot say."""
    why: str = ""
    """Why it cannot say."""

    @property
    def ref(self) -> ContentRef:
        """The reference."""
        return ContentRef.decode(self.citation[3])

    def divergence(self) -> Divergence:
        """As the first divergence of a ledger."""
        family, offset, event_id, _ = self.citation
        kind = DivergenceKind.UNREADABLE if self.status is None else _KINDS[self.status]
        detail = f"content {self.ref.digest} of {self.ref.byte_length} bytes ({self.ref.media_type})"
        return Divergence(kind, family, offset, event_id, f"{detail}: {self.why}" if self.why else detail)


@dataclass(slots=True)
class Looks:
    """What was found of the content that was asked about."""

    present: int = 0
    erased: list[Absence] = field(default_factory=list)
    """Erased on purpose."""
    loss: Absence | None = None
    """The first that is missing, corrupt or unreadable: nothing that is cited later can be the first divergence."""

    def look(self, blobs: BlobStore, citation: Citation) -> None:
        """Ask ``blobs`` about what ``citation`` cites, unless something is lost already."""
        if self.loss is not None:
            return
        why, status = "", None
        try:
            status = blobs.status(ContentRef.decode(citation[3]))
        except StoreError as error:
            why = str(error)
        if status is BlobStatus.PRESENT:
            self.present += 1
        elif status is BlobStatus.ERASED:
            self.erased.append(Absence(citation, status))
        else:
            self.loss = Absence(citation, status, why)

    def encoded(self) -> bytes:
        """As one line for another process."""
        absences = [*self.erased, *([] if self.loss is None else [self.loss])]
        rows = [(*each.citation[:3], each.citation[3].decode(), each.status, each.why) for each in absences]
        return json.dumps([self.present, rows]).encode()

    @classmethod
    def decode(cls, line: bytes) -> Looks:
        """The inverse of :meth:`encoded`; raises ValueError for what is none."""
        present, rows = json.loads(line)
        looks = cls(present)
        for family, offset, event_id, ref, status, why in rows:
            absence = Absence((family, offset, event_id, ref.encode()), status and BlobStatus(status), why)
            if absence.status is BlobStatus.ERASED:
                looks.erased.append(absence)
            else:
                looks.loss = absence
        return looks


class SecondLook:
    """A process that looks at content in files while its parent does other things."""

    def __init__(self, blobs: FileBlobStore) -> None:
        """Start it; raises OSError where none can be started."""
        places = [str(place) for place in (blobs.folder, blobs.key_folder) if place is not None]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, on a module of ours
            [sys.executable, "-P", "-m", __name__, *places],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=_BUFFER_BYTES,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
        )

    def ask(self, citation: Citation) -> None:
        """Have it look; raises OSError where it is gone."""
        assert self._process.stdin is not None, "it was started with a pipe"
        family, offset, event_id, ref = citation
        self._process.stdin.write(b"%b\t%d\t%b\t%b\n" % (family.encode(), offset, event_id.encode(), ref))

    def answer(self) -> Looks:
        """What it found, once it has looked at everything; raises OSError or ValueError where it is gone."""
        assert self._process.stdin is not None, "it was started with a pipe"
        assert self._process.stdout is not None, "it was started with a pipe"
        self._process.stdin.close()
        return Looks.decode(self._process.stdout.read())

    def close(self) -> None:
        """End it, whatever it is at; closing twice is harmless."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was still to be written has no reader any more
                    pipe.close()


def _main(folder: str, keys: str | None = None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted as well, and closes the pipe
    blobs, looks = FileBlobStore(Path(folder), None if keys is None else Path(keys)), Looks()
    for line in sys.stdin.buffer:
        family, offset, event_id, ref = line.rstrip(b"\n").split(b"\t", 3)
        looks.look(blobs, ("control" if family == b"control" else "evidence", int(offset), event_id.decode(), ref))
    sys.stdout.buffer.write(looks.encoded())


if __name__ == "__main__":
    _main(*sys.argv[1:])
