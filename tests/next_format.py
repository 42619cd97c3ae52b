"""This program as it will be one ledger format later, for tests of migrations."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledger_core.stores import formats, postgres_link, sqlite, sqlite_files

STEP = """
from alembic import op

revision = "{wanted:04d}"
down_revision = "{now:04d}"


def upgrade():
    op.execute("ALTER TABLE events ADD COLUMN remark TEXT NOT NULL DEFAULT 'none'")
"""


@contextmanager
def next_format(folder: Path, step: str = STEP) -> Iterator[int]:
    """A context in which the format is one higher; ``step`` leads there, by default to one more column of the events."""
    now = formats.FORMAT_VERSION
    shutil.copytree(formats.MIGRATIONS, folder)
    text = step.format(now=now, wanted=now + 1)
    (folder / "versions" / f"{now + 1:04d}_remarks.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "MIGRATIONS", folder)
        for module in (formats, postgres_link, sqlite, sqlite_files):
            patch.setattr(module, "FORMAT_VERSION", now + 1)
        yield now + 1
