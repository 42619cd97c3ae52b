from __future__ import annotations

import sys

from pipelines import progress


def said(capsys, *, enabled=None, items=4):
    with progress.display(enabled=enabled):
        assert list(progress.track(range(items), "Weighing")) == list(range(items))
    return capsys.readouterr().err


def test_a_log_gets_a_line_when_a_stage_is_done(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    monkeypatch.setattr(progress, "_SHORT", -1.0)
    assert said(capsys) == "Weighing: 4 of 4, 0 s\n"


def test_what_is_done_at_once_is_no_news(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert said(capsys) == ""


def test_a_stage_that_takes_long_says_how_far_it_is_at_every_quarter(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    monkeypatch.setattr(progress, "_LONG", -1.0)
    monkeypatch.setattr(progress, "_SHORT", -1.0)
    assert [line.split(",")[0] for line in said(capsys, items=8).splitlines()] == [
        "Weighing: 2 of 8", "Weighing: 4 of 8", "Weighing: 6 of 8", "Weighing: 8 of 8"
    ]  # fmt: skip


def test_nothing_is_said_where_nobody_listens(capsys):
    assert said(capsys, enabled=False) == ""
    assert list(progress.track(range(3), "Weighing")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
