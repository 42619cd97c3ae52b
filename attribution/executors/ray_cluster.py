"""A Ray cluster: one that is running, or a private one on this machine.

Ray is an optional package. A private cluster listens on loopback alone and admits whoever knows a token drawn for it, shows no
dashboard, reports no usage, prints nothing, keeps its files in a folder of its own and ends with the executor.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attribution.blocks import Table
from attribution.errors import ExecutorError, ExecutorMissingError
from attribution.executors.budget import Deadline
from attribution.executors.pooled import PooledExecutor
from attribution.executors.worker import ScorerSpec, Task, compute
from attribution.scorers.base import Scorer

_LOOPBACK = "127.0.0.1"
_STORE_BYTES = 80 << 20
"""Ray's object store: tables are small, and Ray refuses less than 75 MiB."""
_LONGEST_PARENT = 24
"""Characters of the path in which the cluster's folder is made: below it lie sockets, whose paths may have 107."""


class RayExecutor(PooledExecutor):
    """Workers of a Ray cluster, one processor and one torch thread each.

    Every machine of the cluster reads model and block cache under the same paths.

    Args:
        scorer: see :class:`PooledExecutor`.
        spec: see :class:`PooledExecutor`.
        workers: blocks computed at a time.
        deadline: see :class:`PooledExecutor`.
        address: of a running cluster, as `ray.init` takes it; None starts a private one on this machine.

    Raises:
        ExecutorMissingError: Ray is not installed.
    """

    def __init__(
        self,
        scorer: Scorer,
        spec: ScorerSpec,
        *,
        workers: int,
        deadline: Deadline | None = None,
        address: str | None = None,
    ) -> None:
        super().__init__(scorer, spec, workers=workers, deadline=deadline)
        self._environment = _Environment(_QUIET if address else {**_QUIET, **_private()})
        try:
            self._ray = _imported()
        except ExecutorMissingError:
            self._environment.restore()
            raise
        self._address = address
        self._changing = threading.Lock()
        self._submit: Callable[[Task], Any] | None = None
        self._folder: Path | None = None
        self._started = self._closed = False

    @property
    def losses(self) -> tuple[type[BaseException], ...]:
        """See :attr:`PooledExecutor.losses`."""
        errors = self._ray.exceptions
        return (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError)

    def begin(self, task: Task) -> Future[Table]:
        """See :meth:`PooledExecutor.begin`."""
        with self._changing:
            if self._closed:
                raise ExecutorError("the executor is closed; open another one")
            if self._submit is None:
                self._start()
                # Which block is handed out again, and how often, is decided in one place for all executors.
                self._submit = self._ray.remote(num_cpus=1, max_retries=0)(_answer).remote
            reference = self._submit(task)
        answered: Future[Any] = reference.future()
        table: Future[Table] = Future()
        answered.add_done_callback(lambda done: _pass_on(done, table))
        return table

    def close(self) -> None:
        """See :meth:`PooledExecutor.close`; a cluster that was running before goes on running."""
        with self._changing:
            self._closed = True
            started, self._started = self._started, False
            self._submit = None
        if started:
            self._ray.shutdown()
            self._set_up(self._usual)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._environment.restore()

    def _start(self) -> None:
        if self._ray.is_initialized():
            raise ExecutorError(
                "this process is connected to a Ray cluster already; shut it down, or give its address to the executor"
            )
        quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        try:
            self._usual = self._set_up(_Switches(private=self._address is None, printing=_say_nothing))
        except AttributeError as error:
            raise ExecutorError(
                f"Ray {self._ray.__version__} is built otherwise than 2.60 ({error}), so it cannot be kept to this machine; "
                "install ray 2.60, or choose --executor processes"
            ) from error
        self._started = True
        try:
            if self._address is not None:
                self._ray.init(address=self._address, **quiet)
                return
            self._folder = _own_folder()
            self._ray.init(
                address="local",
                num_cpus=self.workers,
                num_gpus=0,
                include_dashboard=False,
                object_store_memory=_STORE_BYTES,
                _node_ip_address=_LOOPBACK,
                _temp_dir=str(self._folder),
                **quiet,
            )
        except (RuntimeError, ConnectionError, ValueError, self._ray.exceptions.RayError) as error:
            where = self._address or "on this machine"
            raise ExecutorError(
                f"no Ray cluster {where}: {error}; check the address, or choose --executor processes"
            ) from error

    def _set_up(self, switches: _Switches) -> _Switches:
        """Set what Ray reads once, when it is imported, and has no other way to set; returns how it was."""
        constants, printer = self._ray._private.ray_constants, self._ray._private.worker  # noqa: SLF001
        before = _Switches(private=not constants.ENABLE_RAY_CLUSTER, printing=printer.print_to_stdstream)
        constants.ENABLE_RAY_CLUSTER = not switches.private
        printer.print_to_stdstream = switches.printing
        self._ray._raylet.Config.initialize("")  # noqa: SLF001 - reads the environment anew
        return before


@dataclass(frozen=True)
class _Switches:
    """Settings of Ray inside this process."""

    private: bool
    """There will be no further machine; otherwise Ray replaces the loopback address by the machine's own."""
    printing: Callable[..., None]
    """What prints the cluster's messages: on standard output, where results go. `log_to_driver` is about workers alone."""


_QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}


def _private() -> dict[str, str]:
    """Environment of a private cluster: without a token of its own Ray writes one below the user's home.

    The last one is :attr:`_Switches.private` for the processes that Ray starts; despite its name it is heeded everywhere.
    """
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }


class _Environment:
    """Variables that are set for as long as the executor is open; Ray hands them on to the processes it starts."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)

    def restore(self) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ExecutorMissingError(
            "the executor `ray` needs the package ray, which is not installed; run "
            "`pip install 'veritas-ledger[ray]'`, or choose --executor processes"
        ) from error
    return ray


def _own_folder() -> Path:
    usual = tempfile.gettempdir()
    parent = usual if len(usual) <= _LONGEST_PARENT else "/tmp"  # noqa: S108 - the folder's name is drawn, its mode is 0700
    return Path(tempfile.mkdtemp(prefix="veritas-ray-", dir=parent))


def _answer(task: Task) -> tuple[Table | None, Exception | None]:
    """As a worker process answers: errors of ours travel as values, so that what Ray raises is about Ray alone."""
    try:
        return compute(task), None
    except Exception as error:  # noqa: BLE001 - raised again where the task came from
        return None, error


def _pass_on(done: Future[Any], table: Future[Table]) -> None:
    error = done.exception()
    if error is None:
        found, error = done.result()
        if error is None:
            table.set_result(found)
            return
    table.set_exception(error)


def _say_nothing(*_: object, **__: object) -> None:
    """Stands in for Ray's own printing."""
