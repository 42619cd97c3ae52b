from __future__ import annotations

import os
from pathlib import Path

import pytest

from evals.agents.answer_cache import AnswerCache

KEY = "ab" * 32


def test_an_answer_survives_the_process(tmp_path: Path):
    AnswerCache(tmp_path).put(KEY, {"text": "red.", "ids": [1, 2]})
    assert AnswerCache(tmp_path).get(KEY) == {"text": "red.", "ids": [1, 2]}


def test_without_a_folder_it_lives_as_long_as_the_object():
    cache = AnswerCache()
    cache.put(KEY, {"text": "red."})
    assert cache.get(KEY) == {"text": "red."}
    assert AnswerCache().get(KEY) is None


@pytest.mark.parametrize("damage", ["cut", "list", "binary"])
def test_a_damaged_answer_counts_as_absent(tmp_path: Path, damage: str):
    AnswerCache(tmp_path).put(KEY, {"text": "red."})
    path = tmp_path / KEY[:2] / f"{KEY}.json"
    if damage == "cut":
        os.truncate(path, 5)
    else:
        path.write_bytes(b"[1]" if damage == "list" else b"\xff\xfe")
    assert AnswerCache(tmp_path).get(KEY) is None
