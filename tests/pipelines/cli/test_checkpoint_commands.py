"""`veritas checkpoint`, `veritas proof`, and `veritas verify` against what was kept: the attacks at the command line."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from ledger_core.audit.__main__ import main as auditor
from ledger_core.stores.checkpoints import key_file, note_file
from ledger_core.stores.ledger import scope_folder
from tests.ledger_core.story import SCOPE, Story
from tests.pipelines.cli.conftest import STORY, Veritas, conversation, write_chat


def _file(home: Path) -> Path:
    return scope_folder(home, SCOPE) / "ledger.sqlite3"


def _run(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(_file(home))) as connection, connection:
        connection.execute(statement, values)


def _cut_off(home: Path, offset: int) -> None:
    """The end of the evidence log, taken away by somebody who knows the file."""
    with closing(sqlite3.connect(_file(home))) as connection, connection:
        connection.execute("DELETE FROM events WHERE family = 'evidence' AND committed_offset > ?", (offset,))
        row = connection.execute(
            "SELECT chain, receipt FROM events WHERE family = 'evidence' AND committed_offset = ?", (offset,)
        ).fetchone()
        recorded = row[1].split(b'"recorded_at":"')[1][:30].decode()
        connection.execute(
            "UPDATE heads SET committed_offset = ?, chain = ?, recorded_at = ? WHERE family = 'evidence'",
            (offset, row[0], recorded),
        )


def _divergence(found) -> tuple[str, str, int | None]:
    assert found.code == 4
    (first,) = [each["first_divergence"] for each in found.json["ledgers"] if each["first_divergence"]]
    return first["kind"], first["family"], first["offset"]


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere.notes"


class TestCheckpoint:
    def test_it_signs_both_logs_into_the_home_and_the_anchor(self, veritas: Veritas, home, story: Story, anchor):
        del story
        done = veritas("checkpoint", *STORY, "--anchor", anchor)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("veritas/tests/story/control: 6 events, root ")
        assert "veritas/tests/story/evidence: 25 events, root " in done.out
        own = note_file(home, SCOPE)
        assert own.read_text() == anchor.read_text()
        assert stat.S_IMODE(key_file(home).stat().st_mode) == 0o600
        again = veritas("checkpoint", *STORY, "--anchor", anchor, "--json")
        assert [each["size"] for each in again.json["checkpoints"]] == [6, 25]
        assert again.json["key"] in anchor.read_text()
        assert own.read_text() == anchor.read_text()
        assert veritas("verify", "--anchor", anchor).code == 0
        assert auditor([str(_file(home)), "--kept", str(anchor)]) == 0

    def test_another_key_signs_where_it_is_named(self, veritas: Veritas, home, story: Story, anchor, tmp_path):
        del story
        veritas("checkpoint", *STORY)
        other = tmp_path / "other.key"
        assert "no signing key" in veritas("checkpoint", *STORY, "--key", other).refused()
        shutil.copyfile(key_file(home), other)
        other.chmod(0o644)
        assert "chmod 600" in veritas("checkpoint", *STORY, "--key", other).refused()
        other.chmod(0o600)
        assert veritas("checkpoint", *STORY, "--key", other, "--anchor", anchor).code == 0

    def test_a_ledger_that_does_not_verify_is_not_signed(self, veritas: Veritas, home, story: Story, anchor):
        _run(home, "UPDATE events SET chain = ? WHERE event_id = ?", "00" * 32, story.id("derived"))
        assert "chain at evidence event 8" in veritas("checkpoint", *STORY, "--anchor", anchor).refused(4)
        assert not anchor.exists()

    def test_where_there_is_no_ledger_there_is_nothing_to_sign(self, veritas: Veritas, home):
        assert "no ledger" in veritas("checkpoint", *STORY).refused()
        assert not home.exists()


class TestVerify:
    @pytest.fixture(autouse=True)
    def signed(self, veritas: Veritas, story: Story, anchor) -> None:
        del story
        assert veritas("checkpoint", *STORY, "--anchor", anchor).code == 0

    def test_how_far_the_log_is_pinned_is_said(self, veritas: Veritas, home, anchor, tmp_path):
        assert "  checkpoints   pin the first 25 events\n" in veritas("verify").out
        veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)), *STORY)
        found = veritas("verify", "--json").json["ledgers"][0]
        assert (found["events"] - found["control_events"], found["pinned"]) == (29, 25)
        note_file(home, SCOPE).unlink()
        assert "  checkpoints   none; `veritas checkpoint` makes one\n" in veritas("verify").out
        assert veritas("verify", "--json", "--anchor", anchor).json["ledgers"][0]["pinned"] == 25

    def test_a_log_that_was_cut_off(self, veritas: Veritas, home, anchor):
        _cut_off(home, 20)
        note_file(home, SCOPE).unlink()
        assert veritas("verify").code == 0, "whoever owns the home can take its own notes along"
        assert _divergence(veritas("verify", "--json", "--anchor", anchor)) == ("truncated", "evidence", 21)
        done = veritas("verify", "--anchor", anchor)
        assert "first divergence  truncated at evidence event 21" in done.out
        assert "backup that verifies with the anchor" in done.out
        assert auditor([str(_file(home)), "--kept", str(anchor)]) == 4

    def test_the_homes_own_notes_tell_of_a_backup_that_was_restored(self, veritas: Veritas, home):
        _cut_off(home, 20)
        assert _divergence(veritas("verify", "--json")) == ("truncated", "evidence", 21)
        assert "truncated at evidence event 21" in veritas("checkpoint", *STORY).refused(4)

    def test_yesterdays_file(self, veritas: Veritas, home, anchor, tmp_path):
        yesterday = tmp_path / "yesterday.sqlite3"
        chat = write_chat(tmp_path / "chat.jsonl", conversation(1))
        shutil.copyfile(_file(home), yesterday)
        assert veritas("import", "chat", chat, *STORY).code == 0
        assert veritas("checkpoint", *STORY, "--anchor", anchor).code == 0
        shutil.copyfile(yesterday, _file(home))
        assert _divergence(veritas("verify", "--json", "--anchor", anchor)) == ("truncated", "evidence", 26)

    @pytest.mark.parametrize("attack", ["emptied", "removed"])
    @pytest.mark.parametrize("witness", ["anchor", "own notes", "lake"])
    def test_a_ledger_that_is_gone_beside_a_sound_one(self, veritas: Veritas, home, anchor, tmp_path, attack, witness):
        veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)))
        if witness != "own notes":
            note_file(home, SCOPE).unlink()
        if witness == "lake":
            tables = home / "lake" / "tests" / "story"
            tables.mkdir(parents=True)
            (tables / "entries.parquet").write_bytes(b"PAR1")
        if attack == "emptied":
            _file(home).write_bytes(b"")
        else:
            shutil.rmtree(_file(home).parent)
        options = ("--anchor", anchor) if witness == "anchor" else ()
        assert _divergence(veritas("verify", "--json", *options)) == ("ledger-missing", "control", None)
        done = veritas("verify", *options)
        assert done.out.startswith("default/imported: verified\n")
        assert "tests/story: DOES NOT VERIFY\n  first divergence  ledger-missing" in done.out
        assert done.err == ""
        assert _divergence(veritas("verify", "--json", *STORY, *options))[0] == "ledger-missing"
        assert veritas("verify", "--tenant", "default").code == 0

    def test_a_note_that_another_key_signed(self, veritas: Veritas, home, anchor):
        text = anchor.read_text()
        anchor.write_text(text.replace("\n25\n", "\n26\n"))
        assert _divergence(veritas("verify", "--json", "--anchor", anchor))[0] == "signature"
        note_file(home, SCOPE).write_text(text + "something\n")
        assert _divergence(veritas("verify", "--json"))[0] == "checkpoint"

    def test_what_is_no_anchor_of_this_is_a_usage_error(self, veritas: Veritas, anchor, tmp_path):
        assert "is no file" in veritas("verify", "--anchor", tmp_path / "none").refused(2)
        (tmp_path / "text").write_text("text\n")
        assert "is no verifier key" in veritas("verify", "--anchor", tmp_path / "text").refused(2)
        veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)))
        options = ("--tenant", "default", "--project", "imported")
        assert "holds no checkpoint of the ledgers" in veritas("verify", *options, "--anchor", anchor).refused(2)


class TestProof:
    @pytest.fixture(autouse=True)
    def signed(self, veritas: Veritas, story: Story, anchor) -> None:
        del story
        assert veritas("checkpoint", *STORY, "--anchor", anchor).code == 0

    @pytest.mark.parametrize("name", ["derived", "user_again", "policy"])
    @pytest.mark.parametrize("option", [(), ("--receipt",)])
    def test_an_event_is_proved(self, veritas: Veritas, home, story: Story, tmp_path, anchor, name, option):
        path = tmp_path / "proof"
        done = veritas("proof", story.id(name)[:12], *option, *STORY, "--out", path)
        assert (done.code, done.err) == (0, "")
        assert veritas("proof", story.id(name), *option, *STORY).out == path.read_text()
        assert veritas("verify", *STORY, "--proof", path).code == 0
        assert auditor([str(_file(home)), "--kept", str(path), "--kept", str(anchor)]) == 0

    def test_a_newer_log_extends_the_anchors(self, veritas: Veritas, home, tmp_path, anchor):
        veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)), *STORY)
        veritas("checkpoint", *STORY)
        path = tmp_path / "proof"
        for option in ((), ("--control",)):
            assert veritas("proof", "--since", anchor, *option, *STORY, "--out", path).code == 0
            assert path.read_text().startswith("veritas/consistency-proof@v1\n")
            assert veritas("verify", *STORY, "--proof", path).code == 0
            assert auditor([str(_file(home)), "--kept", str(path)]) == 0

    def test_a_receipt_convicts_a_log_that_lost_its_event(self, veritas: Veritas, home, story: Story, tmp_path):
        path = tmp_path / "receipt"
        veritas("proof", story.id("user_again"), "--receipt", *STORY, "--out", path)
        _cut_off(home, 24)
        note_file(home, SCOPE).unlink()
        found = veritas("verify", "--json", *STORY, "--proof", path)
        assert _divergence(found) == ("truncated", "evidence", 25)
        assert auditor([str(_file(home)), "--kept", str(path)]) == 4

    def test_a_changed_proof(self, veritas: Veritas, home, story: Story, tmp_path):
        path = tmp_path / "proof"
        veritas("proof", story.id("derived"), *STORY, "--out", path)
        lines = path.read_text().split("\n")
        lines[3], lines[4] = lines[4], lines[3]
        path.write_text("\n".join(lines))
        assert _divergence(veritas("verify", "--json", *STORY, "--proof", path)) == ("proof", "evidence", None)
        assert auditor([str(_file(home)), "--kept", str(path)]) == 4

    def test_what_cannot_be_asked(self, veritas: Veritas, story: Story, tmp_path, anchor):
        event = story.id("derived")
        for options in ((), (event, "--since", anchor), ("--since", anchor, "--receipt"), (event, "--control")):
            veritas("proof", *options, *STORY).refused(2)
        assert "no event id" in veritas("proof", "zz", *STORY).refused(2)
        assert "no event of this ledger" in veritas("proof", "0" * 12, *STORY).refused()
        assert "--project" in veritas("verify", "--proof", tmp_path / "x").refused(2)
        veritas("import", "chat", write_chat(tmp_path / "chat.jsonl", conversation(1)))
        assert "veritas checkpoint" in veritas("proof", "--since", anchor, "--project", "imported").refused()


@pytest.mark.parametrize("command", [("verify",), ("checkpoint",), ("why",)])
def test_a_home_that_is_a_file_is_named(veritas: Veritas, tmp_path, command):
    place = tmp_path / "file"
    place.write_text("not a folder")
    assert f"home (--home, VERITAS_HOME) is {place}" in veritas(*command, at=place).refused(2)
    assert f"{place} is a file" in veritas(*command, at=place / "below").refused(2)
