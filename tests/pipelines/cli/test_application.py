"""The application around the commands: help, usage errors, settings, one line for every failure, quiet pipes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger_core.stores import files
from ledger_core.stores.ledger import scope_folder
from pipelines.cli import app as application
from pipelines.cli.ledgers import scope_named
from tests.pipelines.cli.conftest import ROOT, SAMPLES, STORY, Story, Veritas

COMMANDS = "run import attribute evaluate report verify checkpoint proof what-if why audit sql dev".split()
HEAVY = "torch transformers dagster mlflow pyarrow polars pydantic duckdb numpy scipy sklearn sqlalchemy altair unicodedata2"
PLANTED = SAMPLES / "planted-chat.jsonl"


def _python(*arguments: str, home: Path, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VERITAS_HOME": str(home)}
    return subprocess.run(
        [sys.executable, *arguments], check=False, capture_output=True, text=True, env=environment, **options
    )


def test_help_lists_every_command_in_the_order_of_a_first_visit(veritas: Veritas):
    done = veritas("--help")
    words = [line.strip("│ ").split(" ", 1)[0] for line in done.out.splitlines() if line.startswith("│ ")]
    assert [word for word in words if word in COMMANDS] == COMMANDS
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_each_of_its_options(veritas: Veritas, command: str):
    assert veritas(command, "--help").code == 0
    (registered,) = [each for each in application.app.registered_commands if each.name == command]
    assert registered.callback is not None
    assert (registered.callback.__doc__ or "").strip()


def test_help_loads_nothing_heavy(home: Path):
    code = (
        "import sys; sys.argv = ['veritas', '--help']\n"
        "from pipelines.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print(*sorted(set({HEAVY.split()}) & sys.modules.keys()), file=sys.stderr)"
    )
    done = _python("-c", code, home=home)
    assert "Usage: veritas" in done.stdout
    assert done.stderr.strip() == ""


def test_a_bare_call_is_answered_with_the_help(home: Path):
    done = _python("-m", "pipelines.cli", home=home)
    assert done.returncode == 2
    assert "Usage: veritas" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nope",), "nope"),
        (("verify", "--nope"), "--nope"),
        (("import", "chat"), "'path'"),
        (("sql", "SELECT 1", "SELECT 2"), "SELECT 2"),
        (("dev", "--port", "99999"), "'--port'"),
        (("dev", "--port", "http"), "'--port'"),
    ],
)
def test_a_command_line_that_cannot_be_is_one_line_and_code_2(
    veritas: Veritas, arguments: tuple[str, ...], complaint: str
):
    refusal = veritas(*arguments).refused(2)
    assert complaint in refusal
    assert "--help`" in refusal


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (b"home = ", "not valid TOML"),
        (b"\xff", "not valid TOML"),
        (b"hoem = 'x'", "unknown setting 'hoem'"),
        (b"home = ['x']", "write it as text in quotes"),
        (b"tenant = 'Not A Name'", "'Not A Name'"),
    ],
)
def test_a_settings_file_that_cannot_be_read_is_named(veritas: Veritas, settings: bytes, complaint: str):
    Path("veritas.toml").write_bytes(settings)
    assert complaint in veritas("why").refused(2)


def test_the_flag_wins_over_the_environment_and_that_over_the_file(veritas: Veritas, monkeypatch: pytest.MonkeyPatch):
    Path("veritas.toml").write_text("tenant = 'of-file'\nproject = 'of-file'\n")
    assert "no ledger of-file/of-file" in veritas("why").refused()
    monkeypatch.setenv("VERITAS_TENANT", "of-environment")
    assert "no ledger of-environment/of-file" in veritas("why").refused()
    assert "no ledger of-flag/of-file" in veritas("why", "--tenant", "of-flag").refused()


def test_what_nobody_expected_is_one_line_and_with_debug_a_traceback(
    veritas: Veritas, story: Story, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise TypeError("a bug\nof two lines")

    monkeypatch.setattr("ledger_core.harness.why.why", fail)
    refusal = veritas("why", story.id("derived"), *STORY).refused()
    assert "internal error: TypeError: a bug of two lines" in refusal
    assert "--debug" in refusal
    monkeypatch.setattr(sys, "argv", [*sys.argv[:1], "--debug", *sys.argv[1:]])
    with pytest.raises(TypeError, match="a bug"):
        application.main()


def test_a_ledger_that_another_process_holds_is_waited_for_and_then_named(
    veritas: Veritas, home: Path, monkeypatch: pytest.MonkeyPatch
):
    veritas("import", "chat", PLANTED)
    lock = scope_folder(home, scope_named("default", "imported")) / "ledger.lock"
    ticks = iter(range(0, 10_000, 2))
    monkeypatch.setattr(files.time, "monotonic", lambda: float(next(ticks)))
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        more = SAMPLES / "secrets-chat.jsonl"
        refusal = veritas("import", "chat", more).refused()
        assert str(lock) in refusal
        assert "run the command again" in refusal
        assert veritas("verify").code == 0, "reading waits for nobody"
    assert veritas("import", "chat", more).code == 0


def test_a_pipe_whose_reader_has_gone_ends_quietly(home: Path, story: Story):
    del story
    command = [sys.executable, "-m", "pipelines.cli", "why", *STORY]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VERITAS_HOME": str(home)}
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_full_disk_behind_standard_output_is_said(home: Path, story: Story):
    del story
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VERITAS_HOME": str(home)}
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "pipelines.cli", "why", *STORY]
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_any_locale_can_print_any_text(home: Path, story: Story):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VERITAS_HOME": str(home), "PYTHONIOENCODING": "ascii"}
    for options in ((), ("--json",)):
        command = [sys.executable, "-m", "pipelines.cli", "why", story.id("user"), *STORY, *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Wie hoch ist der Turm \\u2014 in Metern?" in done.stdout
