"""An append meets kill -9, a full disk and a second writer: nothing acknowledged is lost, nothing is half there."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from ledger_core.kernel.errors import StorageFullError, StoreError
from ledger_core.stores import Fresh, Ledger
from ledger_core.stores.verify import verify
from tests.faults.steps import dies_at, fails_at, in_child, watched
from tests.ledger_core.stores.test_sqlite import file_of, note, open_ledger


def append_note(ledger: Ledger, step: int) -> str:
    """One new blob and one event that cites it."""
    (outcome,) = ledger.append((note(ledger, step, f"text {step}"),), role="recorder")
    return outcome.event_id


def steps_of_an_append(home: Path) -> list[str]:
    steps: list[str] = []
    with open_ledger(home) as ledger:
        append_note(ledger, 0)
        with watched(ledger, steps.append):
            append_note(ledger, 1)
    return steps


@pytest.fixture(scope="module")
def steps(tmp_path_factory) -> list[str]:
    return steps_of_an_append(tmp_path_factory.mktemp("steps"))


@pytest.mark.invariant("EVENT-03")
def test_content_is_durable_before_its_name_and_its_name_before_the_event(steps):
    assert steps.index("fsync file") < steps.index("rename")
    assert "fsync directory" in steps[steps.index("rename") : steps.index("begin")]
    assert steps[steps.index("begin") :] == ["begin", "insert", "update", "commit"]


def test_content_that_was_there_already_is_made_durable_again(tmp_path):
    with open_ledger(tmp_path) as first:
        first.put_blob(b"text 1", "text/plain; charset=utf-8")
    steps: list[str] = []
    with open_ledger(tmp_path) as ledger, watched(ledger, steps.append):
        append_note(ledger, 1)
    before_event = steps[: steps.index("begin")]
    assert before_event.count("fsync file") == 1
    assert before_event[-1] == "fsync directory"
    assert "rename" not in steps


def check_survivor(home: Path, acknowledged: list[str], attempted: int) -> None:
    """What must hold after a crash: verified, complete, and able to go on."""
    with open_ledger(home) as ledger:
        assert verify(ledger).first_divergence is None
        present = [event.event_id for event in ledger.events()]
        assert present[: len(acknowledged)] == acknowledged
        assert len(present) <= len(acknowledged) + 1
        again = [append_note(ledger, step) for step in range(attempted)]
        assert [event.event_id for event in ledger.events()] == again
        assert verify(ledger).first_divergence is None


@pytest.mark.parametrize("number", range(1, 12))
def test_killed_before_any_step_of_an_append(tmp_path, steps, number):
    open_ledger(tmp_path).close()

    def act(acknowledge) -> None:
        ledger = open_ledger(tmp_path)
        acknowledge(append_note(ledger, 0))
        with watched(ledger, dies_at(number)):
            acknowledge(append_note(ledger, 1))

    status, acknowledged = in_child(act)
    if number <= len(steps):
        assert (status, len(acknowledged)) == (-signal.SIGKILL, 1)
    else:
        assert (status, len(acknowledged)) == (0, 2)
    check_survivor(tmp_path, acknowledged, attempted=2)


def test_the_kills_reach_every_step(steps):
    assert 6 <= len(steps) <= 11


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_a_random_moment(tmp_path, seed):
    open_ledger(tmp_path).close()
    fuse = random.Random(seed).uniform(0.02, 0.5)

    def act(acknowledge) -> None:
        threading.Timer(fuse, os.kill, (os.getpid(), signal.SIGKILL)).start()
        ledger = open_ledger(tmp_path)
        for step in range(10_000):
            acknowledge(append_note(ledger, step))

    status, acknowledged = in_child(act)
    assert status == -signal.SIGKILL
    check_survivor(tmp_path, acknowledged, attempted=len(acknowledged) + 1)


def test_killed_while_a_ledger_is_created(tmp_path):
    for number in range(1, 30):
        home = tmp_path / str(number)

        def act(_, home=home, number=number) -> None:
            real, watch = os.fsync, dies_at(number)

            def fsync(handle: int) -> None:
                watch("fsync")
                real(handle)

            os.fsync = fsync
            open_ledger(home)

        status, _ = in_child(act)
        with open_ledger(home) as ledger:
            assert ledger.count("control") == 2
            assert verify(ledger).first_divergence is None
        if status == 0:
            assert number > 2
            return
    pytest.fail("creation never finished")


@pytest.mark.parametrize(("code", "error"), [(errno.ENOSPC, StorageFullError), (errno.EIO, StoreError)])
@pytest.mark.parametrize("number", range(1, 10))
def test_a_disk_that_refuses_any_step_leaves_the_ledger_as_it_was(tmp_path, steps, number, code, error):
    if number > len(steps):
        assert len(steps) < 10
        return
    with open_ledger(tmp_path) as ledger:
        append_note(ledger, 0)
        head = ledger.head()
        with watched(ledger, fails_at(number, code)), pytest.raises(error):
            append_note(ledger, 1)
        assert ledger.head() == head
        assert verify(ledger).first_divergence is None
        assert not list((file_of(tmp_path).parent / "blobs" / "tmp").iterdir())
        (outcome,) = ledger.append((note(ledger, 1, "text 1"),), role="recorder")
        assert isinstance(outcome, Fresh)
        assert verify(ledger).first_divergence is None


@pytest.mark.invariant("§2.8")
def test_two_processes_write_without_losing_an_event(tmp_path):
    open_ledger(tmp_path).close()
    start = time.monotonic() + 0.3

    def writer(first: int):
        def act(acknowledge) -> None:
            ledger = open_ledger(tmp_path)
            time.sleep(max(0.0, start - time.monotonic()))
            for step in range(first, first + 25):
                acknowledge(append_note(ledger, step))

        return act

    results: list[tuple[int, list[str]]] = []
    threads = [
        threading.Thread(target=lambda act=act: results.append(in_child(act))) for act in (writer(0), writer(100))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in results] == [0, 0]
    with open_ledger(tmp_path) as ledger:
        present = [event.event_id for event in ledger.events()]
        assert sorted(present) == sorted(event for _, acknowledged in results for event in acknowledged)
        assert len(present) == 50
        assert verify(ledger).first_divergence is None


def test_a_write_ahead_log_cut_anywhere_leaves_a_prefix(tmp_path):
    home = tmp_path / "killed"
    open_ledger(home).close()

    def act(acknowledge) -> None:
        ledger = open_ledger(home)
        for step in range(4):
            acknowledge(append_note(ledger, step))
        os.kill(os.getpid(), signal.SIGKILL)

    _, acknowledged = in_child(act)
    wal = file_of(home).with_name("ledger.sqlite3-wal")
    size = wal.stat().st_size
    assert size > 0
    lengths = set()
    for cut in [*random.Random(1).sample(range(size), 12), size]:
        copy = tmp_path / "cut"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(home, copy)
        with file_of(copy).with_name("ledger.sqlite3-wal").open("r+b") as file:
            file.truncate(cut)
        with open_ledger(copy) as ledger:
            present = [event.event_id for event in ledger.events()]
            assert present == acknowledged[: len(present)]
            assert verify(ledger).first_divergence is None
            lengths.add(len(present))
            append_note(ledger, 99)
            assert verify(ledger).first_divergence is None
    assert 4 in lengths
    assert len(lengths) > 2


@pytest.mark.invariant("§2.6")
def test_yesterdays_file_is_a_valid_prefix_and_its_head_says_so(tmp_path):
    home, backup = tmp_path / "home", tmp_path / "backup"
    with open_ledger(home) as ledger:
        append_note(ledger, 0)
        old = ledger.head()
    shutil.copytree(home, backup)
    with open_ledger(home) as ledger:
        append_note(ledger, 1)
        new = ledger.head()
    with open_ledger(backup) as ledger:
        report = verify(ledger)
        assert report.first_divergence is None
        assert report.head == old != new
