from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tree import ROOT


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "VERITAS_"))}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
    )


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("answer", "named"), [('[ "$1" = --version ] && echo Python 3.9.2; exit 1', "Python 3.9.2"), (None, "not found")]
)
def test_a_python_that_is_too_old_or_absent_is_named_before_anything_is_made(tmp_path: Path, answer, named: str):
    python = tmp_path / "python3.9"
    if answer is not None:
        script(python, answer)
    done = make("run", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode == 2
    assert "Veritas needs Python 3.11 or newer" in done.stderr
    assert named in done.stderr
    assert "make PYTHON=/path/to/python3.11 run" in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt", None])
def test_the_environment_is_installed_again_when_what_it_holds_is_stated_anew(tmp_path: Path, changed: str | None):
    venv = tmp_path / "venv"
    venv.mkdir()
    stamp = venv / ".installed"
    stamp.touch()
    if changed is not None:
        age = (ROOT / changed).stat().st_mtime - 1
        os.utime(stamp, (age, age))
    plan = make("--dry-run", "setup", f"VENV={venv}").stdout
    assert ("pip install" in plan) is (changed is not None)


@pytest.fixture
def planned(tmp_path: Path) -> Callable[..., str]:
    """What `make` would do in an environment that is installed; the plan alone costs nothing."""
    (tmp_path / ".installed").touch()
    return lambda *arguments: make("--dry-run", f"VENV={tmp_path}", *arguments).stdout


def test_both_test_commands_together_run_every_test(planned):
    fast, slow = (planned(target) for target in ("test", "test-slow"))
    assert '-m "not slow and not browser"' in fast
    assert '-m "slow or browser"' in slow
    for plan in (fast, slow):
        assert "OMP_NUM_THREADS=1 VERITAS_THREADS=1" in plan


def test_quick_and_suite_reach_the_commands(planned):
    assert planned("run", "QUICK=1").rstrip().endswith("/veritas run --quick")
    assert planned("run").rstrip().endswith("/veritas run")
    assert "-m tests.bench attribution" in planned("bench", "SUITE=attribution")
