from __future__ import annotations

import os

import pytest

from ledger_core.stores.files import write_whole


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_made_with_its_folder_and_replaced_whole(tmp_path, durable):
    path = tmp_path / "new" / "file"
    for content in (b"first, and longer", b"second"):
        write_whole(path, content, durable=durable)
        assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"before")

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
