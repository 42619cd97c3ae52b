"""`veritas verify`: heads, the first divergence, several ledgers, and files that cannot be opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledger_core.stores.ledger import scope_folder
from tests.ledger_core.story import SCOPE, Story
from tests.pipelines.cli.conftest import STORY, Veritas, conversation, write_chat


def _file(home: Path) -> Path:
    return scope_folder(home, SCOPE) / "ledger.sqlite3"


def _alter(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(_file(home))) as connection, connection:
        connection.execute(statement, values)


def test_a_sound_ledger_is_shown_with_its_heads_and_counts(veritas: Veritas, story: Story):
    done = veritas("verify")
    assert (done.code, done.err) == (0, "")
    found = veritas("verify", "--json").json
    (ledger,) = found["ledgers"]
    assert found["verified"] is True
    assert ledger["events"] == len(list(story))
    assert ledger["control_events"] == 5
    assert ledger["first_divergence"] is None
    assert done.out.splitlines()[0] == "tests/story: verified"
    assert f"  head          {ledger['head']} ({ledger['events'] - 5} events)" in done.out
    assert f"{ledger['blobs']} present, 0 erased on purpose" in done.out


def test_a_changed_statement_is_found_where_it_stands(veritas: Veritas, home: Path, story: Story):
    target = story.id("observed_alpha")
    changed = story.named["observed_alpha"].encoded.replace(b'"kind"', b'"Kind"')
    _alter(home, "UPDATE events SET statement = ? WHERE event_id = ?", changed, target)
    done = veritas("verify")
    assert done.code == 4
    assert done.out.splitlines()[0] == "tests/story: DOES NOT VERIFY"
    (line,) = [line for line in done.out.splitlines() if "first divergence" in line]
    assert "statement at evidence event " in line
    assert target in line
    found = veritas("verify", "--json")
    assert found.code == 4
    assert found.json["verified"] is False
    divergence = found.json["ledgers"][0]["first_divergence"]
    assert (divergence["kind"], divergence["family"], divergence["event_id"]) == ("statement", "evidence", target)


def test_a_missing_event_is_found_at_its_offset(veritas: Veritas, home: Path, story: Story):
    _alter(home, "DELETE FROM events WHERE event_id = ?", story.id("fired"))
    found = veritas("verify", "--json")
    assert found.code == 4
    assert found.json["ledgers"][0]["first_divergence"]["kind"] == "offset"


def test_a_lost_blob_is_named(veritas: Veritas, home: Path, story: Story):
    ref = story.named["observed_alpha"].body.content
    next(scope_folder(home, SCOPE).glob(f"blobs/*/{ref.digest}")).unlink()
    found = veritas("verify", "--json").json["ledgers"][0]["first_divergence"]
    assert found["kind"] == "blob-missing"
    assert ref.digest in found["detail"]


def test_every_ledger_is_walked_also_after_one_that_diverged(
    veritas: Veritas, home: Path, story: Story, tmp_path: Path
):
    veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)), "--tenant", "zoo")
    _alter(home, "UPDATE events SET chain = ? WHERE event_id = ?", "00" * 32, story.id("derived"))
    for options in ((), ("--all",)):
        done = veritas("verify", *options)
        assert done.code == 4
        assert [line for line in done.out.splitlines() if not line.startswith(" ")] == [
            "tests/story: DOES NOT VERIFY",
            "zoo/imported: verified",
        ]
    assert veritas("verify", "--tenant", "zoo").code == 0
    assert veritas("verify", *STORY).code == 4
    assert "--all" in veritas("verify", "--all", "--tenant", "zoo").refused(2)


def test_a_file_that_is_no_database_does_not_verify(veritas: Veritas, home: Path, story: Story):
    del story
    _file(home).write_bytes(b"not a database at all, whatever its name says\n" * 100)
    found = veritas("verify", "--json")
    assert found.code == 4
    assert found.json["ledgers"][0]["first_divergence"]["kind"] == "unreadable"


def test_a_ledger_of_another_version_does_not_keep_the_others_from_being_walked(
    veritas: Veritas, home: Path, story: Story, tmp_path: Path
):
    del story
    veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)), "--tenant", "zoo")
    _alter(home, "PRAGMA user_version=99")
    done = veritas("verify")
    assert done.code == 1
    assert [line for line in done.out.splitlines() if not line.startswith(" ")] == [
        "tests/story: NOT WALKED",
        "zoo/imported: verified",
    ]
    assert done.err.startswith("veritas: ")
    assert "format 99" in done.err
    found = veritas("verify", "--json").json
    assert [ledger["verified"] for ledger in found["ledgers"]] == [None, True]
    assert found["verified"] is False
    assert "format 99" in found["ledgers"][0]["refusal"]


@pytest.mark.parametrize("pragma", ["PRAGMA user_version=99", "PRAGMA application_id=7"])
@pytest.mark.parametrize("command", [("verify",), ("why", *STORY), ("what-if", "--retract", "00000000", *STORY)])
def test_a_ledger_of_another_version_is_refused(
    veritas: Veritas, home: Path, story: Story, pragma: str, command: tuple[str, ...]
):
    del story
    _alter(home, pragma)
    refusal = veritas(*command).refused()
    assert str(_file(home)) in refusal
    assert "99" in refusal or "not a ledger" in refusal


def test_where_there_is_no_ledger_the_way_to_one_is_named(veritas: Veritas, home: Path):
    assert "veritas import" in veritas("verify").refused()
    assert "no ledger default/imported" in veritas("verify", "--project", "imported").refused()
    assert not home.exists()


def test_an_emptied_ledger_beside_a_sound_one_is_not_passed_over_in_silence(
    veritas: Veritas, home: Path, story: Story, tmp_path: Path
):
    del story
    path = write_chat(tmp_path / "a.jsonl", conversation(1))
    assert veritas("import", "chat", str(path)).code == 0
    assert veritas("verify").err == ""
    _file(home).write_bytes(b"")
    assert "holds content and no event" in veritas("verify").err
