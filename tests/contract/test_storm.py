"""Sixteen writers, random kills: no acknowledged event is lost and the log does not fork, on both databases."""

from __future__ import annotations

import os

import pytest

from ledger_core.stores import Place
from tests.contract.storm import Storm

APPENDS = int(os.environ.get("VERITAS_STORM_APPENDS", "1600"))
KILLS = max(10, APPENDS // 40)


@pytest.mark.slow
@pytest.mark.invariant("EVENT-01")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_killed_writers_lose_nothing_and_fork_nothing(tmp_path, store, request):
    address = request.getfixturevalue("postgres").create("storm") if store == "postgresql" else None
    storm = Storm(Place(tmp_path / "home", address), appends=APPENDS, kills=KILLS)
    aftermath = storm.rage(tmp_path)
    assert aftermath.killed == KILLS
    aftermath.check()


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_it_acknowledged(tmp_path, postgres):
    address = postgres.create("storm-of-servers")
    storm = Storm(
        Place(tmp_path / "home", address),
        appends=APPENDS // 2,
        writers=8,
        kills=5,
        kill_server=postgres.restart_after_kill,
        server_kills=3,
    )
    aftermath = storm.rage(tmp_path)
    assert aftermath.server_kills == 3
    aftermath.check()
