"""A real local cluster of two workers."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from attribution.blocks import BlockCache, make_blocks, score_blocks
from attribution.errors import BlockError, ExecutorError
from attribution.executors import ModelSpec, SerialExecutor
from attribution.executors.ray_cluster import RayExecutor
from attribution.scorers.transformers_scorer import TransformersScorer
from tests.attribution.executors.recorded import Recorded, begun, pids
from tests.attribution.scorers.trajectories import trajectory

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

STATES = np.array(
    [(a, b, c, d) for a in range(3) for b in range(3) for c in range(2) for d in range(3)], dtype=np.uint8
)


def listeners() -> set[str]:
    """Addresses, as the kernel writes them, that processes of this machine listen on for TCP."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A":
                found.add(cells[1])
    return found


def is_loopback(address: str) -> bool:
    return address.split(":", maxsplit=1)[0] in {
        "0100007F",
        "0000000000000000FFFF00000100007F",
        "00000000000000000000000001000000",
    }


def test_a_worker_is_killed_and_the_table_is_whole_and_equal_to_the_bit(tiny, tiny_files, tmp_path, capfd):
    layout, trace = trajectory(tiny), tmp_path / "trace"
    trace.mkdir()
    alone = TransformersScorer(tiny)
    blocks = make_blocks(alone, layout, STATES, masks_per_block=6)
    expected = score_blocks(alone, layout, blocks)
    spec = Recorded(ModelSpec(tiny_files), trace, seconds=0.2)
    cache = BlockCache(tmp_path / "blocks")
    score_blocks(SerialExecutor(alone), layout, blocks[:2], cache)
    before, folders = listeners(), set(Path(tempfile.gettempdir()).glob("veritas-ray-*"))
    executor = RayExecutor(alone, spec, workers=2)
    try:
        (trace / "kill").touch()
        tables = score_blocks(executor, layout, blocks, cache)
        assert all(np.array_equal(one, other) for one, other in zip(tables, expected, strict=True))
        assert all(np.array_equal(cache.get(block), one) for block, one in zip(blocks, expected, strict=True))

        killed = list(trace.glob("killed.*"))
        assert len(killed) == executor.deaths == 1
        assert len(begun(trace)) == len(blocks) - 2 + 1
        assert set(begun(trace)) == {block.digest for block in blocks[2:]}
        assert len(pids(trace)) >= 2
        assert os.getpid() not in pids(trace)

        opened = listeners() - before
        assert opened
        assert all(map(is_loopback, opened)), opened

        with pytest.raises(BlockError, match="was made for layout"):
            executor.score_all(trajectory(tiny, entry="another"), blocks[:1], None)
    finally:
        executor.close()
    with pytest.raises(ExecutorError, match="closed"):
        executor.score(layout, blocks[0])
    assert set(Path(tempfile.gettempdir()).glob("veritas-ray-*")) == folders
    _wait_for(lambda: not listeners() - before)
    assert "RAY_AUTH_TOKEN" not in os.environ
    assert not any(_is_worker(pid) for pid in pids(trace))
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == ""


def _is_worker(pid: int) -> bool:
    try:
        return b"ray::" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def _wait_for(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
