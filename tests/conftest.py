"""Shared fixtures and the no-skip rule of continuous integration."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Where VERITAS_NO_SKIP is set, a skip is a failure: what continuous integration is meant to have, it must have."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("VERITAS_NO_SKIP") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped where nothing may be: {report.longrepr}"
