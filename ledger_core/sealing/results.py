"""What tools give, as the bytes that are sealed: JSON by RFC 8785, text as UTF-8, bytes as they are, streams on disk."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ledger_core.kernel import digests, jcs
from ledger_core.kernel.content import ContentRef, content_ref
from ledger_core.kernel.errors import CanonicalError, UnserialisableError
from ledger_core.sealing.scrub import Known, Scrubbed, StreamScrubber, scrub_bytes, scrub_json, scrub_text

OCTETS = "application/octet-stream"
_IN_MEMORY = 1 << 20
_PIECE = 1 << 18
_MAX_MESSAGE = 2_000
"""Characters of an exception's message that are sealed."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A result with what the tool itself knows about how it came by it.

    A tool returns one where it has more to say than a value: it is code of the boundary, not a caller.
    """

    value: Any
    """JSON, text, bytes, or an iterator (sync or async) of bytes."""
    peer: str | None = None
    """The host that answered last, after redirects."""
    media_type: str | None = None
    """Of bytes; None: `application/octet-stream`."""
    modified_at: str | None = None
    """When, by the origin's own word, the content last changed: a strict timestamp."""
    ok: bool = True
    """Whether the origin gave what was asked for; where not, its answer is sealed with the outcome `error`."""


class Spool:
    """Bytes of a stream, cleaned on the way to an anonymous temporary file that goes with the object."""

    def __init__(self, known: Known = ()) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - lives as long as the object
        self._scrubber = StreamScrubber(known)
        self.byte_length = 0

    def add(self, chunk: object) -> None:
        """Take in ``chunk``; raises :class:`UnserialisableError` where it is not bytes."""
        if not isinstance(chunk, bytes | bytearray | memoryview):
            raise UnserialisableError(f"a streamed result yields bytes, not {type(chunk).__name__}; encode it")
        for clean in self._scrubber.feed(bytes(chunk)):
            self._write(clean)

    def close(self) -> None:
        """The stream has ended."""
        self._write(self._scrubber.close())

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.byte_length += len(data)

    def chunks(self) -> Iterator[bytes]:
        """All bytes, from the beginning."""
        self._file.seek(0)
        return iter(lambda: self._file.read(_PIECE), b"")


def spooled(returned: Returned, known: Known, stop: threading.Event) -> Returned:
    """``returned`` with a sync stream read to its end, or until ``stop`` is set; anything else as it is."""
    if not isinstance(returned.value, Iterator):
        return returned
    spool = Spool(known)
    for chunk in returned.value:
        if stop.is_set():
            break
        spool.add(chunk)
    spool.close()
    return _with_value(returned, spool)


async def spooled_async(returned: Returned, known: Known) -> Returned:
    """``returned`` with an async stream read to its end; anything else as it is."""
    if not isinstance(returned.value, AsyncIterator):
        return returned
    spool = Spool(known)
    async for chunk in returned.value:
        spool.add(chunk)
    spool.close()
    return _with_value(returned, spool)


def _with_value(returned: Returned, value: Any) -> Returned:
    return Returned(value, returned.peer, returned.media_type, returned.modified_at, returned.ok)


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes about to be stored, without secrets, and their reference."""

    ref: ContentRef
    data: bytes | Spool

    @classmethod
    def of(cls, scrubbed: Scrubbed) -> Content:
        """Of bytes in memory."""
        return cls(content_ref(scrubbed.data, scrubbed.media_type), scrubbed.data)

    @classmethod
    def of_spool(cls, spool: Spool, media_type: str) -> Content:
        """Of a stream that was read; its bytes are read once more for the digest, which begins with their number."""
        empty = content_ref(b"", media_type)
        digest = digests.body_hex_of(spool.chunks(), spool.byte_length)
        return cls(empty.model_copy(update={"digest": digest, "byte_length": spool.byte_length}), spool)


def canonical_json(value: object, what: str) -> bytes:
    """RFC 8785 bytes of ``value``; raises :class:`UnserialisableError` that names ``what`` it is and what is wrong."""
    try:
        return jcs.encode(value)
    except CanonicalError as error:
        raise UnserialisableError(f"{what} cannot be sealed: {error}; give JSON values, text or bytes") from error


def result_content(returned: Returned, known: Known) -> Content:
    """The bytes of a result that has come.

    Raises:
        UnserialisableError: no JSON value, text or bytes; nothing is kept.
    """
    value = returned.value
    if isinstance(value, Spool):
        return Content.of_spool(value, returned.media_type or OCTETS)
    if isinstance(value, bytes | bytearray | memoryview):
        return Content.of(scrub_bytes(bytes(value), returned.media_type or OCTETS, known))
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UnserialisableError(
                f"the result cannot be sealed: lone surrogate at character {error.start}; give bytes instead"
            ) from None
        return Content.of(scrub_text(value, known))
    return Content.of(scrub_json(canonical_json(value, "the result"), known))


def failure_content(error: BaseException, known: Known) -> Content:
    """What is sealed of an exception: its type and the beginning of its message, no traceback."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot be shown is still one
        message = ""
    shown = message.encode("utf-8", "backslashreplace").decode()[:_MAX_MESSAGE]
    return _failure({"message": shown, "type": type(error).__qualname__}, known)


def timeout_content(seconds: float) -> Content:
    """What is sealed of a call that did not come back in time."""
    return _failure({"message": f"no result within {seconds:g} s", "type": "Timeout"}, ())


def _failure(described: Mapping[str, str], known: Known) -> Content:
    return Content.of(scrub_json(jcs.encode({"error": dict(described)}), known))
