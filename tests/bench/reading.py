"""`python -m tests.bench.reading HOME WHAT`: reads a whole ledger in a process of its own, so that its memory is known."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.measuring import Timing, timed
from tests.tree import ROOT


@dataclass(frozen=True)
class Reading:
    """What one process took to read a ledger."""

    timing: Timing
    peak_mebibytes: float
    """Largest resident sets of the process and of one that it started, together; interpreters and libraries included."""
    events: int


def read(home: Path, what: str) -> Reading:
    """Run ``what`` of this module on the ledger under ``home``, imports not counted."""
    command = [sys.executable, "-m", "tests.bench.reading", str(home), what]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return Reading(Timing(found["seconds"], found["cpu_seconds"]), found["peak_kibibytes"] / 1024, found["events"])


def _verify_and_fold(home: Path) -> Callable[[], int]:
    from ledger_core.belief import SEED_V4_CLUSTERS
    from ledger_core.belief.log_fold import LogFold
    from ledger_core.stores.verify import verify
    from tests.bench.trajectories import open_ledger

    def work() -> int:
        with open_ledger(home) as ledger:
            belief = LogFold()
            report = verify(ledger, belief=belief)
            report.require()
            state = belief.state(SEED_V4_CLUSTERS)
            # Every belief is asked for, and none of them kept.
            assert sum(1 for _ in state.entries.values()) == len(state.entries)
            return report.events

    return work


def _plain(home: Path) -> Callable[[], int]:
    from tests.bench.peers import read_hash_parse

    blobs = [path for path in home.rglob("blobs/**/*") if path.is_file()]
    (file,) = home.rglob("ledger.sqlite3")
    return lambda: read_hash_parse(file, blobs)


def _peak_kibibytes() -> int:
    """Largest resident sets, at most: of this program and of the largest that it started.

    What the system says of one that was started may be what its parent held when it started it.
    """
    return _own_peak() + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def _own_peak() -> int:
    """Of this program; where the system only knows that of the process, its parent's counts too."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


_WHATS = {"verify-and-fold": _verify_and_fold, "plain": _plain}


def main(home: str, what: str) -> None:
    """Print what it took, as one JSON object."""
    work = _WHATS[what](Path(home))
    events = 0

    def counted() -> None:
        nonlocal events
        events = work()

    timing = timed(counted)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {
        "seconds": timing.seconds,
        "cpu_seconds": timing.cpu_seconds + children.ru_utime + children.ru_stime,
        "peak_kibibytes": _peak_kibibytes(),
        "events": events,
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
