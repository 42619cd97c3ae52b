"""What tools give, as bytes: JSON by RFC 8785, text and bytes as they are, anything else a typed error."""

from __future__ import annotations

import math
import threading

import pytest

from ledger_core.kernel import digests
from ledger_core.kernel.content import JSON, TEXT
from ledger_core.kernel.errors import UnserialisableError
from ledger_core.sealing.results import (
    OCTETS,
    Returned,
    Spool,
    failure_content,
    result_content,
    spooled,
    timeout_content,
)


def cycle():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "data", "media_type"),
    [
        ({"b": 1.0, "a": [True, None]}, b'{"a":[true,null],"b":1}', JSON),
        ((1, 2), b"[1,2]", JSON),
        (None, b"null", JSON),
        (0.1, b"0.1", JSON),
        ("Zürich", "Zürich".encode(), TEXT),
        ("", b"", TEXT),
        (b'{"b":1, "a":2}', b'{"b":1, "a":2}', OCTETS),
        (bytearray(b"\x00\xff"), b"\x00\xff", OCTETS),
        (memoryview(b"abc"), b"abc", OCTETS),
    ],
)
def test_each_kind_of_value_has_its_bytes(value, data, media_type):
    content = result_content(Returned(value), ())
    assert (content.data, content.ref.media_type) == (data, media_type)
    assert content.ref.digest == digests.body_hex(data)


def test_bytes_have_the_media_type_that_the_tool_gives():
    assert result_content(Returned(b"x", media_type="application/pdf"), ()).ref.media_type == "application/pdf"


@pytest.mark.parametrize(
    "value",
    [object(), {1: "a"}, {"a": object()}, math.nan, math.inf, 2**60, {"a": {1, 2}}, "\ud800", {"\ud800": 1}, cycle()],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_bytes_is_a_typed_error_that_says_what_to_give(value):
    with pytest.raises(UnserialisableError, match=r"the result cannot be sealed: .*; give"):
        result_content(Returned(value), ())


def test_a_stream_is_read_to_its_end_and_has_the_digest_of_its_bytes():
    returned = spooled(Returned(iter([b"ab", bytearray(b"c"), b"d" * 3_000_000])), (), threading.Event())
    content = result_content(returned, ())
    data = b"abc" + b"d" * 3_000_000
    assert isinstance(content.data, Spool)
    assert (content.ref.byte_length, content.ref.digest) == (len(data), digests.body_hex(data))
    assert b"".join(content.data.chunks()) == data
    assert b"".join(content.data.chunks()) == data


def test_a_stream_of_something_else_than_bytes_is_refused():
    with pytest.raises(UnserialisableError, match="yields bytes, not str"):
        spooled(Returned(iter([b"ab", "cd"])), (), threading.Event())


def test_a_stream_that_nobody_waits_for_is_read_no_further():
    stop = threading.Event()
    given = []

    def endless():
        while True:
            given.append(1)
            if len(given) == 3:
                stop.set()
            yield b"x"

    spooled(Returned(endless()), (), stop)
    assert len(given) == 3


def test_a_failure_is_its_type_and_the_beginning_of_its_message():
    content = failure_content(KeyError("no such page"), ())
    assert content.data == b'{"error":{"message":"\'no such page\'","type":"KeyError"}}'
    assert len(failure_content(ValueError("x" * 9_999), ()).data) == 2_000 + len(
        '{"error":{"message":"","type":"ValueError"}}'
    )


def test_a_failure_that_cannot_be_shown_is_still_one():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    assert b'"message":""' in failure_content(MuteError(), ()).data
    assert b"\\\\ud800" in failure_content(ValueError("\ud800"), ()).data


def test_a_secret_in_a_failure_is_redacted():
    assert b"s3cret-value-1" not in failure_content(ValueError("401 for s3cret-value-1"), ("s3cret-value-1",)).data


def test_a_timeout_says_how_long_was_waited():
    assert timeout_content(2.5).data == b'{"error":{"message":"no result within 2.5 s","type":"Timeout"}}'
