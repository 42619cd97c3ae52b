"""Secrets out of values and streams: none survives, and what holds none is the same bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_core.kernel import jcs
from ledger_core.kernel.content import JSON, TEXT
from ledger_core.sealing.scrub import StreamScrubber, scrub_bytes, scrub_json, scrub_text

KEY = "AKIAIOSFODNN7EXAMPLE"
PASSWORD = "hunter2-correct-horse9"

pytestmark = pytest.mark.invariant("EVID-05")


def stream(data, sizes, *, window=64, margin=96, known=()):
    scrubber = StreamScrubber(known, window, margin)
    out = bytearray()
    place = 0
    while place < len(data):
        size = sizes[place % len(sizes)]
        for clean in scrubber.feed(data[place : place + size]):
            out += clean
        place += size
    return bytes(out + scrubber.close())


def test_json_stays_canonical_json():
    found = scrub_json(jcs.encode({"key": KEY, "n": 1.5, "password": 12345678}))
    assert found.media_type == JSON
    assert found.is_changed
    value = jcs.parse(found.data)
    assert KEY not in str(value)
    assert value["n"] == 1.5
    assert str(value["password"]).startswith("[REDACTED:")
    assert jcs.encode(value) == found.data


def test_json_without_secrets_is_the_same_bytes():
    data = jcs.encode({"a": [1, "zwölf", None]})
    assert scrub_json(data).data is data
    assert not scrub_json(data).is_changed


def test_two_secret_keys_that_become_one_are_withheld_whole():
    found = scrub_json(jcs.encode({KEY: 1, KEY[:-1] + "F": 2}))
    assert (found.data, found.media_type, found.is_changed) == (b"[WITHHELD:secrets-v1]", TEXT, True)


def test_text_says_whether_anything_was_taken_out():
    assert (scrub_text("plain").is_changed, scrub_text(f"{KEY} plain").is_changed) == (False, True)


def test_a_known_value_is_found_where_nothing_gives_it_away():
    assert scrub_text("it said correcthorsebattery", ("correcthorsebattery",)).data == b"it said [REDACTED:repeated]"
    assert b"correcthorse" not in scrub_json(b'{"a":"correcthorsebattery"}', ("correcthorsebattery",)).data


def test_bytes_that_are_no_utf8_pass_through_and_are_still_looked_through():
    data = bytes(range(256)) * 4
    assert scrub_bytes(data, "image/x").data == data
    assert not scrub_bytes(data, "image/x").is_changed
    found = scrub_bytes(b"\xff\xfe " + KEY.encode() + b" \xff", "image/x")
    assert found.data == b"\xff\xfe [REDACTED:aws-access-key] \xff" or KEY.encode() not in found.data
    assert found.data.startswith(b"\xff\xfe ")
    assert found.data.endswith(b" \xff")
    assert found.media_type == "image/x"


@settings(max_examples=60, deadline=None)
@given(
    before=st.text(st.characters(codec="utf-8"), max_size=200),
    after=st.text(st.characters(codec="utf-8"), max_size=200),
    sizes=st.lists(st.integers(1, 90), min_size=1, max_size=5),
    secret=st.sampled_from([f" {KEY} ", f"\npassword: {PASSWORD}\n", f'{{"api_key":"{PASSWORD}"}}']),
)
def test_no_secret_survives_a_stream_however_it_is_cut(before, after, sizes, secret):
    out = stream((before + " " + secret + " " + after).encode(), sizes)
    assert KEY.encode() not in out
    assert PASSWORD.encode() not in out


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=600), sizes=st.lists(st.integers(1, 90), min_size=1, max_size=5))
def test_a_stream_without_secrets_is_the_same_bytes(data, sizes):
    if scrub_bytes(data, TEXT).is_changed:
        return
    assert stream(data, sizes) == data


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.sampled_from("aé€😀 \n"), min_size=100, max_size=400),
    sizes=st.lists(st.integers(1, 90), min_size=1, max_size=5),
)
def test_no_character_is_cut_in_two(text, sizes):
    assert stream(text.encode(), sizes).decode() == text


def test_a_name_and_its_value_on_two_sides_of_a_cut_are_seen_together():
    for lead in range(40, 110):
        data = ("x" * lead + f"\npassword = {PASSWORD}\n" + "y" * 200).encode()
        assert PASSWORD.encode() not in stream(data, [7])


def test_a_value_found_once_is_a_secret_for_the_rest_of_the_stream():
    data = (f"password: {PASSWORD}\n" + "z" * 500 + f" {PASSWORD} " + "z" * 100).encode()
    assert PASSWORD.encode() not in stream(data, [50])


def test_a_stream_shorter_than_a_window_is_cleaned_as_a_whole():
    scrubber = StreamScrubber()
    assert list(scrubber.feed(b'{"password":12345678')) == []
    assert list(scrubber.feed(b"}")) == []
    assert jcs.parse(scrubber.close())["password"].startswith("[REDACTED:")
