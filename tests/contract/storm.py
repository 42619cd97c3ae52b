"""Many processes append to one ledger while some of them, or the server, are killed: what was acknowledged must be there.

As a program for long runs: ``python -m tests.contract.storm --store sqlite --appends 20000 --kills 200``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.errors import StoreError
from ledger_core.stores import Ledger, Place
from ledger_core.stores.verify import verify
from tests.ledger_core.stores.test_sqlite import note
from tests.ledger_core.story import NOW, SCOPE

_T = TypeVar("_T")
_PATIENCE_SECONDS = 120.0
_KILL_PAUSE = (0.005, 0.05)
_CALM = "calm"
"""Made when the last kill is done: no writer makes its last append before, so every planned kill meets a writer."""


@dataclass(frozen=True)
class Storm:
    """How hard it blows."""

    place: Place
    appends: int = 1_600
    """In all, shared evenly by the writers."""
    writers: int = 16
    kills: int = 40
    """Writers that are killed at random moments; each is started again and goes on."""
    seed: int = 1
    kill_server: Callable[[], None] | None = None
    """Kills the server and starts it again."""
    server_kills: int = 0

    @property
    def steps(self) -> int:
        """Appends of one writer."""
        return self.appends // self.writers

    def rage(self, folder: Path) -> Aftermath:
        """Let it blow; acknowledgements are kept in ``folder``."""
        _open(self.place).close()
        chosen = random.Random(self.seed)
        living = {number: self._start(folder, number) for number in range(self.writers)}
        killed, server_kills, deadline = 0, 0, time.monotonic() + _PATIENCE_SECONDS * (1 + self.appends / 2_000)
        try:
            while living:
                assert time.monotonic() < deadline, f"writers {sorted(living)} do not finish"
                time.sleep(chosen.uniform(*_KILL_PAUSE))
                for number, process in list(living.items()):
                    pid, status = os.waitpid(process, os.WNOHANG)
                    if pid:
                        assert status == 0, f"writer {number} ended with {os.waitstatus_to_exitcode(status)}"
                        del living[number]
                if killed < self.kills:
                    number = chosen.choice(sorted(living))
                    os.kill(living[number], signal.SIGKILL)
                    os.waitpid(living[number], 0)
                    killed += 1
                    living[number] = self._start(folder, number)
                if killed == self.kills:
                    (folder / _CALM).touch()
                if living and self.kill_server is not None and server_kills < self.server_kills:
                    server_kills += 1
                    self.kill_server()
        finally:
            for process in living.values():
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        return Aftermath(self, folder, killed, server_kills)

    def _start(self, folder: Path, number: int) -> int:
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            _write_all(self, folder, number)
            status = 0
        except BaseException as error:  # noqa: BLE001 - a forked child must not go on as a test runner
            sys.stderr.write(f"writer {number}: {error!r}\n")
        finally:
            os._exit(status)


@dataclass(frozen=True)
class Aftermath:
    """What is left."""

    storm: Storm
    folder: Path
    killed: int
    server_kills: int

    def check(self) -> None:
        """Every acknowledged event stands where it was acknowledged, every step once, and the chain is one."""
        acknowledged: list[tuple[str, int]] = []
        for number in range(self.storm.writers):
            lines = _acknowledged(self.folder, number)
            offsets = [offset for _, offset in lines]
            assert offsets == sorted(offsets), f"writer {number} was answered out of order"
            assert len(lines) == self.storm.steps
            acknowledged += lines
        with _open(self.storm.place) as ledger:
            present = {event.event_id: event.offset for event in ledger.events()}
            lost = [event_id for event_id, offset in acknowledged if present.get(event_id) != offset]
            assert lost == []
            assert len(present) == ledger.count() == self.storm.steps * self.storm.writers
            assert verify(ledger).first_divergence is None


def _open(place: Place) -> Ledger:
    return Ledger.open(
        place, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME, wait_seconds=30
    )


def _acknowledged(folder: Path, number: int) -> list[tuple[str, int]]:
    path = folder / f"writer-{number}"
    if not path.exists():
        return []
    # A line without its end was being written when the writer was killed: that append was not acknowledged.
    lines = path.read_text(encoding="ascii").split("\n")[:-1]
    return [(event_id, int(offset)) for event_id, offset in (line.split() for line in lines)]


def _write_all(storm: Storm, folder: Path, number: int) -> None:
    done = _acknowledged(folder, number)
    path = folder / f"writer-{number}"
    path.write_text("".join(f"{event_id} {offset}\n" for event_id, offset in done), encoding="ascii")
    ledger = _patiently(lambda: _open(storm.place))
    with path.open("ab", buffering=0) as log:
        for step in range(len(done), storm.steps):
            while step == storm.steps - 1 and not (folder / _CALM).exists():
                time.sleep(0.005)
            statement = note(ledger, number * storm.steps + step, f"writer {number}")
            (outcome,) = _patiently(lambda statement=statement: ledger.append((statement,), role="recorder"))
            log.write(f"{outcome.event_id} {outcome.position.committed_offset}\n".encode())


def _patiently(act: Callable[[], _T]) -> _T:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return act()
        except StoreError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--appends", type=int, default=20_000)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--server-kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="veritas-storm-")))
        place, kill_server = Place(folder / "home"), None
        if given.store == "postgresql":
            from tests.postgres import running

            server = stack.enter_context(running())
            place = Place(folder / "home", server.create("storm"))
            kill_server = server.restart_after_kill
        storm = Storm(place, given.appends, given.writers, given.kills, given.seed, kill_server, given.server_kills)
        started = time.monotonic()
        aftermath = storm.rage(folder)
        seconds = time.monotonic() - started
        aftermath.check()
    total = storm.steps * storm.writers
    sys.stdout.write(
        f"{given.store}: {total:,} appends by {storm.writers} processes in {seconds:.1f} s ({total / seconds:,.0f}/s),"
        f" {aftermath.killed} writers and {aftermath.server_kills} servers killed: nothing lost, no fork\n"
    )


if __name__ == "__main__":
    _main()
