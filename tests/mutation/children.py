"""Processes that answer and end: forked, silent, and stopped where a mutant does not come to an end."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Job = TypeVar("Job")

FORK = multiprocessing.get_context("fork")

MEMORY = 6 << 30
"""Bytes of address space: what a mutant that collects without end may take."""
_PATIENCE, _GRACE = 10.0, 3.0
"""A test may take this many times the CPU seconds that it takes without a mutant, and :data:`_GRACE` more."""
_WAIT = 6 * 3600
"""Seconds by the clock after which a child that waits for something is ended."""


def each(jobs: Sequence[Job], work: Callable[[Job], Any], workers: int) -> Iterator[tuple[Job, Any]]:
    """``work(job)`` of every job, each in a child of its own and ``workers`` at once, as they end.

    The value is None where the child had to be stopped.

    Raises:
        RuntimeError: ``work`` raised; the message is its traceback.
    """
    waiting = iter(jobs)
    running: dict[Any, tuple[Job, Any]] = {}
    while True:
        for job in islice(waiting, workers - len(running)):
            receiver, sender = FORK.Pipe(duplex=False)
            process = FORK.Process(target=_answer, args=(work, job, sender))
            process.start()
            sender.close()
            running[receiver] = (job, process)
        if not running:
            return
        for ready in wait(list(running)):
            job, process = running.pop(ready)
            with ready:  # type: ignore[union-attr]  # every object waited for is a connection
                value, failure = _received(ready)
            process.join()
            if failure is not None:
                raise RuntimeError(failure)
            yield job, value


def _received(receiver: Any) -> tuple[Any, str | None]:
    try:
        answer: tuple[Any, str | None] = receiver.recv()
    except EOFError:
        return None, None
    return answer


def _answer(work: Callable[[Any], Any], job: Any, sender: Connection) -> None:
    be_silent()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(_WAIT)
    try:
        answer: tuple[Any, str | None] = (work(job), None)
    except BaseException:  # noqa: BLE001 - whatever it was, the parent is told
        answer = (None, traceback.format_exc())
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    sender.send(answer)
    sender.close()
    os._exit(0)  # what the tests left behind is not waited for


def be_silent() -> None:
    """Write to nowhere from now on."""
    sys.stdout.flush()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def allow(seconds: float) -> None:
    """End this process by a signal after ``seconds`` of its CPU time, times a patience; a later call counts anew."""
    signal.setitimer(signal.ITIMER_PROF, _PATIENCE * seconds + _GRACE)
