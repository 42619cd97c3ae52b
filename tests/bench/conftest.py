from __future__ import annotations

from tests.attribution.conftest import tiny, tiny_files

__all__ = ["tiny", "tiny_files"]
