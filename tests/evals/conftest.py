from __future__ import annotations

from tests.attribution.conftest import smollm2, tiny, tiny_files

__all__ = ["smollm2", "tiny", "tiny_files"]
