from __future__ import annotations

import json
import re

import pytest

from pipelines.cli.attribute_text import Question, attribute_files
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
    attribute_files(settings, Question(context, "When?", response), None, as_json=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["claim_text"], row["source_text"]) for row in rows] == [
        ("It closes at 17.", "The gate closes at 17."),
        ("It closes at 17.", "The museum opens at nine."),
    ]


def test_the_page_is_written_beside_what_is_printed(settings, files, tmp_path, capsys):
    context, response = files
    attribute_files(settings, Question(context, "", response), tmp_path / "page.html", as_json=False)
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
        attribute_files(settings, Question(files[0], "", files[1]), None, as_json=False)


def test_a_page_into_a_folder_that_is_not_there_is_refused_before_anything_is_computed(settings, files, tmp_path):
    page = tmp_path / "no" / "page.html"
    with pytest.raises(UsageError, match="make it first"):
        attribute_files(settings, Question(files[0], "", files[1]), page, as_json=False)


def test_spans_words_and_the_strongest_sources_are_asked_for(settings, files, capsys):
    context, response = files
    context.write_text("It is 17.")
    question = Question(context, "When?", response, "word", ("0:2", "13:15"))
    attribute_files(settings, question, None, top=2, as_json=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["claim_text"] for row in rows] == ["It", "It", "17", "17"]
    assert {row["source_text"].strip() for row in rows} <= {"It", "is", "17."}
    assert rows[0]["effect_nats"] >= rows[1]["effect_nats"]


def test_a_json_file_is_a_chat(settings, files, tmp_path, capsys):
    chat = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "17"},
    ]
    for name, document in (("list.json", chat), ("object.json", {"messages": chat})):
        (tmp_path / name).write_text(json.dumps(document))
        attribute_files(settings, Question(tmp_path / name, "", files[1]), None, as_json=True)
        (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert row["source_text"] == "look({})\n17"


@pytest.mark.parametrize(
    ("document", "question", "says"),
    [
        ("[1]", {}, "is no chat"),
        ('{"messages": 3}', {}, "is no chat"),
        ("[", {}, "is no JSON"),
        ("[]", {"query": "When?"}, "leave --query and --parts out"),
        ("[]", {}, "messages is empty"),
        ("[]", {"spans": ("3-4",)}, "--span '3-4' is no START:STOP"),
        ("[]", {"parts": "page"}, "--parts 'page' is unknown; choose one of sentence, line, word"),
    ],
)
def test_a_question_that_cannot_be_read_is_refused(settings, files, tmp_path, document, question, says):
    (tmp_path / "chat.json").write_text(document)
    with pytest.raises(UsageError, match=re.escape(says)):
        attribute_files(settings, Question(tmp_path / "chat.json", response=files[1], **question), None, as_json=True)


def test_a_count_of_sources_needs_rows_to_count(settings, files):
    with pytest.raises(UsageError, match="--top counts rows of --json"):
        attribute_files(settings, Question(files[0], "", files[1]), None, top=1, as_json=False)
