"""What every blob store does, whatever it is made of."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import BlobError
from ledger_core.stores.protocols import BlobStatus


def test_bytes_come_back_under_their_body_digest(blobs):
    data = "Größe\n\x00".encode()
    digest = hashlib.sha256(b"ostk-body-v1" + len(data).to_bytes(8, "big") + data).hexdigest()
    assert blobs.put(data) == digest
    assert blobs.put(data) == digest
    ref = content_ref(data, TEXT)
    assert ref.digest == digest
    assert blobs.read(ref) == data
    assert blobs.status(ref) is BlobStatus.PRESENT
    blobs.require_durable(ref)


def test_the_empty_blob_is_a_blob(blobs):
    blobs.put(b"")
    assert blobs.read(content_ref(b"", TEXT)) == b""


def test_many_at_once_are_the_same_as_one_by_one(blobs):
    many = [b"a", b"b", b"a", b"c" * 100_000]
    assert blobs.put_all(many) == tuple(content_ref(data, TEXT).digest for data in many)
    for data in many:
        assert blobs.read(content_ref(data, TEXT)) == data
    assert blobs.put_all([]) == ()


def test_a_stream_is_the_same_blob_as_its_bytes(blobs):
    data = bytes(range(256)) * 5_000
    ref = content_ref(data, TEXT)
    pieces = (data[start : start + 65_537] for start in range(0, len(data), 65_537))
    assert blobs.put_stream(pieces) == (ref.digest, len(data))
    assert blobs.read(ref) == data
    assert blobs.put(data) == ref.digest
    assert blobs.put_stream(iter([data])) == (ref.digest, len(data))
    assert blobs.put_stream([]) == (content_ref(b"", TEXT).digest, 0)
    assert blobs.status(content_ref(b"", TEXT)) is BlobStatus.PRESENT
    blobs.require_durable(ref)


def test_a_stream_that_breaks_off_leaves_nothing(blobs, tmp_path):
    def pieces():
        yield b"half a "
        raise ConnectionResetError("peer went away")

    with pytest.raises(ConnectionResetError, match="peer went away"):
        blobs.put_stream(pieces())
    for said in (b"half a ", b""):
        assert blobs.status(content_ref(said, TEXT)) is BlobStatus.MISSING
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_erased_stream_is_refused_and_leaves_nothing(blobs, tmp_path):
    blobs.erase(content_ref(b"private", TEXT).digest)
    with pytest.raises(BlobError, match="may not be stored again"):
        blobs.put_stream([b"pri", b"vate"])
    assert not [path for path in tmp_path.rglob("tmp/*") if path.is_file()]


def test_a_stream_is_not_held_in_memory(stored_blobs):
    piece, count = bytes(1 << 16), 512
    tracemalloc.start()
    try:
        digest, length = stored_blobs.put_stream(piece for _ in range(count))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (digest, length) == (content_ref(piece * count, TEXT).digest, count << 16)
    assert peak < length / 8


def test_missing_content_is_named_as_missing(blobs):
    ref = content_ref(b"nowhere", TEXT)
    assert blobs.status(ref) is BlobStatus.MISSING
    with pytest.raises(BlobError, match=f"{ref.digest}.*is missing: put the bytes first"):
        blobs.read(ref)
    with pytest.raises(BlobError, match="missing"):
        blobs.require_durable(ref)


def test_a_reference_that_lies_about_its_length_is_corrupt(blobs):
    blobs.put(b"four")
    ref = content_ref(b"four", TEXT).model_copy(update={"byte_length": 5})
    assert blobs.status(ref) is BlobStatus.CORRUPT
    with pytest.raises(BlobError, match="corrupt"):
        blobs.read(ref)


def test_erased_content_is_gone_and_stays_away(blobs):
    ref = content_ref(b"private", TEXT)
    blobs.put(b"private")
    blobs.erase(ref.digest)
    assert blobs.status(ref) is BlobStatus.ERASED
    with pytest.raises(BlobError, match="erased on purpose"):
        blobs.read(ref)
    with pytest.raises(BlobError, match="may not be stored again"):
        blobs.put(b"private")
    with pytest.raises(BlobError, match="may not be stored again"):
        blobs.put_all([b"other", b"private"])
    blobs.require_durable(ref)
    blobs.erase(ref.digest)
    assert blobs.status(ref) is BlobStatus.ERASED


def test_what_never_was_there_can_be_refused_in_advance(blobs):
    blobs.erase(content_ref(b"never", TEXT).digest)
    with pytest.raises(BlobError, match="erased"):
        blobs.put(b"never")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=64), max_size=6))
def test_any_bytes_come_back(blobs, many):
    for data, digest in zip(many, blobs.put_all(many), strict=True):
        assert digest == content_ref(data, TEXT).digest
        assert blobs.read(content_ref(data, TEXT)) == data
