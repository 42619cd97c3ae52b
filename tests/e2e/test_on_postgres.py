"""The main job with its events in PostgreSQL: the same heads and the same report as with files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledger_core.stores import Ledger, Place, list_scopes
from ledger_core.stores.verify import verify
from pipelines.main_job import run_main_job
from tests.e2e.attempts import result
from tests.faults.steps import in_child
from tests.pipelines.tiny_run import NOW, open_tiny

pytestmark = pytest.mark.slow


def test_a_run_ends_with_the_heads_and_the_report_that_it_has_in_files(undisturbed, tiny_wide, tmp_path, postgres):
    address = postgres.create("run")

    def act(_) -> None:
        at = open_tiny(tmp_path, tiny_wide)
        at.settings = replace(at.settings, store=address)
        run_main_job(at)

    assert in_child(act)[0] == 0
    expected = result(undisturbed.home)
    place = Place(tmp_path, address)
    heads = {}
    for scope in list_scopes(place):
        with Ledger.existing(place, scope, now=NOW) as ledger:
            assert verify(ledger).first_divergence is None
            name = f"{scope.tenant_namespace}/{scope.project_namespace}"
            heads[name] = (ledger.head(), ledger.head("control"))
    assert heads == expected["heads"]
    reports = {path.parent.name: path.read_bytes() for path in (tmp_path / "reports").glob("*/report.json")}
    assert reports == expected["reports"]
    assert not list(tmp_path.rglob("ledger.sqlite3"))
