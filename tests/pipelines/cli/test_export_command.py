"""`veritas export` and `veritas restore`; and every command on a ledger whose events are in PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger_core.story import Story
from tests.pipelines.cli.conftest import STORY, Veritas, conversation, write_chat
from tests.postgres import Server, emptied


def test_a_ledger_goes_into_a_file_and_comes_back_elsewhere(veritas: Veritas, story: Story, tmp_path: Path):
    file, there = tmp_path / "story.tar", tmp_path / "there"
    exported = veritas("export", file, *STORY, "--json").json
    assert exported["evidence_events"] + exported["control_events"] == len(list(story))
    assert exported["bytes"] == file.stat().st_size
    verified = veritas("restore", "--dry-run", file, at=there)
    assert verified.code == 0
    assert verified.out.startswith("ledger tests/story: verified, nothing restored\n")
    assert not there.exists()
    restored = veritas("restore", file, "--json", at=there).json
    assert restored["outcome"] == "restored"
    assert (restored["head"], restored["control_head"]) == (exported["evidence_head"], exported["control_head"])
    assert veritas("verify", "--json", at=there).json == veritas("verify", "--json").json
    again = veritas("restore", file, at=there)
    assert again.out.startswith("ledger tests/story: was here already, with the same heads\n")
    assert veritas("export", tmp_path / "again.tar", *STORY, at=there).code == 0
    assert (tmp_path / "again.tar").read_bytes() == file.read_bytes()


def test_a_tampered_file_is_refused_with_the_code_of_a_ledger_that_does_not_verify(
    veritas: Veritas, story: Story, tmp_path: Path
):
    file = tmp_path / "story.tar"
    veritas("export", file, *STORY)
    data = bytearray(file.read_bytes())
    data[data.index(story.named["observed_alpha"].encoded) + 20] ^= 1
    file.write_bytes(data)
    for options in ((), ("--dry-run",)):
        line = veritas("restore", file, *options, at=tmp_path / "there").refused(4)
        assert f"{file} does not verify: " in line
        assert " at evidence event " in line
    assert not (tmp_path / "there").exists()


def test_what_cannot_be_exported_or_restored_is_refused_in_one_line(veritas: Veritas, story: Story, tmp_path: Path):
    assert story.named
    file = tmp_path / "story.tar"
    assert veritas("export", file, *STORY, "--no-blobs").code == 0
    assert "exists; choose another name" in veritas("export", file, *STORY).refused()
    assert "no ledger default/imported below" in veritas("export", tmp_path / "x.tar").refused()
    assert "is missing" in veritas("restore", file, at=tmp_path / "there").refused()
    assert "absent.tar" in veritas("restore", tmp_path / "absent.tar").refused()
    text = tmp_path / "note.txt"
    text.write_text("no export at all", encoding="utf-8")
    assert "no header of a member" in veritas("restore", text).refused(4)


def test_commands_work_on_postgresql(veritas: Veritas, tmp_path: Path, postgres: Server, monkeypatch):
    """The same head as in files, and nothing of the events below the home."""
    chat = write_chat(tmp_path / "chat.jsonl", conversation(1), conversation(2))
    given = ("import", "chat", chat, "--now", "2026-03-01T12:00:00Z", "--json")
    in_files = veritas(*given, at=tmp_path / "files").json
    address = emptied(postgres, "commands")
    first = veritas("--store", address, *given)
    assert (first.code, first.json["head"], first.json["events"]) == (0, in_files["head"], in_files["events"])
    assert not list((tmp_path / "home").rglob("*.sqlite3"))
    assert "no ledger" in veritas("verify").refused()
    monkeypatch.setenv("VERITAS_STORE", address)
    assert veritas(*given).json["fresh"] == 0
    (verified,) = veritas("verify", "--json").json["ledgers"]
    assert (verified["head"], verified["verified"]) == (in_files["head"], True)
    assert veritas("why").code == 0
    assert veritas("export", tmp_path / "out.tar").code == 0
    monkeypatch.delenv("VERITAS_STORE")
    assert veritas("restore", tmp_path / "out.tar", at=tmp_path / "back").code == 0
    (back,) = veritas("verify", "--json", at=tmp_path / "back").json["ledgers"]
    assert back["head"] == in_files["head"]


@pytest.mark.parametrize("store", ["mysql://host/base", "somewhere"])
def test_a_store_that_cannot_be_is_a_usage_error(veritas: Veritas, store: str):
    assert f"store (VERITAS_STORE) is {store!r}" in veritas("--store", store, "verify").refused(2)


def test_a_server_that_does_not_answer_is_named_without_the_password(veritas: Veritas):
    line = veritas("--store", "postgresql://alice:hunter2@127.0.0.1:9/base", "verify").refused()
    assert "postgresql://127.0.0.1/base does not answer" in line
    assert "hunter2" not in line


def test_content_is_encrypted_where_a_folder_of_keys_is_named(veritas: Veritas, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("VERITAS_KEYS", str(tmp_path / "keys"))
    chat = write_chat(tmp_path / "chat.jsonl", conversation(41))
    assert veritas("import", "chat", chat).code == 0
    stored = [path for path in (tmp_path / "home").rglob("blobs/??/*") if path.is_file()]
    assert stored
    assert not [path for path in stored if b"41" in path.read_bytes() and path.suffix != ".enc"]
    assert veritas("verify").code == 0
    monkeypatch.delenv("VERITAS_KEYS")
    found = veritas("verify", "--json")
    assert found.code == 4
    assert found.json["ledgers"][0]["first_divergence"]["kind"] == "blob-missing"
