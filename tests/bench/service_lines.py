"""The service under sixteen clients that each write one entry after the other."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ledger_core.belief.policies import STRICT_CLUSTERS, STRICT_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT, ContentRef
from ledger_core.kernel.statements import Scope
from ledger_core.service import calls
from ledger_core.service.client import Client
from ledger_core.service.requests import EntryDraft
from ledger_core.service.tokens import TokenStore
from ledger_core.stores import Ledger
from tests.bench.measuring import Figure, Finding
from tests.bench.sizes import Sizes
from tests.bench.trajectories import NOW
from tests.ledger_core.service.drafts import entry
from tests.tree import ROOT

CLIENTS = 16
_SCOPE = Scope.make(tenant_namespace="bench", project_namespace="service")


def run(place: Path, sizes: Sizes) -> Iterator[Finding]:
    """Throughput, and how long the slowest hundredth of the requests took."""
    place.mkdir(parents=True)
    tokens = TokenStore(place)
    _, token = tokens.create(_SCOPE, "agent", now=NOW)
    tokens.close()
    with Ledger.open(place, _SCOPE, now=NOW, policy=STRICT_CLUSTERS, policy_name=STRICT_CLUSTERS_NAME) as ledger:
        content = ledger.put_blob(b"a note", TEXT)
    with _serving(place) as url:
        _write(url, token, content, range(1))  # connections, caches and the ledger are opened by somebody
        began = time.perf_counter()
        waits = _write(url, token, content, range(1, 1 + sizes.requests))
        seconds = time.perf_counter() - began
    half, last = np.percentile(waits, [50, 99]) * 1e3
    yield Figure(
        f"service, {CLIENTS} clients in one process beside it",
        f"{len(waits) / seconds:.0f} appended entries per second, median {half:.1f} ms, p99 {last:.1f} ms",
    )


def _write(url: str, token: str, content: ContentRef, notes: range) -> list[float]:
    """Seconds of every request of all clients."""
    waits: list[float] = []

    def client(number: int) -> None:
        with Client(url, token) as sender:
            for note in notes:
                draft = entry(content.model_dump(), key=f"{number}/{note}")
                began = time.perf_counter()
                sender.send(calls.commit_entry(EntryDraft.model_validate(draft, strict=False)))
                waits.append(time.perf_counter() - began)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(waits) != CLIENTS * len(notes):
        raise AssertionError(f"{len(waits)} of {CLIENTS * len(notes)} requests were answered")
    return waits


@contextmanager
def _serving(home: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.ledger_core.service.serving", str(home)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()
