"""A newcomer's mistakes: whatever is typed, one line names it and the way out, and nothing is made for its sake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.cli.conftest import SAMPLES, STORY, Story, Veritas, conversation, write_chat

PLANTED = SAMPLES / "planted-chat.jsonl"
NOTHING = "--tenant samples --project nothing".split()

USAGE: dict[str, tuple[list[str], str]] = {
    "no value": (["--home"], "Option '--home' requires an argument; see `veritas --help`"),
    "no value of a command": (["attribute", "--shortest"], "requires an argument; see `veritas attribute --help`"),
    "one of two values": (["report", "--compare", "a"], "requires 2 arguments; see `veritas report --help`"),
    "a value too many": (["run", "--quick=1"], "does not take a value; see `veritas run --help`"),
    "a command that is none": (["atribute"], "No such command 'atribute'"),
    "an argument too many": (["verify", "everything"], "everything"),
    "an option of another command": (["report", "--quick"], "--quick"),
    "seed below 0": (["run", "--seed", "-1"], "(got '-1')"),
    "seed beyond what a plan holds": (["evaluate", f"--seed={2**53}"], f"(got '{2**53}')"),
    "seed of words": (["run", "--seed", "seven"], "(got 'seven')"),
    "no record": (["attribute", "--shortest", "0"], "(got '0')"),
    "a window of no size": (["attribute", "--window", "63"], "(got '63')"),
    "port": (["dev", "--port", "http"], "(got 'http')"),
    "host": (["dev", "--host", "nowhere.invalid", "--port", "3999"], "nowhere.invalid:3999"),
    "gate": (["run", "--gate", "CUTS-V1"], "'CUTS-V1'; choose one of cuts-v1, seed-v4"),
    "gate of evaluate": (["evaluate", "--gate", ""], "unknown gate ''"),
    "gate of attribute": (["attribute", "--gate", "*"], "unknown gate '*'"),
    "executor": (["attribute", "--executor", "threads"], "'threads'; choose one of serial, processes, ray"),
    "workers": (["attribute", "--workers", "0"], "(got '0')"),
    "dtype": (["attribute", "--dtype", "float16"], "unknown dtype 'float16'; choose one of float32, bfloat16"),
    "device": (["attribute", "--device", "tpu"], "unknown device 'tpu'; choose one of cpu, cuda"),
    "an executor for files": (
        ["attribute", "--text", str(PLANTED), "--executor", "ray"],
        "--executor is about a ledger",
    ),
    "clock": (["run", "--now", "2026-01-31T12:00:00"], "--now '2026-01-31T12:00:00' is no instant"),
    "clock of evaluate": (["evaluate", "--now", "noon"], "write e.g. 2026-01-31T12:00:00Z"),
    "digest": (["report", "--run", "run-37fe"], "--run 'run-37fe' is no beginning of a digest"),
    "empty digest": (["report", "--run", ""], "--run '' is no beginning of a digest"),
    "a folder for no comparison": (["report", "--out", "here"], "name two report folders with --compare"),
    "two reports and a run": (["report", "--compare", "a", "b", "--run", "0"], "leave out --run"),
    "tenant": (["why", "--tenant", "../x"], "--tenant '../x' is no name"),
    "tenant of verify": (["verify", "--tenant", "X"], "--tenant 'X' is no name"),
    "empty tenant": (["why", "--tenant", ""], "--tenant is empty"),
    "project": (["what-if", "--retract", "00000000", "--project", "A B"], "--project 'A B' is no name"),
    "empty project": (["attribute", "--project", ""], "--project is empty"),
    "empty home": (["--home", "", "why"], "--home is empty"),
    "empty model": (["--model", "", "run", "--quick"], "--model is empty"),
    "id": (["why", "claim"], "'claim' is no entry id"),
    "no id": (["what-if"], "--retract"),
    "format": (["import", "csv", str(PLANTED)], "no transcript format is called 'csv'; known are chat"),
    "not a file": (["import", "chat", "/dev/zero"], "/dev/zero is no file but a pipe or a device"),
    "a path that no system has": (["import", "chat", "a\0b"], "embedded null byte"),
    "a home that no system has": (["--home", "a\0b", "why"], "--home holds a NUL character"),
}


@pytest.mark.parametrize("case", USAGE)
def test_a_command_line_at_fault_is_code_2(veritas: Veritas, home: Path, case: str):
    arguments, complaint = USAGE[case]
    assert complaint in veritas(*arguments).refused(2)
    assert not home.exists()


ABSENT: dict[str, tuple[list[str], str]] = {
    "ledger": (["why", *NOTHING], "no ledger samples/nothing"),
    "ledger of what-if": (
        ["what-if", "--retract", "0" * 8, *NOTHING],
        "choose with --tenant and --project among tests/story",
    ),
    "ledger of attribute": (["attribute", *NOTHING], "no ledger samples/nothing"),
    "ledger of verify": (["verify", *NOTHING], "no ledger samples/nothing"),
    "tenant": (["verify", "--tenant", "nobody"], "no ledger of tenant 'nobody'"),
    "entry": (["why", "0" * 64, *STORY], "`veritas why` lists all of them"),
    "entry of what-if": (["what-if", "--retract", "0" * 8, *STORY], "begins with 00000000"),
    "run": (["report", "--run", "abc"], "begins with 'abc'; `veritas run` starts one"),
    "any run": (["report"], "`veritas run` starts one"),
    "reports": (["report", "--compare", "here", "there"], "no report at here/report.json"),
    "tables": (["sql", "SELECT 1"], "`veritas run` writes them"),
    "tracking": (["dev", "--mlflow", "--port", "3998"], "`veritas run` writes it"),
    "model": (["--model", "/no/such/model", "run", "--quick"], "no model '/no/such/model'"),
    "model for evaluate": (["--model", "gpt-9", "evaluate", "--quick"], "nothing is fetched at run time"),
    "file": (["import", "chat", "missing.jsonl"], "missing.jsonl: cannot be read (No such file"),
    "file in a file": (["import", "chat", f"{PLANTED}/x"], "Not a directory"),
    "file in a loop": (["import", "inspect", "loop"], "loop: cannot be read (Too many levels of symbolic links)"),
    "folder": (["import", "tau-bench", "."], ".: cannot be read (Is a directory)"),
    "address": (["import", "chat", "http://x.example/a.jsonl"], "No such file"),
}


@pytest.mark.parametrize("case", ABSENT)
def test_what_is_not_there_is_code_1_with_the_way_to_it(veritas: Veritas, story: Story, home: Path, case: str):
    del story
    Path("loop").symlink_to("loop")
    before = sorted(home.rglob("*"))
    arguments, complaint = ABSENT[case]
    assert complaint in veritas(*arguments).refused(1)
    assert [path for path in sorted(home.rglob("*")) if path not in before] == []


CONTENT: dict[str, tuple[str, bytes, str]] = {
    "null": ("tau-bench", b"null", "is missing (null), not tau-bench's list of trials"),
    "empty list": ("tau-bench", b"[]", "is an empty list"),
    "another format": ("inspect", b'{"messages": []}', "is no Inspect log: `eval` is missing"),
    "a transcript for inspect": ("inspect", b"[1]", "the document is an array, not an object"),
    "two documents": ("tau-bench", b"{}\n{}", "found '{' at character"),
    "too deep": ("chat", b"[" * 10_000, "nesting deeper than 256"),
    "numbers": ("chat", b"3\n4\n", "no line is an object or a list"),
    "bytes": ("chat", bytes(range(256)), "is not UTF-8 at byte 128"),
    "nothing": ("inspect", b"", "is empty"),
    "an archive that is cut off": ("inspect", b"PK\x03\x04" + b"\0" * 40, "odd.file"),
}


@pytest.mark.parametrize("case", CONTENT)
def test_a_file_that_holds_something_else_is_named(veritas: Veritas, home: Path, tmp_path: Path, case: str):
    name, data, complaint = CONTENT[case]
    file = tmp_path / "odd.file"
    file.write_bytes(data)
    for options in ([], ["--dry-run"]):
        refusal = veritas("import", name, file, *options).refused(1)
        assert complaint in refusal
        assert str(file) in refusal
    assert not home.exists()


COMMANDS: dict[str, list[Any]] = {
    "verify": ["verify"],
    "why": ["why"],
    "what-if": ["what-if", "--retract", "0" * 8],
    "attribute": ["attribute"],
    "sql": ["sql", "SELECT 1"],
    "report": ["report"],
    "import": ["import", "chat", PLANTED],
    "run": ["--model", "/no/such/model", "run", "--quick"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["file", "file/below", "loop", "x" * 300])
def test_a_home_that_can_be_none_is_named(veritas: Veritas, tmp_path: Path, command: str, place: str):
    file, loop = tmp_path / "file", tmp_path / "loop"
    file.write_text("kept")
    loop.symlink_to(loop)
    done = veritas(*COMMANDS[command], at=tmp_path / place)
    assert done.code in {1, 2}, done
    refusal = done.refused(done.code)
    assert "internal error" not in refusal
    assert str(tmp_path) in refusal or (command, place) == ("run", "loop"), (
        "of a loop it says that the model is missing"
    )
    assert file.read_text() == "kept"


@pytest.mark.parametrize(
    "now",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00:00+00:00",
        "20260131T120000Z",
        "2026-W05-6T12:00:00Z",
        "2026-01-31T12:00:00.000000000Z",
        "2026-01-31T13:00:00,0+01:00",
    ],
)
def test_a_clock_may_be_written_in_any_form_of_iso_8601(veritas: Veritas, tmp_path: Path, now: str):
    file = write_chat(tmp_path / "chat.jsonl", conversation(1))
    head = veritas("import", "chat", file, "--now", now, "--json").json["head"]
    plain = veritas("import", "chat", file, "--now", "2026-01-31T12:00:00Z", "--json", at=tmp_path / "plain").json[
        "head"
    ]
    assert head == plain
