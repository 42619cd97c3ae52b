from __future__ import annotations

import json

import pytest

from pipelines.cli.attribute_text import attribute_files
from pipelines.errors import UsageError
from tests.pipelines.tiny_run import settings_in


@pytest.fixture
def settings(tmp_path, tiny_wide):
    return settings_in(tmp_path / "home", tiny_wide.files.path)


@pytest.fixture
def files(tmp_path):
    context, response = tmp_path / "context.txt", tmp_path / "response.txt"
    context.write_text("The gate closes at 17. The museum opens at nine.")
    response.write_text("It closes at 17.")
    return context, response


def test_each_sentence_of_the_file_is_a_source(settings, files, capsys):
    context, response = files
    attribute_files(settings, context, "When?", response, None, as_json=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["claim_text"], row["source_text"]) for row in rows] == [
        ("It closes at 17.", "The gate closes at 17."),
        ("It closes at 17.", "The museum opens at nine."),
    ]


def test_the_page_is_written_beside_what_is_printed(settings, files, tmp_path, capsys):
    context, response = files
    attribute_files(settings, context, "", response, tmp_path / "page.html", as_json=False)
    assert "The gate closes at 17." in capsys.readouterr().out
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda context, _response, _folder: context.unlink(), "--text .*No such file"),
        (lambda context, _response, _folder: context.write_bytes(b"caf\xe9"), "not UTF-8 text .byte 3."),
        (lambda _context, response, _folder: response.write_text(" "), "the response is empty"),
        (lambda _context, response, _folder: (response.unlink(), response.mkdir()), "--response .*Is a directory"),
    ],
)
def test_a_file_that_cannot_be_attributed_is_named(settings, files, tmp_path, make, says):
    make(*files, tmp_path)
    with pytest.raises(UsageError, match=says):
        attribute_files(settings, files[0], "", files[1], None, as_json=False)


def test_a_page_into_a_folder_that_is_not_there_is_refused_before_anything_is_computed(settings, files, tmp_path):
    with pytest.raises(UsageError, match="make it first"):
        attribute_files(settings, *[files[0], "", files[1]], tmp_path / "no" / "page.html", as_json=False)
