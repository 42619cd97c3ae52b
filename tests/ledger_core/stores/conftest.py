"""A ledger on disk, told once a module and copied for each test that harms it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.ledger_core.stores.test_sqlite import open_ledger
from tests.ledger_core.story import tell


@pytest.fixture(scope="module")
def pristine(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("pristine")
    with open_ledger(home) as ledger:
        tell(ledger)
    return home


@pytest.fixture
def home(pristine, tmp_path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "home"))
