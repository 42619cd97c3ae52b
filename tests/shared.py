"""Access to third-party vectors and data that lie beside the project and never inside it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_path(relative: str) -> Path:
    """Path of ``relative`` below the shared folder; skips the calling test where it is absent."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"shared material is absent: ../shared/{relative}")
    return path
