"""Every command that a page or a message prints is one: its options exist and its arguments have a place."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.exceptions import TyperException
from typer.main import get_command

from pipelines.cli.app import app
from tests.tree import PACKAGES, ROOT, project_files

APPLICATION = get_command(app)
PAGES = [ROOT / path for path in project_files() if path.suffix == ".md"]
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
_PROSE = {"…", "[CLAIM]", "[SELECT]", "COMMAND", "[FORMAT"}
"""Words that stand for what a reader puts there."""


def _printed(path: Path) -> list[str]:
    """Commands in backticks and, in a page, the lines of its blocks of commands."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"`(veritas [^`\n]+)`", text)
    if path.suffix == ".md":
        for block in re.findall(r"^```(?:sh|bash|console|text)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            found += re.findall(r"^(?:\$ )?(veritas .+)$", block, re.MULTILINE)
    return found


def _words(command: str) -> list[str]:
    """The words of a command as a shell would split it, with what is optional given and fields of a message filled."""
    filled = re.sub(r"\{[^{}]*\}", "x", command.replace("[--", "--").replace("]", ""))
    return shlex.split(filled.split(" #")[0])[1:]


def _parse(words: list[str]) -> None:
    """Parse ``words`` as the application would, without doing anything; raises what it would raise."""
    context = APPLICATION.make_context("veritas", list(words), resilient_parsing=False)
    rest = [*context._protected_args, *context.args]
    name, command, rest = APPLICATION.resolve_command(context, rest)
    assert command is not None
    command.make_context(name, rest, parent=context)


CASES = [
    pytest.param(command, id=f"{path.relative_to(ROOT)}: {command}")
    for path in (*PAGES, *SOURCES)
    for command in dict.fromkeys(_printed(path))
    if not _PROSE & set(command.split())
]


def test_commands_were_found():
    assert len(CASES) > 40


@pytest.mark.parametrize("command", CASES)
def test_a_printed_command_is_a_command_line(command: str):
    words = _words(command)
    if words == ["--help"]:
        return
    if len(words) == 1 or not any(word.startswith("-") for word in words):
        # Named in passing (`veritas why`): the command is there, its arguments are the reader's.
        assert words[0] in APPLICATION.commands or words[0].startswith("--")
        return
    try:
        _parse(words)
    except TyperException as error:
        # An option named in passing (`veritas verify --proof`) leaves its value to the reader, too.
        if "requires an argument" not in error.format_message() or not words[-1].startswith("--"):
            raise
