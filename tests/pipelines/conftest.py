from __future__ import annotations

import pytest

from attribution.models import LanguageModel, load_language_model, resolve_model
from tests.attribution.tiny import make_tiny_model


@pytest.fixture(scope="session")
def tiny_wide(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    """A random-weight model with room for whole prompts in its byte-level vocabulary."""
    folder = make_tiny_model(tmp_path_factory.mktemp("models") / "wide", context_window=4096)
    return load_language_model(resolve_model(str(folder), tmp_path_factory.mktemp("cache")), threads=1)
