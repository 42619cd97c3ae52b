from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest

from attribution.models import LanguageModel, ModelFiles, load_language_model, resolve_model
from tests.attribution.scorers.completions_server import CompletionsServer
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


@pytest.fixture
def no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them takes longer than most of these tests, and none speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda *_, **__: context)


@pytest.fixture
def served(tiny: LanguageModel) -> Iterator[CompletionsServer]:
    running = CompletionsServer(tiny)
    yield running
    running.close()
