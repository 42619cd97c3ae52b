"""One GGUF file becomes one folder that transformers loads, once per file digest.

A conversion takes seconds and writes half a gigabyte, so it happens under a lock, in a temporary folder
beside its destination, and appears by one rename. A process killed in the middle leaves a temporary
folder that the next holder of the lock removes; a folder whose files have other sizes than its manifest
says (a copy that was cut off) is converted again.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from attribution.errors import ModelCacheError, UnsupportedModelError
from attribution.models.files import sha256_file

RECIPE = "gguf-float32-v1"
"""Changes whenever the same GGUF file would become other weights or another tokenizer."""

MANIFEST = "conversion.json"


def converted_folder(gguf: Path, cache: Path) -> Path:
    """Folder with ``gguf`` de-quantised to float32 safetensors plus its tokenizer; converts on first use.

    Args:
        gguf: the packaged or downloaded file.
        cache: where converted models live; made when absent.

    Raises:
        ModelCacheError: the cache cannot be written.
        UnsupportedModelError: transformers cannot read the file.
    """
    destination = cache / f"{sha256_file(gguf)}-{RECIPE}"
    if _is_whole(destination):
        return destination
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _exclusive(cache / f".{destination.name}.lock"):
            if not _is_whole(destination):
                _replace(destination, gguf)
    except OSError as error:
        raise ModelCacheError(
            f"cannot write the converted model to {str(cache)!r}: {error.strerror or error}; "
            "free about 600 MB there or choose another home with --home"
        ) from error
    return destination


def quantisation_of(folder: Path) -> str:
    """The note on the source's quantisation that the conversion left behind."""
    return str(json.loads((folder / MANIFEST).read_bytes())["quantisation"])


def _is_whole(folder: Path) -> bool:
    try:
        sizes = json.loads((folder / MANIFEST).read_bytes())["bytes"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return False


@contextlib.contextmanager
def _exclusive(lock: Path) -> Iterator[None]:
    with lock.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _replace(destination: Path, gguf: Path) -> None:
    for stale in destination.parent.glob(f".{destination.name}.*.partial"):
        shutil.rmtree(stale)
    partial = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", suffix=".partial", dir=destination.parent))
    try:
        note = _convert(gguf, partial)
        _write_manifest(partial, note)
        if destination.exists():
            shutil.rmtree(destination)
        partial.rename(destination)
        _sync(destination.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _write_manifest(folder: Path, quantisation: str) -> None:
    sizes = {}
    for path in sorted(folder.iterdir()):
        sizes[path.name] = path.stat().st_size
        _sync(path)
    manifest = folder / MANIFEST
    manifest.write_text(json.dumps({"recipe": RECIPE, "quantisation": quantisation, "bytes": sizes}, indent=1))
    _sync(manifest)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _convert(gguf: Path, folder: Path) -> str:
    """Write safetensors, configuration and tokenizer into ``folder``; returns the quantisation note."""
    from attribution.models.runtime import offline_transformers

    # The GGUF reader draws its own progress bar on stderr, whatever the loggers say.
    with offline_transformers() as transformers, contextlib.redirect_stderr(io.StringIO()):
        import torch

        try:
            note, pre_tokenizer = _gguf_facts(gguf)
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                gguf.parent, gguf_file=gguf.name, local_files_only=True
            )
            model = transformers.AutoModelForCausalLM.from_pretrained(
                gguf.parent, gguf_file=gguf.name, local_files_only=True, dtype=torch.float32
            )
        except (ValueError, KeyError, NotImplementedError) as error:
            raise UnsupportedModelError(
                f"transformers cannot read {str(gguf)!r} ({error}); give a safetensors folder with --model PATH"
            ) from error
        # The weights are ordinary float32 tensors by now, but the loader still calls the model quantised
        # and refuses to save it.
        model.hf_quantizer = None
        model.is_quantized = False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    if pre_tokenizer == "smollm":
        _split_digits(folder / "tokenizer.json")
    return f"{note}, de-quantised to float32"


def _gguf_facts(gguf: Path) -> tuple[str, str | None]:
    """Quantisation types by tensor count, and the name of the pre-tokenizer the file asks for."""
    from collections import Counter

    from gguf import GGUFReader

    reader = GGUFReader(gguf)
    kinds = Counter(tensor.tensor_type.name for tensor in reader.tensors)
    note = " + ".join(f"{kind} ({count})" for kind, count in sorted(kinds.items()))
    field = reader.fields.get("tokenizer.ggml.pre")
    return f"GGUF {note}", None if field is None else str(field.contents())


def _split_digits(tokenizer_json: Path) -> None:
    """Put back the digit splitting that the generic GGUF reader drops.

    SmolLM was trained with every digit apart *before* the byte-level split; without it two spaces before
    a number become two tokens the model never saw in that place.
    """
    from tokenizers import Tokenizer
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    tokenizer = Tokenizer.from_file(str(tokenizer_json))
    tokenizer.pre_tokenizer = Sequence(
        [Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.save(str(tokenizer_json))
