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
        (["--verifier", "local"], "--verifier takes oracle, or openai:MODEL for a server; got 'local'"),
        (["--verifier", "openai:judge"], f"--verifier openai:judge needs a key in {KEY_VARIABLE}"),
        (
            ["--agent-url", "http://127.0.0.1:9/v1"],
            "--agent-url is about a server; name its model with --agent openai:",
        ),
        (["--verifier-prices", "1,2"], "--verifier-prices is about a server; name its model with --verifier openai:"),
        (["--attempts", "3"], "limits are about servers, and none is asked; name one with --agent or --verifier"),
        (["--agent", "openai:small", "--agent-prices", "cheap"], "such as 0.15,0.60,USD; got 'cheap'"),
        (["--agent", "openai:small", "--agent-prices", "1,2,USD,3"], "such as 0.15,0.60,USD; got '1,2,USD,3'"),
    ],
    ids=[
        "two sizes",
        "no path",
        "no agent",
        "no key",
        "no verifier",
        "no key of the verifier",
        "a server of nobody",
        "prices of nobody",
        "limits of nobody",
        "no prices",
        "too many prices",
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    veritas: Veritas, home: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert reason in veritas("evaluate", *arguments).refused(ExitCode.USAGE)
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--agent-prices", "1,-2"], "a price of -2 a million completion tokens is none"),
        (["--requests-per-minute", "0"], "0.0 requests a minute ask nothing"),
        (["--tokens-per-minute", "-1"], "-1.0 tokens a minute ask nothing"),
    ],
)
def test_prices_and_limits_that_are_none_are_refused(
    veritas: Veritas, home: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
):
    monkeypatch.setenv(KEY_VARIABLE, "any")
    assert reason in veritas("evaluate", "--agent", "openai:small", *arguments).refused(ExitCode.FAILURE)
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
