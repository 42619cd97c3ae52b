"""`veritas attribute --text`: what one response rests on, from files and without a ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from pipelines.settings import Settings


def attribute_files(
    settings: Settings, text: Path, query: str, response: Path | None, html: Path | None, *, as_json: bool
) -> None:
    """Attribute one response and print it.

    Args:
        settings: model, threads and cache.
        text: the context; each of its sentences is a source.
        query: the question.
        response: the response; None lets the model write one.
        html: where to write the page, if anywhere.
        as_json: one object a claim and source instead of the heat map.

    Raises:
        UsageError: a file that cannot be read or is not UTF-8, or an input that cannot be attributed.
    """
    from attribution import attribute
    from attribution.errors import ContextWindowError, InputError

    context = _read(text, "--text")
    said = None if response is None else _read(response, "--response")
    if html is not None and not html.parent.is_dir():
        raise UsageError(f"--html {html}: there is no folder {html.parent}; make it first")
    try:
        found = attribute(
            context, query, said, model=settings.model, threads=settings.threads, cache=settings.cache / "models"
        )
    except (InputError, ContextWindowError) as error:
        raise UsageError(str(error)) from error
    if as_json:
        for row in found.rows():
            typer.echo(json.dumps(row, ensure_ascii=True, sort_keys=True))
    else:
        if found.generated:
            typer.echo(f"{found.response}\n")
        found.show()
    if html is not None:
        html.write_text(found.to_html(), encoding="utf-8")


def _read(path: Path, option: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
