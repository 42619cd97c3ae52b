"""Where state lives and which model is used: flag over environment over ``veritas.toml`` over default."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from ledger_core.stores.place import Place

DEFAULT_MODEL = "smollm2-135m"
DEFAULT_THREADS = 2
FILES = "files"
"""The store that needs no server: one SQLite file a ledger."""
ExecutorName = Literal["serial", "processes", "ray"]
EXECUTORS: tuple[ExecutorName, ...] = ("serial", "processes", "ray")
_KEYS = frozenset({"home", "reports", "model", "tenant", "project", "threads", "store", "keys", "executor", "workers"})
_NUMBERS = frozenset({"threads", "workers"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Resolved settings of one command."""

    home: Path
    """Ledgers, lake, caches, tracking database."""
    reports: Path
    model: str
    """``smollm2-135m`` (packaged) or a path to a Hugging Face model folder."""
    tenant: str
    project: str
    threads: int = DEFAULT_THREADS
    """Torch threads of this process; 1 wherever several processes run a model side by side."""
    store: str = FILES
    """Where events are: :data:`FILES` below the home, or a PostgreSQL address."""
    keys: Path | None = None
    """Folder of data keys; None: content is not encrypted."""
    executor: ExecutorName = "serial"
    """Where ablations are computed: one of :data:`EXECUTORS`."""
    workers: int = 1
    """Blocks of ablations computed at a time; `serial` computes one."""

    @property
    def place(self) -> Place:
        """Where ledgers are."""
        from ledger_core.stores.place import Place

        return Place(self.home, None if self.store == FILES else self.store, self.keys)

    @property
    def lake(self) -> Path:
        """Folder of the Parquet tables."""
        return self.home / "lake"

    @property
    def cache(self) -> Path:
        """Folder of what can be made again: converted models, score blocks, answers."""
        return self.home / "cache"

    @property
    def dagster_home(self) -> Path:
        """Folder of the Dagster instance."""
        return self.home / "dagster"

    @property
    def mlflow_database(self) -> Path:
        """SQLite file of the MLflow store."""
        return self.home / "mlflow" / "mlflow.sqlite3"


def _in_clone(folder: Path) -> bool:
    return (folder / "pyproject.toml").is_file() and (folder / "ledger_core").is_dir()


def _default_folders() -> tuple[Path, Path]:
    here = Path.cwd()
    if _in_clone(here):
        return here / "data", here / "reports"
    from platformdirs import user_data_path

    home = user_data_path("veritas", appauthor=False)
    return home, home / "reports"


def _read_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML ({error})") from error
    unknown = sorted(set(values) - _KEYS)
    if unknown:
        raise UsageError(f"{path}: unknown setting {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    for name, value in values.items():
        if not isinstance(value, str) and (name not in _NUMBERS or not isinstance(value, int)):
            raise UsageError(f"{path}: {name} is {value!r}; write it as text in quotes")
    return values


def resolve(**flags: str | Path | None) -> Settings:
    """Settings from ``flags`` (None = not given), environment ``VERITAS_*``, ``veritas.toml`` and defaults, in this order."""
    file = _read_file(Path.cwd() / "veritas.toml")

    def pick(name: str, default: str | Path) -> str:
        value = flags.get(name) or os.environ.get(f"VERITAS_{name.upper()}") or file.get(name) or default
        return str(value)

    default_home, default_reports = _default_folders()
    home = Path(pick("home", default_home)).expanduser().absolute()
    _check_home(home)
    given_home = home != default_home
    reports = Path(pick("reports", home / "reports" if given_home else default_reports)).expanduser().absolute()
    return Settings(
        home=home,
        reports=reports,
        model=pick("model", DEFAULT_MODEL),
        tenant=pick("tenant", "default"),
        project=pick("project", "imported"),
        threads=_whole("threads", pick("threads", str(DEFAULT_THREADS))),
        store=_store(pick("store", FILES)),
        keys=Path(keys).expanduser().absolute() if (keys := pick("keys", "")) else None,
        executor=_executor(pick("executor", EXECUTORS[0])),
        workers=_whole("workers", pick("workers", str(os.cpu_count() or 1))),
    )


def _check_home(home: Path) -> None:
    """A home may be missing; what is there and is no folder can hold nothing."""
    there = next(path for path in (home, *home.parents) if path.exists())
    if not there.is_dir():
        raise UsageError(f"home (--home, VERITAS_HOME) is {home}, but {there} is a file; name a folder")


def _store(text: str) -> str:
    if text != FILES and not text.startswith(("postgresql://", "postgres://")):
        raise UsageError(f"store (VERITAS_STORE) is {text!r}; write `{FILES}` or postgresql://user@host/database")
    return text


def _executor(text: str) -> ExecutorName:
    if text not in EXECUTORS:
        raise UsageError(f"executor (--executor, VERITAS_EXECUTOR) is {text!r}; choose one of {', '.join(EXECUTORS)}")
    return text


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UsageError(f"{name} (VERITAS_{name.upper()}) is {text!r}; give a whole number from 1 up")
    return int(text)
