"""What other people's writers put into JSON although it is none: as docs/connectors.md says, kept as text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger_core.connectors import import_transcripts
from ledger_core.stores import Ledger

Write = Callable[..., Path]


def _said(content: str) -> bytes:
    """A conversation whose one answer is the JSON value ``content``, written as it stands."""
    return (
        b'{"messages": [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": %s}]}'
        % content.encode()
    )


def _texts(ledger: Ledger) -> list[str]:
    bodies = [event.statement.body for event in ledger.events() if event.statement.kind == "generation.recorded"]
    return [ledger.read_blob(body.response).decode() for body in bodies]


def _arguments(ledger: Ledger) -> list[object]:
    claims = [event.statement.body for event in ledger.events() if event.statement.kind == "entry.conjectured"]
    return [json.loads(ledger.read_blob(body.content))["arguments"]["x"] for body in claims]


@pytest.mark.parametrize(
    ("literal", "kept"),
    [
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("1e999", "1e999"),
        ("123456789012345678901", "123456789012345678901"),
        ("9007199254740993", "9007199254740993"),
        ("9007199254740991", 9007199254740991),
        ("1e300", 1e300),
        (r'"a\ud800b"', "a\ufffdb"),
        (r'"\udc00"', "\ufffd"),
        (r'"\ud83d\ude00"', "\U0001f600"),
    ],
)
def test_a_value_that_json_cannot_say_is_kept_as_text(ledger: Ledger, jsonl: Write, literal: str, kept: object):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"x": "@"}}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    line = json.dumps({"messages": [{"role": "user", "content": "Go."}, said]})
    path = jsonl(line.replace('"@"', literal).encode())
    first = import_transcripts(ledger, "chat", path)
    assert (first.records, first.rejects) == (1, ())
    assert _arguments(ledger) == [kept]
    assert import_transcripts(ledger, "chat", path).fresh == 0


def test_a_score_that_is_no_number_costs_no_conversation(ledger: Ledger, jsonl: Write):
    scored = _said('"North."')[:-1] + b', "score": NaN, "weights": [Infinity, -Infinity]}'
    report = import_transcripts(ledger, "chat", jsonl(scored, _said('"South."')))
    assert (report.records, report.rejects) == (2, ())
    assert _texts(ledger) == ["North.", "South."]


def test_equal_as_kept_is_equal_and_both_come_in(ledger: Ledger, jsonl: Write):
    bare, quoted = (_said('"North."')[:-1] + b', "score": %s}' % score for score in (b"NaN", b'"NaN"'))
    report = import_transcripts(ledger, "chat", jsonl(bare, quoted))
    assert (report.records, report.fresh) == (2, 2 * 3)
    # Two equal records in a file are the first and the second of their kind, in whatever spelling they return.
    assert import_transcripts(ledger, "chat", jsonl(quoted, bare, name="again.jsonl")).fresh == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"messages": [], "messages": []}', "messages"),
        (b"[" * 300 + b"]" * 300, "256"),
        (b'{"messages": [nan]}', "'nan'"),
        (b'{"messages": [+1]}', "+"),
        (b'{"messages": [.5]}', "."),
        (b'{"messages": [01]}', "01"),
    ],
)
def test_anything_else_is_rejected_with_its_place(ledger: Ledger, jsonl: Write, line: bytes, complaint: str):
    report = import_transcripts(ledger, "chat", jsonl(_said('"North."'), line))
    assert (report.records, [reject.place for reject in report.rejects]) == (1, ["line 2"])
    assert complaint in report.rejects[0].reason
