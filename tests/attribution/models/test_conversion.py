from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from attribution.errors import ModelCacheError, UnsupportedModelError
from attribution.models import conversion, resolve_model
from attribution.models.files import sha256_file


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "some.gguf"
    path.write_bytes(b"GGUF weights")
    return path


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Replaces the expensive step by one that writes two small files, and counts it."""
    done: list[Path] = []

    def convert(_gguf: Path, folder: Path) -> str:
        (folder / "model.safetensors").write_bytes(b"w" * 100)
        (folder / "tokenizer.json").write_bytes(b"{}")
        done.append(folder)
        return "GGUF Q4_1 (1), de-quantised to float32"

    monkeypatch.setattr(conversion, "_convert", convert)
    return done


def test_converts_once_into_a_folder_named_by_the_file(gguf, conversions, tmp_path):
    cache = tmp_path / "cache"
    first = conversion.converted_folder(gguf, cache)
    assert conversion.converted_folder(gguf, cache) == first
    assert len(conversions) == 1
    assert first.name == f"{sha256_file(gguf)}-gguf-float32-v1"
    assert conversion.quantisation_of(first) == "GGUF Q4_1 (1), de-quantised to float32"
    assert json.loads((first / "conversion.json").read_text())["bytes"] == {
        "model.safetensors": 100,
        "tokenizer.json": 2,
    }


def test_resolving_a_gguf_file_names_source_weights(gguf, conversions, tmp_path):
    files = resolve_model(str(gguf), tmp_path / "cache")
    assert (files.name, files.file_name, files.weights_digest) == ("some", gguf.name, sha256_file(gguf))
    assert files.path == conversions[0].parent / f"{sha256_file(gguf)}-gguf-float32-v1"


def test_a_cut_off_copy_is_converted_again(gguf, conversions, tmp_path):
    folder = conversion.converted_folder(gguf, tmp_path / "cache")
    (folder / "model.safetensors").write_bytes(b"w" * 99)
    assert conversion.converted_folder(gguf, tmp_path / "cache") == folder
    assert (folder / "model.safetensors").read_bytes() == b"w" * 100
    assert len(conversions) == 2


def test_leftovers_of_a_killed_conversion_are_removed(gguf, conversions, tmp_path):
    cache = tmp_path / "cache"
    stale = cache / f".{sha256_file(gguf)}-gguf-float32-v1.abc.partial"
    stale.mkdir(parents=True)
    (stale / "model.safetensors").write_bytes(b"half")
    conversion.converted_folder(gguf, cache)
    assert len(conversions) == 1
    assert not stale.exists()


def test_a_failed_conversion_leaves_nothing(gguf, monkeypatch, tmp_path):
    def fail(_gguf: Path, folder: Path) -> str:
        (folder / "model.safetensors").write_bytes(b"half")
        raise UnsupportedModelError("cannot")

    monkeypatch.setattr(conversion, "_convert", fail)
    with pytest.raises(UnsupportedModelError):
        conversion.converted_folder(gguf, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == []


def test_a_kill_between_writing_and_renaming_leaves_no_model(gguf, conversions, tmp_path):
    cache = tmp_path / "cache"
    child = os.fork()
    if child == 0:
        conversion._write_manifest = lambda *_: os._exit(9)
        conversion.converted_folder(gguf, cache)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(list(cache.glob(".*.partial"))) == 1
    assert not (cache / f"{sha256_file(gguf)}-gguf-float32-v1").exists()
    whole = conversion.converted_folder(gguf, cache)
    assert (whole / "model.safetensors").stat().st_size == 100
    assert list(cache.glob(".*.partial")) == []
    assert len(conversions) == 1


def test_two_processes_convert_once_and_agree(gguf, tmp_path):
    cache, marks = tmp_path / "cache", tmp_path / "marks"
    marks.mkdir()

    def convert(_gguf: Path, folder: Path) -> str:
        (marks / str(os.getpid())).touch()
        time.sleep(0.2)
        (folder / "model.safetensors").write_bytes(b"w" * 100)
        return "note"

    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            conversion._convert = convert
            conversion.converted_folder(gguf, cache)
            os._exit(0)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0, 0]
    assert len(list(marks.iterdir())) == 1
    assert conversion.quantisation_of(conversion.converted_folder(gguf, cache)) == "note"


def test_an_unwritable_cache_names_the_folder_and_the_way_out(gguf, conversions, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(ModelCacheError, match=r"cache.*--home"):
        conversion.converted_folder(gguf, tmp_path / "cache")
    assert conversions == []


def test_a_broken_gguf_is_refused_by_name(gguf, tmp_path):
    with pytest.raises(UnsupportedModelError, match=r"some\.gguf"):
        conversion.converted_folder(gguf, tmp_path / "cache")
