"""A boundary over a ledger in memory, with a clock that ticks and tools that count their runs."""

from __future__ import annotations

import itertools

from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.kernel.errors import StorageFullError
from ledger_core.kernel.statements import Scope
from ledger_core.sealing import ToolBoundary, ToolRegistry, register
from ledger_core.stores import Ledger

SCOPE = Scope.make(project_namespace="workshop", tenant_namespace="unit")


class Clock:
    """A second for every look at it."""

    def __init__(self) -> None:
        self._seconds = itertools.count()

    def __call__(self) -> str:
        minutes, seconds = divmod(next(self._seconds), 60)
        return f"2026-05-01T10:{minutes:02}:{seconds:02}.000000000Z"


def open_ledger(now="2026-05-01T09:00:00.000000000Z", policy=SEED_V4_CLUSTERS):
    return Ledger.in_memory(SCOPE, now=now, policy=policy, policy_name="workshop")


def on_disk(home):
    """A ledger below the folder ``home``."""
    return Ledger.open(
        home, SCOPE, now="2026-05-01T09:00:00.000000000Z", policy=SEED_V4_CLUSTERS, policy_name="workshop"
    )


def external(name, function, **fields):
    """A read-only, deterministic tool of one host."""
    given = {"effect": "read_only", "reach": "external_read", "determinism": "deterministic"}
    return register(name, function, **{**given, "origin_host": f"{name}.test", **fields})


def local(name, function, **fields):
    return register(
        name, function, **{"effect": "read_only", "reach": "local", "determinism": "deterministic", **fields}
    )


def boundary(*tools, ledger=None, **fields):
    return ToolBoundary(ledger or open_ledger(), ToolRegistry(tools), "run-1", Clock(), **fields)


def statements(ledger, kind=None):
    return [event.statement for event in ledger.events() if kind in {None, event.statement.kind}]


def content(ledger, call):
    """Bytes of each observation of a sealed call."""
    return [ledger.read_blob(each.content) for each in call.observations]


class Counted:
    """A function that counts its calls and gives what it is told to, in turn; the last for ever."""

    def __init__(self, *results) -> None:
        self.results = list(results)
        self.calls = 0

    def __call__(self, **_arguments):
        self.calls += 1
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, BaseException):
            raise result
        return result


class FailingSink:
    """A ledger whose disk is full for the first few writes of one kind."""

    def __init__(self, ledger, *, fail, times=1):
        self.ledger, self.fail, self.times = ledger, fail, times
        self.appended = []

    @property
    def scope(self):
        return self.ledger.scope

    def _try(self, step):
        if step == self.fail and self.times:
            self.times -= 1
            raise StorageFullError("no space left; free some")

    def put_blobs(self, many):
        self._try("blobs")
        return self.ledger.put_blobs(many)

    def put_blob_stream(self, chunks, media_type):
        self._try("stream")
        return self.ledger.put_blob_stream(chunks, media_type)

    def append(self, statements, *, role):
        self.appended.append([statement.encoded for statement in statements])
        self._try("append")
        outcomes = self.ledger.append(statements, role=role)
        self._try("acknowledge")
        return outcomes
