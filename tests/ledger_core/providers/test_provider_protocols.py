"""What is injected as a provider is one: held by the type checker, and here by use."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import numpy as np

from attribution.models.embedder import Embedder
from ledger_core.providers import EmbeddingProvider, LlmProvider, Message, OpenAiEmbedder, OpenAiLlm
from ledger_core.providers.fake import FakeEmbedder, FakeLlm


def parameters(method):
    return [(p.name, p.kind) for p in inspect.signature(method).parameters.values()]


def test_every_implementation_has_the_protocols_methods():
    for embedder in (Embedder, OpenAiEmbedder, FakeEmbedder):
        assert parameters(embedder.embed) == parameters(EmbeddingProvider.embed)
    for llm in (OpenAiLlm, FakeLlm):
        assert parameters(llm.complete) == parameters(LlmProvider.complete)
    assert get_type_hints(OpenAiLlm.complete)["messages"] == get_type_hints(LlmProvider.complete)["messages"]


def test_the_packaged_embedder_names_its_weights():
    assert Embedder(None, None, "ab" * 32).model == f"all-MiniLM-L6-v2@{'ab' * 32}"


def test_fakes_are_deterministic_and_remember():
    llm = FakeLlm(lambda messages: messages[-1].content.upper())
    assert llm.complete([Message("user", "a")], max_tokens=1).text == "A"
    assert llm.asked == [(Message("user", "a"),)]
    embedder = FakeEmbedder()
    rows = embedder.embed(["red house", "a red house", "blue", ""])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert np.array_equal(rows, FakeEmbedder().embed(["red house", "a red house", "blue", ""]))
    assert rows[0] @ rows[1] > 0.8
    assert rows[0] @ rows[2] < 0.1
