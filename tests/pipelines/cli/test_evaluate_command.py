"""`veritas evaluate`: what is refused before anything is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.agents import KEY_VARIABLE
from pipelines.errors import ExitCode
from tests.pipelines.cli.conftest import Veritas


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--quick", "--full"], "--quick and --full are two sizes of one run; give one of them, or none"),
        (["--population", "conflictqa"], "--population takes FORMAT=PATH, such as conflictqa=file.jsonl"),
        (["--agent", "gpt"], "--agent takes local, or openai:MODEL for a server; got 'gpt'"),
        (["--agent", "openai:small"], f"needs a key in {KEY_VARIABLE}"),
    ],
    ids=["two sizes", "no path", "no agent", "no key"],
)
def test_what_cannot_be_is_refused_in_one_line(
    veritas: Veritas, home: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert reason in veritas("evaluate", *arguments).refused(ExitCode.USAGE)
    assert not (home / "runs").exists()


def test_a_population_that_is_not_there_is_named(veritas: Veritas, home: Path, tmp_path: Path):
    missing = tmp_path / "missing.jsonl"
    assert str(missing) in veritas("evaluate", "--population", f"conflictqa={missing}").refused()
    assert not (home / "runs").exists()


def test_a_scenario_with_an_unknown_field_is_refused_before_anything_starts(
    veritas: Veritas, home: Path, tmp_path: Path
):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"family": "mine", "surprise": 1}))
    assert "own" in veritas("evaluate", "--population", f"scenarios={path}").refused()
    assert not (home / "runs").exists()
