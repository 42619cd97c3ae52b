from __future__ import annotations

import pytest

from attribution.models import ModelFiles, resolve_model
from tests.attribution.tiny import make_tiny_model
from tests.bench.executors_equality import WAYS, _differences, _figure


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    folder = make_tiny_model(tmp_path_factory.mktemp("models") / "wide", context_window=4096)
    return resolve_model(str(folder), tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("way", ["second run", "resumed"])
def test_the_same_blocks_have_the_same_bits(files, way):
    found = _differences(files, 16, WAYS[way])
    assert (found["masks"], found["blocks"], found["differ"], found["largest_nats"]) == (16, 2, 0, 0.0)
    assert found["cells"] > 16
    assert _figure(way, found).goals[0].met


def test_a_coarser_arithmetic_is_seen_and_promised_nothing(files):
    found = _differences(files, 16, WAYS["bfloat16"])
    assert found["differ"] > 0
    assert found["largest_nats"] > 1e-4
    assert _figure("bfloat16", found).goals == ()


def test_one_score_that_differs_misses_the_goal(files):
    found = _differences(files, 16, WAYS["second run"]) | {"differ": 1, "largest_nats": 1e-6}
    figure = _figure("second run", found)
    assert not figure.goals[0].met
    assert figure.line().startswith("float32, one thread here, against: second run: 1 of ")
