"""Every call by which an append, a checkpoint, a close, a beginning or an erasure reaches the disk fails once, or is
the last of the process, or the power fails right after it was acknowledged.

What must hold every time: nothing acknowledged is lost, a transaction is there whole or not at all, the ledger
verifies, the same append succeeds afterwards.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger_core.kernel.content import TEXT, content_ref
from ledger_core.kernel.errors import BlobError
from ledger_core.stores import BlobStatus
from ledger_core.stores.verify import DivergenceKind, verify
from tests.faults import scenarios
from tests.faults.preload import Action, Attempt, Preloaded, Step, build
from tests.ledger_core.stores.test_sqlite import open_ledger

DEATHS = (Action.KILL_AFTER, Action.KILL_HALF)
"""After one call is before the next; before the first nothing has happened."""
FAILURES = ((Action.FAIL_ONCE, errno.EIO), (Action.FAIL_ONCE, errno.ENOSPC), (Action.FAIL_FROM, errno.ENOSPC))
WRITERS = [
    pytest.param("append", [1], id="append"),
    pytest.param("append", [1, 2, 3], id="transaction", marks=pytest.mark.slow),
    pytest.param("append_and_checkpoint", [1], id="checkpoint", marks=pytest.mark.slow),
    pytest.param("close", [1], id="close"),
]


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Preloaded]:
    library = build(tmp_path_factory.mktemp("shim"))
    if library is None:
        pytest.skip("no C compiler: the shim cannot be built (Debian: apt-get install gcc libc6-dev)")
    process = Preloaded(library)
    yield process
    process.close()


class Place:
    """A prepared ledger, and fresh copies of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first = scenarios.prepare(folder / "prepared")

    def copy(self) -> Path:
        target = self.folder / "copy"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder / "prepared", target)
        return target


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where the system has such a place: what is shown is the order of the calls, not the speed of a disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


@pytest.fixture
def place(folder: Path) -> Place:
    return Place(folder)


def said(attempt: Attempt, word: str) -> list[str]:
    return [line.split(" ", 1)[1] for line in attempt.said if line.startswith(f"{word} ")]


def survives(home: Path, first: str, steps: list[int], attempt: Attempt) -> int:
    """Check what lies in ``home`` after ``attempt``; how many events of the transaction there are."""
    assert said(attempt, "crash") == []
    with open_ledger(home) as ledger:
        assert verify(ledger).first_divergence is None
        present = [event.event_id for event in ledger.events()]
        assert present[0] == first
        assert len(present) - 1 in (0, len(steps)), "a transaction is there whole or not at all"
        for acknowledged in (*said(attempt, "event"), *said(attempt, "again")):
            assert acknowledged == present[-1]
        scenarios.write(ledger, *steps)
        scenarios.write(ledger, 99)
        assert ledger.count() == 1 + len(steps) + 1
        assert verify(ledger).first_divergence is None
    return len(present) - 1


def numbers(preloaded: Preloaded, scenario: str, place: Place, **options: object) -> range:
    """The steps of a scenario that nothing disturbs, counted."""
    attempt = preloaded.attempt(scenario, place.copy(), **options)
    assert attempt.status == 0, attempt.said
    assert len(attempt.steps) >= 2
    return range(1, len(attempt.steps) + 1)


def index(steps: tuple[Step, ...], call: str, ending: str, after: int = 0) -> int:
    return next(n for n, s in enumerate(steps) if n >= after and s.call == call and s.path.endswith(ending))


def is_silent(steps: tuple[Step, ...], number: int) -> bool:
    """Whether the call is SQLite's own flush of the folder, whose failure it tells nobody: ours has come before it."""
    failed = steps[number - 1]
    return failed.call == "fsync" and failed.path.endswith("/story") and failed in steps[: number - 1]


@pytest.mark.invariant("EVENT-03", "EVID-01")
def test_the_trace_shows_content_before_its_name_before_its_event(preloaded, place):
    steps = preloaded.attempt("append", place.copy(), steps=[1]).steps
    blob = content_ref(b"text 1", TEXT).digest
    renamed = index(steps, "rename", blob)
    temporary = next(s.path for s in steps if s.call == "create" and "/blobs/tmp/" in s.path)
    assert index(steps, "write", temporary) < index(steps, "fsync", temporary) < renamed
    folder = index(steps, "fsync", f"/{blob[:2]}", after=renamed)
    logged = [n for n, s in enumerate(steps) if s.path.endswith("-wal")]
    assert [steps[n].call for n in logged][-1] == "fsync"
    assert renamed < folder < logged[0]
    assert {steps[n].call for n in logged} <= {"create", "write", "fsync"}
    assert logged[-1] == len(steps) - 1, "the append is acknowledged right after its log was made durable"


@pytest.mark.invariant("§2.6", "EVENT-03")
@pytest.mark.parametrize("action", DEATHS, ids=lambda action: action.name.lower())
@pytest.mark.parametrize(("scenario", "steps"), WRITERS)
def test_killed_at_any_call(preloaded, place, scenario, steps, action):
    outcomes = set()
    for number in numbers(preloaded, scenario, place, steps=steps):
        home = place.copy()
        attempt = preloaded.attempt(scenario, home, number, action, steps=steps)
        assert attempt.status == -signal.SIGKILL
        assert len(attempt.steps) == number
        outcomes.add(survives(home, place.first, steps, attempt))
    assert outcomes == ({len(steps)} if scenario == "close" else {0, len(steps)})


