"""`veritas` as a function: the real entry point in this process, on a home of the test's own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.stores import Ledger
from pipelines.cli import main
from tests.ledger_core.story import NOW, SCOPE, Story, tell

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "data" / "samples"


@dataclass(frozen=True)
class Finished:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    def refused(self, code: int = 1) -> str:
        """The one line of a refusal with this exit code, which printed nothing else."""
        assert (self.code, self.out) == (code, ""), self
        assert self.err.startswith("veritas: ")
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip()


Veritas = Callable[..., Finished]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


_OF_THE_MACHINE = {"VERITAS_NO_SKIP", "VERITAS_THREADS"}
"""What a run of the tests is told about where it runs: no test may be deaf to it."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but the test's own: neither the clone's folder nor the environment's."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("VERITAS_") and name not in _OF_THE_MACHINE]:
        monkeypatch.delenv(name)


@pytest.fixture
def veritas(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Veritas:
    def run(*arguments: object, at: Path = home) -> Finished:
        monkeypatch.setattr(sys, "argv", ["veritas", "--home", str(at), *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out + captured.err, "no colours and no controls without a terminal"
        return Finished(int(stop.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def story(home: Path) -> Story:
    """The ledger `tests/story` below ``home``, with a statement of every kind."""
    with Ledger.open(home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME) as ledger:
        return tell(ledger)


STORY = ("--tenant", SCOPE.tenant_namespace, "--project", SCOPE.project_namespace)
"""Options that name the story's ledger."""


def conversation(number: int) -> dict[str, Any]:
    """A conversation of four events: two given, a generation, its one claim."""
    return {
        "messages": [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": f"What is {number} plus one?"},
            {"role": "assistant", "content": f"It is {number + 1}."},
        ]
    }


def write_chat(path: Path, *conversations: object) -> Path:
    """``conversations`` as JSON lines; a string stands as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in conversations]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
