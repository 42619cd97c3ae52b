"""`veritas import`: outputs, exit codes, repetition, growth, rejects, dry runs, bad input."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ledger_core.connectors import FORMATS
from ledger_core.kernel.errors import StorageFullError
from ledger_core.stores import Ledger
from pipelines.cli import clock
from tests.pipelines.cli.conftest import SAMPLES, Veritas, conversation, write_chat
from tests.shared import shared_path

PLANTED = SAMPLES / "planted-chat.jsonl"
NOW = "2026-01-31T12:00:00Z"


def test_it_says_what_came_in_and_where_the_ledger_stands(veritas: Veritas, tmp_path: Path):
    file = write_chat(tmp_path / "chat.jsonl", *(conversation(n) for n in range(3)))
    done = veritas("import", "chat", file, "--now", NOW)
    assert (done.code, done.err) == (0, "")
    rows = [line.strip("│ ").split("│") for line in done.out.splitlines() if line.startswith("│")]
    assert [(name.strip(), number.strip()) for name, number in rows] == [
        ("records that are in the ledger", "3"),
        ("events added", "12"),
        ("events that were there already", "0"),
        ("records rejected", "0"),
        ("secrets taken out", "0"),
        ("texts withheld whole", "0"),
    ]
    head = veritas("verify", "--json").json["ledgers"][0]["head"]
    assert done.out.splitlines()[-1] == f"ledger default/imported: 12 events, head {head}"


def test_importing_again_adds_nothing(veritas: Veritas):
    first = veritas("import", "chat", PLANTED, "--json").json
    again = veritas("import", "chat", PLANTED, "--json").json
    assert (first["records"], first["replayed"]) == (4, 0)
    assert first["fresh"] == first["events"] > 0
    assert (again["records"], again["fresh"], again["replayed"]) == (4, 0, first["fresh"])
    assert (again["head"], again["events"]) == (first["head"], first["events"])


def test_a_file_that_grew_by_three_records_adds_exactly_three(veritas: Veritas, tmp_path: Path):
    file = write_chat(tmp_path / "chat.jsonl", conversation(1), conversation(1))
    assert veritas("import", "chat", file, "--json").json["fresh"] == 8
    write_chat(file, conversation(1), conversation(1), conversation(2), conversation(1), conversation(3))
    grown = veritas("import", "chat", file, "--json").json
    assert (grown["records"], grown["fresh"], grown["replayed"]) == (5, 12, 8)


def test_a_broken_record_goes_on_the_reject_list_and_the_rest_comes_in(veritas: Veritas, tmp_path: Path, home: Path):
    file = write_chat(tmp_path / "chat.jsonl", conversation(1), '{"messages": [', conversation(2), {"messages": 7})
    done = veritas("import", "chat", file)
    assert done.code == 3
    assert done.err.splitlines()[0].startswith("veritas: rejected line 2: ")
    assert done.err.splitlines()[1].startswith("veritas: rejected line 4: ")
    (line,) = [line for line in done.out.splitlines() if line.startswith("reject list: ")]
    path = Path(line.removeprefix("reject list: "))
    assert path.is_relative_to(home / "ledgers" / "default" / "imported")
    rejects = [json.loads(row) for row in path.read_text().splitlines()]
    assert [reject["place"] for reject in rejects] == ["line 2", "line 4"]
    again = veritas("import", "chat", file, "--json")
    assert again.code == 3
    assert again.json["rejects"] == rejects
    assert again.json["reject_list"] == str(path)
    assert (again.json["records"], again.json["fresh"]) == (2, 0)
    assert veritas("verify").code == 0


def test_many_rejects_are_counted_not_recited(veritas: Veritas, tmp_path: Path):
    file = write_chat(tmp_path / "chat.jsonl", conversation(1), *["[" for _ in range(9)])
    done = veritas("import", "chat", file)
    assert len(done.err.splitlines()) == 6
    assert done.err.splitlines()[-1] == "veritas: and 4 more"


def test_secrets_are_counted_and_stay_out_of_the_home(veritas: Veritas, home: Path):
    done = veritas("import", "chat", SAMPLES / "secrets-chat.jsonl", "--json")
    assert done.json["redactions"]["private-key"] == 1
    assert sum(done.json["redactions"].values()) >= 5
    assert b"AKIA" in (SAMPLES / "secrets-chat.jsonl").read_bytes()
    assert not any(b"AKIA" in path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert "[REDACTED:" in veritas("why").out


def test_a_dry_run_reports_the_same_and_creates_nothing(veritas: Veritas, tmp_path: Path, home: Path):
    file = write_chat(tmp_path / "chat.jsonl", conversation(1), "[", conversation(2))
    dry = veritas("import", "chat", file, "--dry-run", "--json")
    assert not home.exists()
    wet = veritas("import", "chat", file, "--json")
    assert (dry.code, wet.code) == (3, 3)
    same = ("records", "fresh", "replayed", "rejects", "redactions", "withheld", "events")
    assert {name: dry.json[name] for name in same} == {name: wet.json[name] for name in same}
    assert (dry.json["dry_run"], dry.json["head"], dry.json["reject_list"]) == (True, None, None)


def test_a_dry_run_knows_what_the_ledger_holds(veritas: Veritas, tmp_path: Path, home: Path):
    def trial(answer: str) -> dict[str, object]:
        return {
            "task_id": 1,
            "trial": 0,
            "traj": [*conversation(1)["messages"][:2], {"role": "assistant", "content": answer}],
        }

    file = tmp_path / "trials.json"
    file.write_text(json.dumps([trial("It is 2.")]))
    head = veritas("import", "tau-bench", file, "--json").json["head"]
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    again = veritas("import", "tau-bench", file, "--dry-run")
    assert again.code == 0
    assert "│ events would be added               │ 0 │" in again.out
    assert again.out.splitlines()[-1] == "dry run: nothing was written to ledger default/imported"
    file.write_text(json.dumps([trial("It is 3.")]))
    other = veritas("import", "tau-bench", file, "--dry-run", "--json")
    assert other.code == 3
    assert "another record under the id 1/0" in other.json["rejects"][0]["reason"]
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    assert veritas("verify", "--json").json["ledgers"][0]["head"] == head


def test_equal_clocks_give_equal_heads(veritas: Veritas, tmp_path: Path):
    heads = [
        veritas("import", "chat", PLANTED, "--now", now, "--json", at=tmp_path / str(n)).json["head"]
        for n, now in enumerate((NOW, "2026-01-31T13:00:00+01:00", "2026-01-31T12:00:00.000001Z"))
    ]
    assert heads[0] == heads[1] != heads[2]


@pytest.mark.parametrize("now", ["yesterday", "2026-01-31T12:00:00", "2026-02-30T12:00:00Z"])
def test_a_clock_that_is_no_instant_is_a_usage_error(veritas: Veritas, home: Path, now: str):
    assert now in veritas("import", "chat", PLANTED, "--now", now).refused(2)
    assert not home.exists()


def test_a_killed_import_ends_with_the_head_of_its_first_start(
    veritas: Veritas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    hours = iter(range(10, 20))
    monkeypatch.setattr(clock, "wall_clock", lambda: f"2026-01-31T{next(hours)}:00:00.000000000Z")
    append, appended = Ledger.append, []

    def full_after_three(self: Ledger, *arguments: object, **options: object) -> object:
        appended.append(1)
        if len(appended) == 4:
            raise StorageFullError("cannot write: No space left on device; free space")
        return append(self, *arguments, **options)

    monkeypatch.setattr(Ledger, "append", full_after_three)
    assert "No space left" in veritas("import", "chat", PLANTED).refused()
    resumed = veritas("import", "chat", PLANTED, "--json").json
    assert 0 < resumed["replayed"] < resumed["events"]
    straight = veritas("import", "chat", PLANTED, "--now", "2026-01-31T10:00:00Z", "--json", at=tmp_path / "other").json
    assert resumed["head"] == straight["head"]
    # It is done: what comes later is received later.
    grown = tmp_path / "grown.jsonl"
    grown.write_bytes(PLANTED.read_bytes() + json.dumps(conversation(1)).encode())
    assert veritas("import", "chat", grown, "--json").json["fresh"] == 4
    with_old_clock = veritas("import", "chat", grown, "--now", "2026-01-31T10:00:00Z", "--json", at=tmp_path / "other")
    assert with_old_clock.json["head"] != veritas("verify", "--json").json["ledgers"][0]["head"]


BAD_FILES = {
    "empty": (b"", "is empty"),
    "white space": (b"\n \n", "is empty"),
    "no JSON": (b"hello\n", "no line is a JSON conversation"),
    "not UTF-8": (b'{"messages": "\xff"}\n', "is not UTF-8 at byte"),
    "UTF-16": ("{}".encode("utf-16"), "convert it first"),
    "gzip": (b"\x1f\x8b\x08\x00", "unpack it first"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_cannot_be_read_at_all_leaves_nothing_behind(
    veritas: Veritas, tmp_path: Path, home: Path, case: str
):
    data, complaint = BAD_FILES[case]
    file = tmp_path / "bad.jsonl"
    file.write_bytes(data)
    refusal = veritas("import", "chat", file).refused()
    assert complaint in refusal
    assert str(file) in refusal
    assert not home.exists()
    assert complaint in veritas("import", "chat", file, "--dry-run").refused()


def test_a_truncated_document_is_refused_with_its_place(veritas: Veritas, tmp_path: Path, home: Path):
    file = tmp_path / "cut.json"
    file.write_text(json.dumps([{"task_id": 1, "trial": 0, "traj": conversation(1)["messages"]}])[:-9])
    assert "cut.json" in veritas("import", "tau-bench", file).refused()
    assert not home.exists()


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_what_is_no_file_is_named(veritas: Veritas, tmp_path: Path, home: Path, what: str):
    path = tmp_path if what == "folder" else tmp_path / "missing.jsonl"
    assert f"{path}: cannot be read" in veritas("import", "chat", path).refused()
    assert not home.exists()


def test_an_unknown_format_is_answered_with_the_known_ones(veritas: Veritas):
    refusal = veritas("import", "csv", PLANTED).refused(2)
    assert "'csv'" in refusal
    assert all(name in refusal for name in ("chat", "tau-bench", "inspect"))


def test_the_help_names_every_format(veritas: Veritas):
    help_text = veritas("import", "--help").out
    assert all(name in help_text for name in FORMATS)


@pytest.mark.parametrize("option", ["--tenant", "--project"])
def test_a_name_that_cannot_be_is_refused(veritas: Veritas, home: Path, option: str):
    assert f"{option} '../etc'" in veritas("import", "chat", PLANTED, option, "../etc").refused(2)
    assert not home.exists()


def test_a_place_that_may_not_be_written_is_named(veritas: Veritas, tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    refusal = veritas("import", "chat", PLANTED, at=blocked / "home").refused(2)
    assert str(blocked) in refusal
    assert "--home" in refusal


def test_trials_of_tau_bench_come_in_once(veritas: Veritas, tmp_path: Path):
    trials = json.loads(shared_path("data/tau-bench/gpt-4o-airline-a.json").read_bytes())
    file = tmp_path / "five.json"
    file.write_text(json.dumps(trials[:5]))
    first = veritas("import", "tau-bench", file, "--json").json
    assert (first["records"], first["rejects"]) == (5, [])
    verified = veritas("verify", "--json").json
    assert verified["verified"]
    assert verified["ledgers"][0]["head"] == first["head"]
    file.write_text(json.dumps(trials[:8]))
    grown = veritas("import", "tau-bench", file, "--json").json
    assert (grown["records"], grown["replayed"]) == (8, first["fresh"])
    # Under its own id a trial is the same wherever it stands.
    os.truncate(file, 0)
    file.write_text(json.dumps(trials[7:2:-1]))
    assert veritas("import", "tau-bench", file, "--json").json["fresh"] == 0


@pytest.mark.slow
def test_every_transcript_of_the_whole_file_comes_in_and_verifies(veritas: Veritas):
    file = shared_path("data/tau-bench/gpt-4o-airline-a.json")
    first = veritas("import", "tau-bench", file, "--json")
    assert (first.code, first.json["records"]) == (0, len(json.loads(file.read_bytes())))
    assert veritas("verify").code == 0
    assert veritas("import", "tau-bench", file, "--json").json["fresh"] == 0


@pytest.mark.slow
def test_every_inspect_log_is_imported_or_refused_in_one_line(veritas: Veritas, tmp_path: Path):
    folder = shared_path("data/inspect-logs")
    for number, file in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        done = veritas("import", "inspect", file, "--json", at=tmp_path / str(number))
        if done.code in {0, 3}:
            assert done.json["records"] + len(done.json["rejects"]) > 0, file
        else:
            assert file.name in done.refused()
