from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attribution.models import load_embedder


@pytest.mark.slow
def test_embeddings_are_unit_vectors_that_know_a_paraphrase(tmp_path: Path):
    embedder = load_embedder(tmp_path)
    texts = ["A cat sits on the mat.", "A kitten is sitting on a rug.", "Bond yields fell in March.", ""]
    rows = embedder.embed(texts)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[0] @ rows[1] > 0.5
    assert rows[0] @ rows[2] < 0.2
    np.testing.assert_allclose(embedder.embed(texts[1:2]), rows[1:2], atol=1e-6)
    assert embedder.embed([]).shape == (0, 384)
    assert list(tmp_path.iterdir()) == []
