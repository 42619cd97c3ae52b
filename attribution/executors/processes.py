"""Several processes on this machine, each with its own copy of the model."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from attribution.blocks import Table
from attribution.errors import ExecutorError
from attribution.executors.budget import Deadline
from attribution.executors.pooled import PooledExecutor
from attribution.executors.worker import ScorerSpec, Task, serve
from attribution.scorers.base import Scorer


class ProcessDiedError(ExecutorError):
    """A worker process ended before it answered."""


class ProcessExecutor(PooledExecutor):
    """Workers started by `spawn`, so that nothing of the parent's threads is copied into them.

    One thread here waits for each worker. Unlike the standard library's pool, which gives up as a whole when one process dies,
    only the block of the dead worker is handed out again.
    """

    def __init__(self, scorer: Scorer, spec: ScorerSpec, *, workers: int, deadline: Deadline | None = None) -> None:
        super().__init__(scorer, spec, workers=workers, deadline=deadline)
        self._changing = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._threads: ThreadPoolExecutor | None = None
        self._closed = False

    @property
    def losses(self) -> tuple[type[BaseException], ...]:
        """See :attr:`PooledExecutor.losses`."""
        return (ProcessDiedError,)

    def begin(self, task: Task) -> Future[Table]:
        """See :meth:`PooledExecutor.begin`."""
        with self._changing:
            self._require_open()
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="veritas-worker")
            return self._threads.submit(self._ask, task)

    def close(self) -> None:
        """See :meth:`PooledExecutor.close`."""
        with self._changing:
            self._closed = True
            processes, self._all = self._all, set()
            threads, self._threads = self._threads, None
        for process in processes:
            process.end()
        if threads is not None:
            threads.shutdown(cancel_futures=True)

    def _ask(self, task: Task) -> Table:
        process = self._taken()
        try:
            table = process.ask(task)
        except ProcessDiedError:
            with self._changing:
                self._all.discard(process)
            process.end()
            raise
        except BaseException:
            self._give_back(process)
            raise
        self._give_back(process)
        return table

    def _taken(self) -> _Process:
        with self._changing:
            self._require_open()
            if self._idle:
                return self._idle.pop()
            process = _Process()
            self._all.add(process)
            return process

    def _give_back(self, process: _Process) -> None:
        with self._changing:
            self._idle.append(process)

    def _require_open(self) -> None:
        if self._closed:
            raise ExecutorError("the executor is closed; open another one")


class _Process:
    """One worker process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # A daemon: it ends with the interpreter, even where nobody closes the executor.
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._ending = threading.Lock()

    def ask(self, task: Task) -> Table:
        """The table of ``task``; raises what the worker raised, or :class:`ProcessDiedError`."""
        try:
            self._pipe.send(task)
            table, error = self._pipe.recv()
        except (EOFError, OSError) as gone:
            self._process.join(timeout=1)
            raise ProcessDiedError(
                f"worker process {self._process.pid} ended with code {self._process.exitcode}"
            ) from gone
        if error is not None:
            raise error
        found: Table = table
        return found

    def end(self) -> None:
        """Kill the process; what it was at is not stored."""
        with self._ending:  # who closes the executor and who waits for the answer both end it
            self._process.terminate()
            self._process.join()
            self._pipe.close()
