"""`veritas dev`: the Dagster UI over this home, or the MLflow UI over its tracking store."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from pipelines.settings import Settings

_DAGSTER_PORT = 3000
_MLFLOW_PORT = 5000


def command(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(help="Address to listen on; the UIs know no users, so stay on the loopback.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on. (else 3000, with --mlflow 5000)")
    ] = None,
    mlflow: Annotated[bool, typer.Option("--mlflow", help="The MLflow UI instead: runs, figures, reports.")] = False,
) -> None:
    """Open the Dagster UI: the asset graph of this home, its checks, and what was materialised. Ctrl-C stops it."""
    settings = state_of(context).settings()
    chosen = port or (_MLFLOW_PORT if mlflow else _DAGSTER_PORT)
    _require_free(host, chosen)
    arguments = _mlflow(settings, host, chosen) if mlflow else _dagster(settings, host, chosen)
    typer.echo(
        f"{'MLflow' if mlflow else 'Dagster'} UI of {settings.home}: http://{_url_host(host)}:{chosen} (Ctrl-C stops it)"
    )
    sys.stdout.flush()
    # A shell starts background jobs with Ctrl-C ignored; the UIs would inherit that and could not be stopped at all.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execve(sys.executable, [sys.executable, *arguments], _environment(settings))  # noqa: S606 - our own interpreter


def _dagster(settings: Settings, host: str, port: int) -> list[str]:
    """Prepare the instance below the home and say how the UI is started on it."""
    import dagster as dg

    from ledger_core.stores.ledger import list_scopes
    from pipelines.orchestrator import ensure_partitions, instance_folder
    from pipelines.plan import EVALUATION_TENANT
    from pipelines.workspace import SAMPLES_TENANT

    folder = instance_folder(settings.home)
    found = {scope.tenant_namespace for scope in list_scopes(settings.place)}
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        ensure_partitions(instance, sorted({EVALUATION_TENANT, SAMPLES_TENANT} | found))
    place = ["--host", host, "--port", str(port)]
    # The command is discouraged in favour of one that wants a project layout of its own.
    quiet = ["-W", "ignore:Function `dev_command`"]
    return [*quiet, "-m", "dagster", "dev", "--module-name", "pipelines.definitions", *place, "--log-level", "warning"]


def _mlflow(settings: Settings, host: str, port: int) -> list[str]:
    """Say how the MLflow UI is started on the tracking store below the home."""
    from pipelines.errors import PipelineError

    database = settings.mlflow_database
    if not database.exists():
        raise PipelineError(f"no tracking store at {database} yet; `veritas run` writes it")
    place = ["--host", host, "--port", str(port), "--workers", "1"]
    artifacts = (database.parent / "artifacts").as_uri()
    return [
        "-m",
        "mlflow",
        "ui",
        "--backend-store-uri",
        f"sqlite:///{database}",
        "--default-artifact-root",
        artifacts,
        *place,
    ]


def _environment(settings: Settings) -> dict[str, str]:
    """This process's environment with the settings as resolved here, offline and without telemetry."""
    from pipelines.offline import ENVIRONMENT

    root = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        **ENVIRONMENT,
        "DAGSTER_HOME": str(settings.dagster_home),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # its job runner: processes for what no page of ours shows
        "PYTHONPATH": root if not path else f"{root}{os.pathsep}{path}",
        "VERITAS_HOME": str(settings.home),
        "VERITAS_MODEL": settings.model,
        "VERITAS_REPORTS": str(settings.reports),
        "VERITAS_STORE": settings.store,
        "VERITAS_KEYS": "" if settings.keys is None else str(settings.keys),
    }


def _require_free(host: str, port: int) -> None:
    from pipelines.errors import UsageError

    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another with --port or --host"
        ) from error


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
