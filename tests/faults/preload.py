"""A Python process under the shim: forks a child per attempt, arms the shim in it and tells what became of it.

Below the language, so that what SQLite does to its files is seen and made to fail like everything else. Needs a C
compiler and nothing more: no tracing of other processes, which a container may forbid.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import IO

from tests.tree import ROOT

SOURCE = Path(__file__).with_name("shim.c")


class Action(IntEnum):
    """What happens at the chosen call; the order is that of the shim."""

    WATCH = 0
    FAIL_ONCE = 1
    FAIL_FROM = 2
    KILL_BEFORE = 3
    KILL_AFTER = 4
    KILL_HALF = 5


@dataclass(frozen=True)
class Step:
    """One call by which a file changed or became durable."""

    call: str
    """`create`, `write`, `truncate`, `fsync`, `rename`, `unlink` or `mkdir`."""
    path: str
    """Relative to the folder that was armed."""


@dataclass(frozen=True)
class Attempt:
    """What became of one child."""

    status: int
    """Exit status; negative where a signal ended the child."""
    said: tuple[str, ...]
    """What the scenario acknowledged, in order, each before the next step."""
    steps: tuple[Step, ...]


def build(folder: Path) -> Path | None:
    """The compiled shim in ``folder``, or None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    library = folder / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


class Preloaded:
    """The process; imports are done once, an attempt costs a fork."""

    def __init__(self, library: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.preload", str(library)],
            env={**os.environ, "LD_PRELOAD": str(library)},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def attempt(
        self, scenario: str, home: Path, at: int = 0, action: Action = Action.WATCH, code: int = 0, **options: object
    ) -> Attempt:
        """Run ``scenario`` of :mod:`tests.faults.scenarios` on ``home`` with the shim armed as told."""
        order = {"scenario": scenario, "home": str(home), "at": at, "action": action, "code": code, "options": options}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        found = json.loads(stdout.readline())
        steps = tuple(Step(call, path) for call, path in found["steps"])
        return Attempt(found["status"], tuple(found["said"]), steps)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


class Durable:
    """What would be left of a folder if the power failed now, at worst.

    A file has the bytes of its last fsync, none if there was none; a folder has the names of its last fsync.
    """

    def __init__(self, shim: ctypes.CDLL, folder: Path) -> None:
        self._folder = folder
        self._bytes: dict[int, bytes] = {}
        self._names: dict[str, dict[str, int]] = {}
        for path in (folder, *folder.rglob("*")):
            self._settle(str(path))
        self._told = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda path: self._settle(os.fsdecode(path)))
        shim.fault_on_sync(self._told)

    def _settle(self, path: str) -> None:
        if os.path.isdir(path):  # noqa: PTH112 - called back from inside a system call; as little as possible
            with os.scandir(path) as entries:
                self._names[path] = {entry.name: entry.inode() for entry in entries}
        else:
            with open(path, "rb") as file:  # noqa: PTH123 - as above
                self._bytes[os.fstat(file.fileno()).st_ino] = file.read()

    def copy_to(self, target: Path) -> None:
        """Write the folder as it would be found."""
        self._copy(str(self._folder), target)

    def _copy(self, source: str, target: Path) -> None:
        target.mkdir()
        for name, inode in self._names.get(source, {}).items():
            inner = f"{source}/{name}"
            if os.path.isdir(inner):  # noqa: PTH112 - a string all the way
                self._copy(inner, target / name)
            else:
                (target / name).write_bytes(self._bytes.get(inode, b""))


def _child(order: Mapping[str, object], shim: ctypes.CDLL, scenarios: ModuleType, log: int, said: int) -> None:
    home = Path(str(order["home"]))

    @contextmanager
    def armed() -> Iterator[None]:
        shim.fault_arm(os.fsencode(f"{home}/"), log, order["at"], order["action"], order["code"])
        try:
            yield
        finally:
            shim.fault_disarm()

    def say(line: str) -> None:
        os.write(said, f"{line}\n".encode())

    scenario = getattr(scenarios, str(order["scenario"]))
    scenario(home, armed, say, Durable(shim, home), **order["options"])  # type: ignore[arg-type]


def _attempt(
    order: Mapping[str, object], shim: ctypes.CDLL, scenarios: ModuleType, log: IO[bytes], said: IO[bytes]
) -> dict[str, object]:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _child(order, shim, scenarios, log.fileno(), said.fileno())
            status = 0
        except BaseException as error:  # noqa: BLE001 - whatever it was, the parent must be told
            os.write(said.fileno(), f"crash {error!r}\n".encode())
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    log.seek(0)
    said.seek(0)
    steps = [line.split("\t")[1:] for line in log.read().decode().splitlines()]
    return {
        "status": os.waitstatus_to_exitcode(status),
        "said": said.read().decode().splitlines(),
        "steps": steps,
    }


def main() -> None:
    """Serve orders, one JSON object a line, until the input ends."""
    scenarios = importlib.import_module("tests.faults.scenarios")  # imports this module, too, under its own name
    shim = ctypes.CDLL(sys.argv[1])
    shim.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    for line in sys.stdin:
        with tempfile.TemporaryFile() as log, tempfile.TemporaryFile() as said:
            found = _attempt(json.loads(line), shim, scenarios, log, said)
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
