"""The Dagster UI of `veritas dev` in a real browser: groups, descriptions, checks, and one asset materialised by clicking."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from pipelines.cli.dev import _environment
from pipelines.settings import Settings
from tests.browser import chromium

GROUPS = ("scenarios", "ledger", "attribution", "evaluation")
PATIENCE = 120_000
"""Milliseconds for a page of the UI on a busy machine."""
LATEST = "{ runsOrError(limit: 1) { ... on Runs { results { status assetSelection { path } } } } }"


@pytest.fixture
def interface(tmp_path, tiny_wide):
    """Address and home of a running UI over an empty home; a process group of its own, so that all of it ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path / "home"
    settings = Settings(
        home=home,
        reports=home / "reports",
        model=str(tiny_wide.files.path),
        tenant="default",
        project="imported",
        threads=1,
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "dev", "--port", str(port)],
        env={**_environment(settings), "VERITAS_THREADS": "1"},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, process)
        yield address, home
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _wait_for(address, process):
    for _ in range(600):
        assert process.poll() is None, "the UI ended by itself"
        try:
            urllib.request.urlopen(f"{address}/server_info", timeout=5).close()
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.5)
        else:
            return
    pytest.fail("the UI never answered")


def latest_run(address):
    request = urllib.request.Request(
        f"{address}/graphql", json.dumps({"query": LATEST}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        results = json.load(answer)["data"]["runsOrError"]["results"]
    return results[0] if results else None


@pytest.mark.slow
@pytest.mark.browser
def test_an_asset_is_materialised_by_a_click(interface):
    from playwright.sync_api import expect

    address, home = interface
    expanded = "%2C".join(f"global%40global%3A{group}" for group in GROUPS)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)

        page.goto(f"{address}/asset-groups/measured_edges?expanded={expanded}", wait_until="domcontentloaded")
        for group in GROUPS:
            expect(page.get_by_text(group, exact=True).first).to_be_visible()
        expect(
            page.get_by_text("A verdict for every").or_(page.get_by_text("a verdict for every")).first
        ).to_be_visible()
        expect(page.get_by_text("gate_respected").first).to_be_visible()

        page.goto(f"{address}/asset-groups/scenarios?expanded={expanded}", wait_until="domcontentloaded")
        expect(page.get_by_text("View in Asset Catalog")).to_be_visible()
        page.get_by_role("button", name="Materialize selected").click()
        deadline = time.monotonic() + PATIENCE / 1000
        run = None
        while time.monotonic() < deadline and (run is None or run["status"] not in {"SUCCESS", "FAILURE"}):
            time.sleep(1)
            run = latest_run(address)
    assert run == {"status": "SUCCESS", "assetSelection": [{"path": ["scenarios"]}]}
    assert [path.name for path in home.rglob("scenarios*.parquet")] == ["scenarios.parquet"]
