"""`veritas dev`: what is started, with which settings; and, slowly, that it answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.pipelines.cli.conftest import ROOT, Story, Veritas


class _StartedError(Exception):
    """Stands for the process that would have taken over."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    calls: list[tuple[list[str], dict[str, str]]] = []

    def execve(path: str, arguments: list[str], environment: dict[str, str]) -> None:
        assert path == arguments[0] == sys.executable
        calls.append((arguments[1:], environment))
        sys.exit(0)

    monkeypatch.setattr(os, "execve", execve)
    return calls


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_dagster_ui_gets_this_home_offline_and_untracked(
    veritas: Veritas, home: Path, story: Story, started: list[tuple[list[str], dict[str, str]]]
):
    import dagster as dg

    del story
    port = _free_port()
    done = veritas("--model", "/models/tiny", "dev", "--port", port)
    assert done.code == 0
    assert done.out == f"Dagster UI of {home}: http://127.0.0.1:{port} (Ctrl-C stops it)\n"
    ((arguments, environment),) = started
    assert arguments[arguments.index("-m") :] == [
        *("-m", "dagster", "dev", "--module-name", "pipelines.definitions"),
        *("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"),
    ]
    wanted = {
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "DAGSTER_HOME": str(home / "dagster"),
        "HF_HUB_OFFLINE": "1",
        "VERITAS_HOME": str(home),
        "VERITAS_MODEL": "/models/tiny",
    }
    assert {name: environment[name] for name in wanted} == wanted
    assert environment["PYTHONPATH"].split(os.pathsep)[0] == str(ROOT)
    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        assert set(instance.get_dynamic_partitions("tenants")) == {"eval", "samples", "tests"}
        assert instance.telemetry_enabled is False


def test_the_mlflow_ui_reads_the_store_of_this_home(
    veritas: Veritas, home: Path, started: list[tuple[list[str], dict[str, str]]]
):
    assert "`veritas run` writes it" in veritas("dev", "--mlflow", "--port", _free_port()).refused()
    (home / "mlflow").mkdir(parents=True)
    (home / "mlflow" / "mlflow.sqlite3").touch()
    assert veritas("dev", "--mlflow", "--port", _free_port()).out.startswith(f"MLflow UI of {home}: http://127.0.0.1:")
    ((arguments, environment),) = started
    assert arguments[:5] == ["-m", "mlflow", "ui", "--backend-store-uri", f"sqlite:///{home}/mlflow/mlflow.sqlite3"]
    assert environment["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_a_port_that_is_taken_is_named(veritas: Veritas):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refusal = veritas("dev", "--port", port).refused(2)
    assert f"127.0.0.1:{port}" in refusal
    assert "--port" in refusal


def _ask(port: int, query: str) -> dict[str, object]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", json.dumps({"query": query}).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]


@pytest.mark.slow
def test_the_dagster_ui_answers_with_the_asset_graph_and_stops_on_interrupt(home: Path):
    port = _free_port()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VERITAS_HOME": str(home)}
    command = [sys.executable, "-m", "pipelines.cli", "dev", "--port", str(port)]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    query = "{ repositoriesOrError { ... on RepositoryConnection { nodes { assetNodes { groupName description } } } } }"
    try:
        deadline = time.monotonic() + 240
        nodes: list[dict[str, str]] = []
        while not nodes and time.monotonic() < deadline:
            time.sleep(1)
            assert process.poll() is None, process.stdout.read() if process.stdout else ""
            try:
                found = _ask(port, query)["repositoriesOrError"]
            except OSError:
                continue
            nodes = [node for repository in found.get("nodes", []) for node in repository["assetNodes"]]
        assert len(nodes) == 18
        assert all(node["groupName"] != "default" and node["description"] for node in nodes)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=90)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
