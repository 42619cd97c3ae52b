"""`veritas attribute --text`: what one response rests on, from files and without a ledger."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from attribution.library.inputs import Parts
    from pipelines.cli.scorer_flags import Scoring
    from pipelines.settings import Settings

Text = Annotated[
    Path | None, typer.Option(help="Instead of a ledger: a file with the context of one response, or a chat (.json).")
]
Query = Annotated[str, typer.Option(help="With --text: the question.")]
ResponseFile = Annotated[
    Path | None, typer.Option(help="With --text: a file with the response. Default: the model writes one.")
]
PartsOf = Annotated[str, typer.Option(help="With --text: what a source is: sentence, line or word.")]
Span = Annotated[
    list[str] | None,
    typer.Option(help="With --text: START:STOP, characters of the response to attribute; repeatable."),
]
Top = Annotated[int | None, typer.Option(min=1, help="With --text and --json: the N strongest sources of every claim.")]
Html = Annotated[Path | None, typer.Option(help="With --text: write the page to this file too.")]

PARTS = ("sentence", "line", "word")
_SPAN = re.compile(r"(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about one response."""

    text: Path
    """The context; a ``.json`` file holds a chat in OpenAI's form instead."""
    query: str = ""
    response: Path | None = None
    """None lets the model write one."""
    parts: str = "sentence"
    """How a text is taken apart: one of :data:`PARTS`."""
    spans: tuple[str, ...] = ()
    """``START:STOP`` in characters of the response; none attributes every sentence."""


def attribute_files(
    settings: Settings,
    question: Question,
    html: Path | None,
    *,
    scoring: Scoring | None = None,
    top: int | None = None,
    as_json: bool,
) -> None:
    """Attribute one response and print it.

    Args:
        settings: model, threads and cache.
        question: the files and what is asked.
        html: where to write the page, if anywhere.
        scoring: who scores; None for the model of the settings.
        top: of every claim only so many sources, the strongest first; with ``as_json``.
        as_json: one object a claim and source instead of the heat map.

    Raises:
        UsageError: a file that cannot be read or is not UTF-8, or an input that cannot be attributed.
    """
    from attribution import attribute
    from attribution.errors import ContextWindowError, InputError

    scorer = None if scoring is None else scoring.chosen()
    if top is not None and not as_json:
        raise UsageError("--top counts rows of --json; add it, or leave --top out")
    given = _context(question)
    said = None if question.response is None else _read(question.response, "--response")
    spans = [_span(span) for span in question.spans] or None
    if html is not None and not html.parent.is_dir():
        raise UsageError(f"--html {html}: there is no folder {html.parent}; make it first")
    try:
        found = attribute(
            response=said,
            spans=spans,
            model=settings.model,
            scorer=scorer,
            threads=settings.threads,
            cache=settings.cache / "models",
            **given,
        )
    except (InputError, ContextWindowError) as error:
        raise UsageError(str(error)) from error
    if as_json:
        for row in found.rows(top):
            typer.echo(json.dumps(row, ensure_ascii=True, sort_keys=True))
    else:
        if found.generated:
            typer.echo(f"{found.response}\n")
        found.show()
    if html is not None:
        html.write_text(found.to_html(), encoding="utf-8")


def _context(question: Question) -> dict[str, Any]:
    """The context as `attribute` takes it: a text with its question, or a chat."""
    if question.parts not in PARTS:
        raise UsageError(f"--parts {question.parts!r} is unknown; choose one of {', '.join(PARTS)}")
    text = _read(question.text, "--text")
    if question.text.suffix != ".json":
        return {"context": text, "query": question.query, "parts": cast("Parts", question.parts)}
    if question.query or question.parts != "sentence":
        raise UsageError("a chat holds its question and its parts; leave --query and --parts out")
    try:
        chat = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--text {question.text} is no JSON ({error}); give a list of messages") from error
    messages = chat.get("messages") if isinstance(chat, dict) else chat
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise UsageError(
            f"--text {question.text} is no chat; give a list of messages, or an object with one at `messages`"
        )
    return {"messages": messages}


def _span(text: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise UsageError(f"--span {text!r} is no START:STOP in characters of the response, such as 0:12")
    return int(found.group(1)), int(found.group(2))


def _read(path: Path, option: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
