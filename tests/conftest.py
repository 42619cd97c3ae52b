"""Shared fixtures and the no-skip rule of continuous integration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.postgres import Server

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# A busy machine is no failure: no example is timed. Whatever else holds here, as on a machine that says it is a CI, stays.
settings.register_profile("untimed", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Where VERITAS_NO_SKIP is set, a skip is a failure: what continuous integration is meant to have, it must have."""
    if report.skipped and os.environ.get("VERITAS_NO_SKIP") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped where nothing may be: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A skip by mark, by fixture, in the test, or of an empty parametrisation."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """A skip of a whole module, as by `importorskip`: none of its tests would ever be reported."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL of this session's own, started by the first test that asks for it."""
    from tests.postgres import running

    with running() as server:
        yield server
