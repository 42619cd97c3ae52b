"""A file of other people's records, held to the fields its format has: a field nobody knows is refused by name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import unicodedata2
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.errors import ScenarioError
from ledger_core.connectors.reading import load, read_json
from ledger_core.connectors.transcript import RecordError
from ledger_core.kernel.errors import ConnectorError

_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_LENGTH = 48
_DIGITS = 8


class Row(BaseModel):
    """Base of one record as a format states it; closed, so that no field is passed over in silence."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=False)


RowT = TypeVar("RowT", bound=Row)


class Unusable(Exception):  # noqa: N818 - not an error: the record is sound and no scenario can be made of it
    """A sound record of which no scenario can be made, and why."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that has been read."""

    name: str
    digest: str
    """SHA-256 of the file."""
    rows: tuple[tuple[str, object], ...]
    """(place in the file, JSON value)."""


def read_source(path: Path) -> Source:
    """The records of a JSON array, of a JSON object of records, or of JSON Lines; the content decides which.

    Raises:
        ScenarioError: the file cannot be read, is no JSON, or holds no record.
    """
    try:
        data = load(path)
        rows = tuple(_rows(path, data))
    except ConnectorError as error:
        raise ScenarioError(str(error)) from error
    if not rows:
        raise ScenarioError(f"{path}: holds no records; pass a file with at least one")
    return Source(path.stem, hashlib.sha256(data).hexdigest(), rows)


def _rows(path: Path, data: bytes) -> Iterator[tuple[str, object]]:
    try:
        value = read_json(data)
    except RecordError:
        lines = [(number, line) for number, line in enumerate(data.splitlines(), start=1) if line.strip()]
        if len(lines) == 1:
            raise ScenarioError(f"{path}: is no JSON; if it was cut off, fetch it again") from None
        for number, line in lines:
            yield f"line {number}", _line(path, number, line)
        return
    if isinstance(value, list):
        yield from ((f"record {index}", item) for index, item in enumerate(value))
    elif isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        yield from ((f"record {key!r:.48}", item) for key, item in value.items())
    else:
        yield "line 1", value


def _line(path: Path, number: int, line: bytes) -> object:
    try:
        return read_json(line)
    except RecordError as error:
        raise ScenarioError(f"{path}, line {number}: {error}; each line is one JSON record") from error


def as_row(form: type[RowT], source: Source, place: str, value: object) -> RowT:
    """``value`` as a record of the format.

    Raises:
        ScenarioError: names the first field that is unknown, missing or of another type.
    """
    try:
        return form.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0]) if first["loc"] else "the record"
        known = ", ".join(info.alias or name for name, info in form.model_fields.items())
        what = {"extra_forbidden": "is a field this format does not have", "missing": "is missing"}.get(
            first["type"], first["msg"]
        )
        raise ScenarioError(f"{source.name}, {place}: `{field}` {what}; a record has {known}") from error


def cluster_name(prefix: str, name: str, told_apart_by: str) -> str:
    """A name of ours for a cluster of other people's: theirs in our letters, and digits of a digest.

    The digits tell apart what has one name in two files.
    """
    slug = _SLUG.sub("-", name.casefold())[:_SLUG_LENGTH].strip("-")
    digest = hashlib.sha256(told_apart_by.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return "-".join(part for part in (prefix, slug, digest) if part)


def one_line(text: str) -> str:
    """``text`` as a line of a context holds it: NFC, and every run of white space one space."""
    return " ".join(str(unicodedata2.normalize("NFC", text)).split())
