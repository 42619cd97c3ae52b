from __future__ import annotations

import pytest

from attribution.models import LanguageModel, ModelFiles, load_language_model, resolve_model
from tests.attribution.tiny import make_tiny_model


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    folder = make_tiny_model(tmp_path_factory.mktemp("models") / "tiny")
    return resolve_model(str(folder), tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def tiny(tiny_files: ModelFiles) -> LanguageModel:
    return load_language_model(tiny_files, threads=1)


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    """The packaged model; only slow tests may ask for it."""
    cache = tmp_path_factory.mktemp("smollm2")
    return load_language_model(resolve_model("smollm2-135m", cache), threads=1)
