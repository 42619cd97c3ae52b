"""Inspect logs of our own making: zips, attachments, times, errors."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger_core.connectors import import_transcripts
from ledger_core.kernel.errors import ConnectorError
from ledger_core.stores import Ledger

HEADER = {"version": 2, "status": "success", "eval": {"model": "openai/m", "task": "t"}}


def sample(number: int = 1, **more: object) -> dict[str, Any]:
    call = {"id": "call_a", "function": "look", "arguments": {"at": "attachment://9f"}, "type": "function"}
    return {
        "id": number,
        "epoch": 1,
        "uuid": f"uuid-{number}",
        "messages": [
            {"id": "m0", "role": "user", "content": "attachment://8e"},
            {"id": "m1", "role": "assistant", "content": "", "tool_calls": [call]},
            {"id": "m2", "role": "tool", "tool_call_id": "call_a", "function": "look", "content": "Seen."},
            {"id": "m3", "role": "assistant", "model": "other", "content": [{"type": "text", "text": "I saw it."}]},
        ],
        "attachments": {"8e": "A long question.", "9f": "the sky"},
        "events": [
            {
                "event": "model",
                "timestamp": "2025-05-12T20:27:38.462180-04:00",
                "completed": "2025-05-12T20:27:39.697159-04:00",
                "output": {"choices": [{"message": {"id": "m1"}}]},
            },
            {"event": "tool", "id": "call_a", "timestamp": "2025-05-12T20:27:40-04:00"},
            {"event": "model", "timestamp": "2025-05-12T20:27:41", "output": {"choices": [{"message": {"id": "m3"}}]}},
        ],
        **more,
    }


def write_zip(path: Path, *, method: int = zipfile.ZIP_DEFLATED, **entries: object) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in entries.items():
            archive.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def bodies(ledger: Ledger, kind: str) -> list[Any]:
    return [event.statement for event in ledger.events() if event.statement.kind == kind]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_and_a_document_of_the_same_samples_are_the_same_records(
    ledger: Ledger, tmp_path: Path, method: int
) -> None:
    document = tmp_path / "log.json"
    document.write_text(json.dumps({**HEADER, "samples": [sample(1), sample(2)]}))
    archive = write_zip(
        tmp_path / "log.eval",
        method=method,
        **{"header.json": HEADER, "samples/1_epoch_1.json": sample(1), "samples/2_epoch_1.json": sample(2)},
    )
    assert import_transcripts(ledger, "inspect", document).records == 2
    again = import_transcripts(ledger, "inspect", archive)
    assert (again.records, again.fresh, again.rejects) == (2, 0, ())


def test_attachments_are_what_was_said(ledger: Ledger, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", **{"_journal/start.json": HEADER, "samples/1.json": sample()})
    import_transcripts(ledger, "inspect", path)
    assert ledger.read_blob(bodies(ledger, "entry.given")[0].body.content) == b"A long question."
    assert ledger.read_blob(bodies(ledger, "seal.minted")[0].body.args) == b'{"at":"the sky"}'


@pytest.mark.invariant("EVID-03")
def test_times_and_models_come_from_the_log(ledger: Ledger, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", **{"header.json": HEADER, "samples/1.json": sample()})
    import_transcripts(ledger, "inspect", path)
    first, last = bodies(ledger, "generation.recorded")
    assert (first.occurred_at, first.observed_at) == (
        "2025-05-13T00:27:38.462180000Z",
        "2025-05-13T00:27:39.697159000Z",
    )
    assert first.body.model == "openai/m"
    (seal,) = bodies(ledger, "seal.minted")
    assert (seal.occurred_at, seal.observed_at) == ("2025-05-13T00:27:40.000000000Z", None)
    # A time without an offset from UTC is no instant.
    assert (last.occurred_at, last.body.model) == (None, "other")
    assert bodies(ledger, "entry.given")[0].occurred_at is None


def test_an_event_id_that_occurs_twice_dates_nothing(ledger: Ledger, tmp_path: Path) -> None:
    twice = sample()
    twice["events"].append({"event": "tool", "id": "call_a", "timestamp": "2025-05-12T21:00:00-04:00"})
    import_transcripts(ledger, "inspect", write_zip(tmp_path / "x", **{"header.json": HEADER, "samples/1.json": twice}))
    assert bodies(ledger, "seal.minted")[0].occurred_at is None


@pytest.mark.parametrize(
    ("error", "content", "outcome", "shown"),
    [
        ({"type": "timeout", "message": "too slow"}, "", "timeout", b"too slow"),
        ({"type": "permission", "message": "no"}, "partial", "error", b"partial"),
        (None, "fine", "ok", b"fine"),
    ],
)
def test_a_failed_call_shows_what_the_model_was_shown(
    ledger: Ledger, tmp_path: Path, error: object, content: str, outcome: str, shown: bytes
) -> None:
    message = {"role": "tool", "tool_call_id": "c", "function": "bash", "content": content, "error": error}
    path = write_zip(tmp_path / "x", **{"header.json": HEADER, "samples/1.json": sample(messages=[message])})
    import_transcripts(ledger, "inspect", path)
    (seal,) = bodies(ledger, "seal.minted")
    assert (seal.body.outcome, ledger.read_blob(seal.body.result)) == (outcome, shown)


def test_samples_without_uuid_are_known_by_their_content(ledger: Ledger, tmp_path: Path) -> None:
    old = [sample(1, uuid=None), sample(2, uuid=None)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": old}))
    assert import_transcripts(ledger, "inspect", path).records == 2
    path.write_text(json.dumps({**HEADER, "samples": [*reversed(old), sample(3, uuid=None)]}))
    report = import_transcripts(ledger, "inspect", path)
    assert (report.records, report.replayed) == (3, 2 * report.fresh)


def test_broken_samples_are_rejected_by_name_and_the_rest_is_imported(ledger: Ledger, tmp_path: Path) -> None:
    path = write_zip(
        tmp_path / "x",
        **{
            "header.json": HEADER,
            "samples/1.json": sample(),
            "samples/2.json": b'{"id": 2, "mess',
            "samples/3.json": sample(3, messages=None),
            "samples/4.json": [],
            "samples/5.json": b"\xff",
        },
    )
    report = import_transcripts(ledger, "inspect", path)
    assert report.records == 1
    assert [(reject.place, reject.reason.partition(":")[0]) for reject in report.rejects] == [
        ("samples/2.json", "not JSON that can be read"),
        ("samples/3.json (id 3, epoch 1)", "holds no messages"),
        ("samples/4.json", "the sample is an array, not an object"),
        ("samples/5.json", "not JSON that can be read"),
    ]


def test_a_damaged_entry_is_rejected(ledger: Ledger, tmp_path: Path) -> None:
    path = write_zip(
        tmp_path / "x",
        method=zipfile.ZIP_STORED,
        **{"header.json": HEADER, "samples/1.json": sample(1), "samples/2.json": sample(2)},
    )
    data = path.read_bytes()
    path.write_bytes(data.replace(b"I saw it.", b"I saw if.", 1))
    report = import_transcripts(ledger, "inspect", path)
    assert report.records == 1
    assert report.rejects[0].place == "samples/1.json"
    assert "Bad CRC-32" in report.rejects[0].reason


def test_an_unsupported_packing_names_the_way_out(ledger: Ledger, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", method=zipfile.ZIP_STORED, **{"header.json": HEADER, "samples/1.json": sample()})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):  # the method in local and central headers
        at = data.rfind(signature)
        data[at + offset : at + offset + 2] = (93).to_bytes(2, "little")
    path.write_bytes(data)
    report = import_transcripts(ledger, "inspect", path)
    assert report.rejects[0].reason.startswith("is packed by zip method 93, which is not supported; `inspect log")


Make = Callable[[Path], object]
REFUSED: list[tuple[Make, str]] = [
    (lambda path: path.write_text("[]"), "is no Inspect log: the document is an array"),
    (lambda path: path.write_text('{"a": 1}'), "is no Inspect log: `eval` is missing"),
    (lambda path: path.write_text(json.dumps({**HEADER, "samples": 5})), "`samples` is a number"),
    (lambda path: path.write_text(json.dumps(HEADER)), "holds no samples (log version 2, status success)"),
    (lambda path: path.write_bytes(b"PK\x03\x04 cut"), "is a broken zip"),
    (lambda path: write_zip(path, other=b"x"), "is a zip without header.json or _journal/start.json"),
    (lambda path: write_zip(path, **{"header.json": b"{"}), "header.json: not JSON that can be read"),
    (lambda path: write_zip(path, **{"header.json": HEADER}), "holds no samples"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED)
def test_what_is_no_log_is_refused(ledger: Ledger, tmp_path: Path, make: Make, reason: str) -> None:
    path = tmp_path / "log"
    make(path)
    with pytest.raises(ConnectorError) as refused:
        import_transcripts(ledger, "inspect", path)
    assert str(refused.value).startswith(f"{path}: ")
    assert reason in str(refused.value)
    assert ledger.count() == 0


def test_every_cut_of_a_zip_is_refused_or_rejected(ledger: Ledger, tmp_path: Path) -> None:
    whole = write_zip(tmp_path / "x", **{"header.json": HEADER, "samples/1.json": sample()}).read_bytes()
    path = tmp_path / "cut"
    for length in range(1, len(whole) - 1, 37):
        path.write_bytes(whole[:length])
        with pytest.raises(ConnectorError):
            import_transcripts(ledger, "inspect", path)
    assert ledger.count() == 0
