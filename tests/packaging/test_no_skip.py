"""Continuous integration fails on a skip of any kind, wherever it happens."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tree import ROOT

SKIPS = {
    "in the test": "import pytest\ndef test_a():\n    pytest.skip('absent')\n",
    "by mark": "import pytest\n@pytest.mark.skip(reason='absent')\ndef test_a():\n    pass\n",
    "by condition": "import pytest\n@pytest.mark.skipif(True, reason='absent')\ndef test_a():\n    pass\n",
    "in a fixture": "import pytest\n@pytest.fixture\ndef f():\n    pytest.skip('absent')\ndef test_a(f):\n    pass\n",
    "of the module": "import pytest\npytest.skip('absent', allow_module_level=True)\ndef test_a():\n    pass\n",
    "of an import": "import pytest\npytest.importorskip('no_such_module')\ndef test_a():\n    pass\n",
    "of no parameters": "import pytest\n@pytest.mark.parametrize('x', [])\ndef test_a(x):\n    pass\n",
    "by unittest": "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        self.skipTest('absent')\n",
}
PASSES = "def test_passes():\n    pass\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copyfile(ROOT / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_passes.py").write_text(PASSES, encoding="utf-8")
    return tmp_path


def outcome(folder: Path, *options: str, forbidden: bool) -> tuple[int, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VERITAS_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=kept | ({"VERITAS_NO_SKIP": "1"} if forbidden else {}),
    )
    return done.returncode, done.stdout


def test_every_kind_of_skip_is_allowed_at_home_and_fails_in_continuous_integration(suite: Path):
    for number, text in enumerate(SKIPS.values()):
        (suite / f"test_skip_{number}.py").write_text(text, encoding="utf-8")
    code, printed = outcome(suite, forbidden=False)
    assert code == 0
    assert f"1 passed, {len(SKIPS)} skipped" in printed
    code, printed = outcome(suite, "--continue-on-collection-errors", forbidden=True)
    assert code == 1
    assert "1 passed" in printed
    assert "skipped in" not in printed
    for number, kind in enumerate(SKIPS):
        failed = [
            line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR")) and f"_{number}.py" in line
        ]
        assert failed, kind


@pytest.mark.parametrize("kind", ["of the module", "by mark"])
def test_a_skip_fails_in_every_process_of_several(suite: Path, kind: str):
    (suite / "test_skip.py").write_text(SKIPS[kind], encoding="utf-8")
    code, printed = outcome(suite, "-n", "2", forbidden=True)
    assert code != 0
    assert "was skipped where nothing may be" in printed
