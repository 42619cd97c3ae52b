"""Files and JSON as other people write them: everything is either read or refused in one line."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

from ledger_core.connectors.transcript import RecordError
from ledger_core.kernel import digests, jcs
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.errors import CanonicalError, ConnectorError, JcsProfileError
from ledger_core.kernel.json_reader import Rules, read

_MAX_DEPTH = 256
_MAX_INTEGER = 2**53 - 1
_MAX_INTEGER_CHARS = 17
_FIRST_EXPONENT = 1e21
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_NOT_JSON_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_BOM = codecs.BOM_UTF8
_CHUNK = 1 << 20
_MAGIC: Mapping[bytes, str] = {
    b"\x1f\x8b": "is gzip; unpack it first (gunzip)",
    b"\x28\xb5\x2f\xfd": "is zstd; unpack it first (unzstd)",
    b"\xff\xfe": "is UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)",
}
"""First bytes of what people pass by mistake, and the way out."""


def load(path: Path) -> bytes:
    """The bytes of a file that is there and is not empty, without a byte order mark."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    check_start(path, data[:_CHUNK])
    return data.removeprefix(_BOM)


def load_json(path: Path, data: bytes) -> object:
    """The value of a file that is one JSON document."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(path, error.start, error.reason) from error
    try:
        return read_json(data)
    except RecordError as error:
        raise ConnectorError(f"{path}: {error}; if it was cut off, fetch it again") from error


def not_utf8(path: Path, at: int, reason: str) -> ConnectorError:
    """The refusal of bytes that are no UTF-8."""
    return ConnectorError(f"{path}: is not UTF-8 at byte {at} ({reason}); convert it first (iconv -t UTF-8)")


def cannot_read(path: Path, error: OSError) -> ConnectorError:
    """The refusal of a file that the system does not hand out."""
    return ConnectorError(f"{path}: cannot be read ({error.strerror or error}); check the path and its permissions")


def check_start(path: Path, start: bytes) -> None:
    """Refuse an empty file and what is recognisably something else; ``start`` are its first bytes."""
    if not start.removeprefix(_BOM).strip():
        raise ConnectorError(f"{path}: is empty; pass a file with at least one transcript")
    for magic, advice in _MAGIC.items():
        if start.startswith(magic):
            raise ConnectorError(f"{path}: {advice}")


def check_utf8(path: Path) -> int:
    """Hold the whole file to UTF-8 without loading it; the number of its lines."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = lines = 0
    chunk = b""
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                if not done:
                    check_start(path, chunk)
                decoder.decode(chunk)
                lines += chunk.count(b"\n")
                done += len(chunk)
            decoder.decode(b"", final=True)
    except OSError as error:
        raise cannot_read(path, error) from error
    except UnicodeDecodeError as error:
        # The decoder's buffer begins with what it kept of the chunk before.
        at = done + len(chunk) - len(error.object) + error.start
        raise not_utf8(path, at, error.reason) from error
    if not done:
        raise ConnectorError(f"{path}: is empty; pass a file with at least one transcript")
    return lines + 1


def read_json(data: bytes) -> object:
    """The value of a JSON text, as RFC 8785 can say it again.

    What that cannot say is kept rather than refused: a lone surrogate becomes U+FFFD, and a number that is NaN,
    infinite or beyond a double's integers becomes the text of its literal.

    Raises:
        RecordError: no JSON, duplicate keys, or nesting beyond 256; names the character.
    """
    try:
        return read(data.removeprefix(_BOM), _RULES)
    except CanonicalError as error:
        raise RecordError(f"not JSON that can be read: {error}") from error


def canonical(value: object) -> bytes:
    """The RFC 8785 bytes of a value from :func:`read_json`, or sorted JSON where it is nested too deep for that."""
    try:
        return jcs.encode(value)
    except JcsProfileError:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def record_digest(value: object) -> DigestHex:
    """Identity of a record that brings no id of its own."""
    return digests.domain_hex(Prefix.RECORD_KEY, canonical(value))


def mapping(value: object, what: str) -> Mapping[str, object]:
    """``value`` as a JSON object; raises :class:`RecordError` saying what was expected."""
    if not isinstance(value, dict):
        raise RecordError(f"{what} is {describe(value)}, not an object")
    return value


def sequence(value: object, what: str) -> list[object]:
    """``value`` as a JSON array; raises :class:`RecordError` saying what was expected."""
    if not isinstance(value, list):
        raise RecordError(f"{what} is {describe(value)}, not an array")
    return value


def optional_text(value: object) -> str | None:
    """``value`` where it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def describe(value: object) -> str:
    """What a JSON value is, in a few words."""
    if value is None:
        return "missing (null)"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "something else")


def _number(literal: str) -> int | float | str:
    match = _NUMBER.fullmatch(literal)
    if match is None:
        if literal in _NOT_JSON_NUMBERS:
            return literal
        raise CanonicalError(f"{literal[:32]!r} is no JSON value")
    if not match["fraction"]:
        value = int(literal) if len(literal) <= _MAX_INTEGER_CHARS else _MAX_INTEGER + 1
        return value if abs(value) <= _MAX_INTEGER else literal
    number = float(literal)
    if math.isinf(number) or _MAX_INTEGER < abs(number) < _FIRST_EXPONENT:
        return literal
    return number


def _text(value: str) -> str:
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


_RULES = Rules(error=CanonicalError, number=_number, text=_text, max_depth=_MAX_DEPTH)