@pytest.mark.invariant("§2.6", "EVENT-03")
@pytest.mark.parametrize(("action", "code"), FAILURES, ids=["io-error", "full-once", "full"])
@pytest.mark.parametrize(("scenario", "steps"), WRITERS)
def test_refused_at_any_call(preloaded, place, scenario, steps, action, code):
    for number in numbers(preloaded, scenario, place, steps=steps):
        home = place.copy()
        attempt = preloaded.attempt(scenario, home, number, action, code, steps=steps)
        assert attempt.status == 0, attempt.said
        failed = attempt.steps[number - 1]
        refusals = said(attempt, "refused")
        if scenario == "append":
            # SQLite does not say why a write, or that a flush, failed for want of space.
            told = {"StorageFullError"} if code == errno.ENOSPC and failed.call != "fsync" else {*refusals}
            assert set(refusals) == told <= {"StoreError", "StorageFullError"}, failed
            assert refusals or is_silent(attempt.steps, number), failed
            assert bool(refusals) != bool(said(attempt, "event"))
        assert len(said(attempt, "again")) == 1, "the same append succeeds on a disk that works"
        assert survives(home, place.first, steps, attempt) == len(steps)


@pytest.mark.invariant("EVID-01")
@pytest.mark.parametrize("steps", [[1], [1, 2, 3]], ids=["append", "transaction"])
def test_what_was_acknowledged_survives_a_power_cut(preloaded, place, steps):
    """At worst: files as of their last fsync, folders as of theirs."""
    found = place.folder / "found"
    attempt = preloaded.attempt("append", place.copy(), steps=steps, power=str(found))
    assert attempt.status == 0, attempt.said
    (acknowledged,) = said(attempt, "event")
    with open_ledger(found) as ledger:
        assert verify(ledger).first_divergence is None
        present = [event.event_id for event in ledger.events()]
        assert (present[0], present[-1], len(present)) == (place.first, acknowledged, 1 + len(steps))
        for event in ledger.events():
            ledger.read_blob(event.statement.body.content)


def test_a_ledger_that_began_survives_a_power_cut(preloaded, folder):
    home, found = folder / "home", folder / "found"
    home.mkdir()
    attempt = preloaded.attempt("create", home, power=str(found))
    assert attempt.status == 0, attempt.said
    with open_ledger(found) as ledger:
        assert ledger.count("control") == 2
        assert verify(ledger).first_divergence is None


@pytest.mark.parametrize("action", [*DEATHS, Action.FAIL_ONCE], ids=lambda action: action.name.lower())
def test_stopped_at_any_call_of_a_beginning(preloaded, folder, action):
    whole = folder / "whole"
    whole.mkdir()
    count = len(preloaded.attempt("create", whole).steps)
    assert count > 5
    for number in range(1, count + 1):
        home = folder / f"home-{number}"
        home.mkdir()
        attempt = preloaded.attempt("create", home, number, action, errno.EIO)
        assert attempt.status == (0 if action is Action.FAIL_ONCE else -signal.SIGKILL), attempt.said
        with open_ledger(home) as ledger:
            assert ledger.count("control") == 2
            assert verify(ledger).first_divergence is None


@pytest.mark.invariant("EVID-08", "EVID-09")
@pytest.mark.parametrize("action", [*DEATHS, Action.FAIL_ONCE], ids=lambda action: action.name.lower())
def test_an_erasure_that_was_stopped_is_none_or_whole(preloaded, place, action):
    ref = content_ref(scenarios.ERASED, TEXT)
    states = set()
    for number in numbers(preloaded, "erase", place):
        home = place.copy()
        attempt = preloaded.attempt("erase", home, number, action, errno.EIO)
        assert attempt.status == (0 if action is Action.FAIL_ONCE else -signal.SIGKILL), attempt.said
        with open_ledger(home) as ledger:
            status = ledger.blob_status(ref)
            states.add(status)
            if status is BlobStatus.PRESENT:
                assert "erased" not in attempt.said
                assert ledger.read_blob(ref) == scenarios.ERASED
                ledger.blobs.erase(ref.digest)
            assert ledger.blob_status(ref) is BlobStatus.ERASED
            with pytest.raises(BlobError):
                ledger.put_blob(scenarios.ERASED, TEXT)
            # Nothing in the log says so yet: verification does not take it for a loss.
            assert verify(ledger).first_divergence.kind is DivergenceKind.BLOB_ERASED
    assert BlobStatus.ERASED in states
    assert states <= {BlobStatus.PRESENT, BlobStatus.ERASED}


@pytest.mark.invariant("EVID-09")
def test_an_erasure_survives_a_power_cut(preloaded, place):
    found = place.folder / "found"
    attempt = preloaded.attempt("erase", place.copy(), power=str(found))
    assert attempt.said == ("erased", "again")
    with open_ledger(found) as ledger:
        assert ledger.blob_status(content_ref(scenarios.ERASED, TEXT)) is BlobStatus.ERASED
        assert not list(found.rglob(content_ref(scenarios.ERASED, TEXT).digest[:2] + "/*"))
