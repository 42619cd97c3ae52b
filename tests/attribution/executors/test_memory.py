"""What a worker is said to take against what one takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from attribution.executors.budget import MIB
from tests.tree import ROOT

SCORES = r"""
import re, sys
from pathlib import Path
import numpy as np
from attribution.blocks import make_blocks
from attribution.executors.memory import ModelMemory
from attribution.layout import Target, Unit, build_layout, tile
from attribution.models import load_language_model, resolve_model
from attribution.scorers.transformers_scorer import CHUNK_TOKENS, TransformersScorer

language = load_language_model(resolve_model("smollm2-135m", Path(sys.argv[1])), threads=1, dtype=sys.argv[2])
scorer = TransformersScorer(language)
words = np.random.default_rng(0).integers(10, 40_000, size=(8, 150))
texts = [tuple(map(int, row)) for row in words]
ids, regions = tile([((1,), None), *((text, unit) for unit, text in enumerate(texts[:7])), (texts[7][:20], None)])
claim = Target("c", len(ids) - 20, len(ids), None, (tuple(token + 1 for token in ids[-20:]),))
layout = build_layout(ids, regions, [Unit(str(u), str(u)) for u in range(7)], (claim,), context_window=8192)
states = np.ones((2, 7), dtype=np.uint8)
states[1, ::2] = 0
scorer.score(layout, make_blocks(scorer, layout, states)[0])
planned = ModelMemory.of(language)(longest=layout.longest(), chunk_tokens=CHUNK_TOKENS)
# The peak of this program alone: that of getrusage begins with the one of the process that started it.
taken = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
print(planned, taken)
"""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_worker_with_the_packaged_model_stays_below_what_was_planned(smollm2, dtype):
    """And not by half: a bound that refuses what would fit is no bound."""
    command = [sys.executable, "-c", SCORES, str(smollm2.files.path.parent), dtype]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    planned, taken = map(int, done.stdout.split())
    assert taken <= planned <= 2 * taken, (planned // MIB, taken // MIB)
