"""Inspect evaluation logs: one JSON document, or a zip (`.eval`) with one JSON entry a sample.

Source: inspect_ai `log/_log.py` (`EvalLog`, `EvalSample`). The content decides which of the two a file is, not its name.
A sample's own id is its uuid and epoch; logs from before uuids have none. Times come from the sample's events.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ledger_core.connectors.inspect_times import Times, times_of
from ledger_core.connectors.messages import Dialect, read_messages
from ledger_core.connectors.reading import (
    load,
    load_json,
    mapping,
    optional_text,
    read_json,
    record_digest,
    sequence,
)
from ledger_core.connectors.transcript import Message, Outcome, Reading, RecordError, Reject, TranscriptRecord
from ledger_core.kernel.errors import ConnectorError

_ZIP = b"PK"
_ATTACHMENT = "attachment://"
_SAMPLES = "samples/"
_HEADERS = ("header.json", "_journal/start.json")
"""Where a zip says what was run; a run that crashed has only the journal."""
_MAX_ENTRY = 1 << 30
"""Bytes of one unpacked zip entry: more is a bomb or nothing that fits in memory."""


@dataclass(frozen=True, slots=True)
class Log:
    """An opened log."""

    header: Mapping[str, object]
    """Everything but the samples."""
    total: int
    """Samples in it."""
    samples: Iterator[tuple[str, object] | Reject]
    """(place, JSON value) of each sample; a zip's entry that cannot be unpacked or is no JSON is a reject."""


def open_log(path: Path) -> Log:
    """The log at ``path``, whatever its samples are.

    Raises:
        ConnectorError: a file that is missing, empty, cut off, or no Inspect log.
    """
    data = load(path)
    return _open_zip(path, data) if data.startswith(_ZIP) else _open_document(path, data)


def read_inspect(path: Path) -> Reading:
    """The samples of ``path``; one that cannot be read is rejected with its id.

    Raises:
        ConnectorError: a file that is missing, empty, cut off, no Inspect log, or without samples.
    """
    log = open_log(path)
    if not log.total:
        raise _without_samples(path, log.header)
    model = optional_text(mapping(log.header["eval"], "`eval`").get("model"))
    return Reading(
        log.total, (item if isinstance(item, Reject) else _sample(item[1], item[0], model) for item in log.samples)
    )


def _open_document(path: Path, data: bytes) -> Log:
    value = load_json(path, data)
    try:
        log = mapping(value, "the document")
        mapping(log.get("eval"), "`eval`")
        samples = sequence(log.get("samples") or [], "`samples`")
    except RecordError as error:
        raise ConnectorError(f"{path}: is no Inspect log: {error}; name the file's own format") from error
    header = {name: part for name, part in log.items() if name != "samples"}
    return Log(header, len(samples), ((f"sample {i}", sample) for i, sample in enumerate(samples)))


def _open_zip(path: Path, data: bytes) -> Log:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise ConnectorError(f"{path}: is a broken zip ({error}); if it was cut off, fetch it again") from error
    entries = archive.infolist()
    header = next((entry for name in _HEADERS for entry in entries if entry.filename == name), None)
    if header is None:
        raise ConnectorError(f"{path}: is a zip without {' or '.join(_HEADERS)}, so no Inspect log")
    try:
        log = mapping(read_json(_unpacked(archive, header)), header.filename)
        mapping(log.get("eval"), "`eval`")
    except RecordError as error:
        raise ConnectorError(f"{path}: {header.filename}: {error}; if it was damaged, fetch it again") from error
    samples = [entry for entry in entries if entry.filename.startswith(_SAMPLES) and not entry.is_dir()]
    return Log(log, len(samples), (_entry(archive, entry) for entry in samples))


def _without_samples(path: Path, log: Mapping[str, object]) -> ConnectorError:
    return ConnectorError(
        f"{path}: holds no samples (log version {log.get('version')}, status {log.get('status')}); "
        "pass a log that was written with samples"
    )


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[str, object] | Reject:
    try:
        return entry.filename, read_json(_unpacked(archive, entry))
    except RecordError as error:
        return Reject(entry.filename, str(error))


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.file_size > _MAX_ENTRY:
        raise RecordError(f"unpacks to {entry.file_size} bytes, over the limit of {_MAX_ENTRY}")
    try:
        return archive.read(entry)
    except NotImplementedError as error:
        raise RecordError(
            f"is packed by zip method {entry.compress_type}, which is not supported; `inspect log convert` it to .json"
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError) as error:
        raise RecordError(f"cannot be unpacked ({error})") from error


def _sample(value: object, place: str, model: str | None) -> TranscriptRecord | Reject:
    try:
        sample = mapping(value, "the sample")
        place = f"{place} (id {sample.get('id')!s:.64}, epoch {sample.get('epoch')!s:.16})"
        return TranscriptRecord(
            place=place, own_id=_own_id(sample), digest=record_digest(sample), messages=_messages(sample, model)
        )
    except RecordError as error:
        return Reject(place, str(error))


def _own_id(sample: Mapping[str, object]) -> tuple[str, ...] | None:
    uuid, epoch = optional_text(sample.get("uuid")), sample.get("epoch")
    return (uuid, str(epoch)) if uuid is not None and isinstance(epoch, int) else None


def _messages(sample: Mapping[str, object], model: str | None) -> tuple[Message, ...]:
    raw = sequence(_attached(sample.get("messages") or [], sample), "`messages`")
    times = times_of(sample)
    return tuple(
        _completed(message, mapping(item, "a message"), times, model)
        for message, item in zip(read_messages(raw, _DIALECT), raw, strict=True)
    )


def _completed(message: Message, item: Mapping[str, object], times: Times, model: str | None) -> Message:
    """``message`` with the log's model and the times of the event that made it."""
    if message.role == "assistant":
        occurred_at, observed_at = times.of_message(optional_text(item.get("id")))
        return replace(message, model=message.model or model, occurred_at=occurred_at, observed_at=observed_at)
    if message.role == "tool":
        occurred_at, observed_at = times.of_call(message.answers)
        return replace(message, occurred_at=occurred_at, observed_at=observed_at)
    return message


def _attached(value: object, sample: Mapping[str, object]) -> object:
    """``value`` with every reference to an attachment of the sample replaced by what is attached."""
    attachments = sample.get("attachments")
    if not isinstance(attachments, dict) or not attachments:
        return value
    return _resolved(value, attachments)


def _resolved(value: object, attachments: Mapping[str, object]) -> object:
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_resolved(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, attachments) for key, item in value.items()}
    return value


def _error(message: Mapping[str, object]) -> Mapping[str, object]:
    error = message.get("error")
    return error if isinstance(error, dict) else {}


def _outcome(message: Mapping[str, object], _text: str) -> Outcome:
    if not _error(message) and not message.get("tool_error"):
        return "ok"
    return "timeout" if _error(message).get("type") == "timeout" else "error"


def _content(message: Mapping[str, object]) -> object:
    """What the model was shown: of a failed call without output, the error's message."""
    return message.get("content") or _error(message).get("message") or message.get("tool_error")


_DIALECT = Dialect(outcome=_outcome, text=_content)
