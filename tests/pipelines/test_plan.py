"""A run on disk: equal plans are one run, its clock is kept, and a damaged state is said."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

import pytest

from attribution.models import ModelFiles
from ledger_core.kernel.errors import LedgerBusyError, LedgerError
from pipelines.errors import PlanError, UsageError
from pipelines.main_job import FULL, QUICK, plan_for
from pipelines.plan import find, latest, only_job, read_state, start
from tests.faults.steps import in_child
from tests.pipelines.tiny_run import NOW, SIZES

NOBODY = 65_534
LATER = "2026-02-01T00:00:00.000000000Z"
FILES = ModelFiles(
    name="bytes",
    path=Path("bytes"),
    weights_digest="ab" * 32,
    tokenizer_digest="cd" * 32,
    file_name="bytes.gguf",
    quantisation="none",
)


def plan(**changes):
    options = {"quick": True, "seed": 0, "gate": "cuts-v1"} | changes
    return plan_for(options.pop("files", FILES), options.pop("sizes", SIZES), **options)


def test_the_scope_of_a_run_is_named_by_the_digest_of_its_plan():
    assert plan().scope.tenant_namespace == "eval"
    assert plan().scope.project_namespace == f"run-{plan().digest}"
    assert plan().digest == plan().digest


@pytest.mark.parametrize("change", [{"seed": 1}, {"gate": "seed-v4"}, {"quick": False}, {"sizes": QUICK}])
def test_whatever_decides_a_number_makes_another_run(change):
    assert plan(**change).digest != plan().digest


def test_the_sizes_are_those_asked_for():
    assert plan(sizes=FULL).sizes == {"planted-premise": 40, "mixed-parents": 24, "null": 20, "competence": 12}
    assert plan(sizes=FULL).corrections_leave == FULL.corrections_leave


def test_a_first_start_keeps_its_clock_and_a_second_one_resumes_with_it(tmp_path):
    first = start(tmp_path, plan(), NOW)
    assert (first.state.now, first.resumed) == (NOW, False)
    again = start(tmp_path, plan(), None)
    assert (again.state, again.folder, again.resumed) == (first.state, first.folder, True)
    assert start(tmp_path, plan(), NOW).resumed


def test_without_a_clock_the_wall_clock_is_asked_once(tmp_path):
    first = start(tmp_path, plan(), None)
    assert start(tmp_path, plan(), None).state.now == first.state.now
    assert first.state.now.endswith("Z")


def test_another_clock_is_refused_with_both_and_the_way_out(tmp_path):
    start(tmp_path, plan(), NOW)
    with pytest.raises(PlanError, match=rf"started with --now {NOW}, not {LATER}; leave --now out .* --home"):
        start(tmp_path, plan(), LATER)


@pytest.mark.parametrize("now", ["yesterday", "2026-01-31T12:00:00Z", "2026-02-30T12:00:00.000000000Z"])
def test_a_clock_that_is_none_is_refused_before_anything_is_written(tmp_path, now):
    with pytest.raises(LedgerError, match=re.escape(now)):
        start(tmp_path, plan(), now)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff", b'{"now":1,"plan":{}}'])
def test_a_damaged_state_is_refused_with_its_path(tmp_path, damage):
    run = start(tmp_path, plan(), NOW)
    path = run.folder / "run-state.json"
    path.write_bytes(damage)
    with pytest.raises(PlanError, match=f"{path}: not a run state of this version"):
        start(tmp_path, plan(), NOW)
    with pytest.raises(PlanError, match=str(path)):
        latest(tmp_path)


def test_a_state_cut_off_at_any_byte_is_refused(tmp_path):
    run = start(tmp_path, plan(), NOW)
    path = run.folder / "run-state.json"
    data = path.read_bytes()
    for stop in range(0, len(data), 37):
        path.write_bytes(data[:stop])
        with pytest.raises(PlanError):
            read_state(path)


def test_the_latest_run_is_the_one_started_or_resumed_last(tmp_path):
    assert latest(tmp_path) is None
    first, second = plan(), plan(seed=1)
    start(tmp_path, first, NOW)
    start(tmp_path, second, NOW)
    assert latest(tmp_path).plan == second
    start(tmp_path, first, None)
    assert latest(tmp_path).plan == first


def test_a_run_that_was_killed_before_it_became_the_latest_does_so_when_it_resumes(tmp_path):
    start(tmp_path, plan(), NOW)
    (tmp_path / "runs" / "latest.json").unlink()
    assert latest(tmp_path) is None
    start(tmp_path, plan(), None)
    assert latest(tmp_path).plan == plan()


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"run": 1}', b"\xff"])
def test_a_damaged_pointer_is_refused_and_healed_by_the_next_start(tmp_path, damage):
    start(tmp_path, plan(), NOW)
    pointer = tmp_path / "runs" / "latest.json"
    pointer.write_bytes(damage)
    with pytest.raises(PlanError, match=r"latest.json names no run"):
        latest(tmp_path)
    start(tmp_path, plan(), None)
    assert json.loads(pointer.read_bytes()) == {"run": plan().digest}


def test_a_run_is_found_by_the_beginning_of_its_digest(tmp_path):
    with pytest.raises(PlanError, match="no run below"):
        find(tmp_path, None)
    start(tmp_path, plan(), NOW)
    start(tmp_path, plan(seed=1), NOW)
    assert find(tmp_path, plan().digest[:12]).plan == plan()
    assert find(tmp_path, None).plan == plan(seed=1)
    with pytest.raises(UsageError, match="the beginning of 2 runs"):
        find(tmp_path, "")
    with pytest.raises(PlanError, match=r"no run below .* begins with 'zz'; there are "):
        find(tmp_path, "zz")


def test_starting_leaves_no_temporary_file(tmp_path):
    start(tmp_path, plan(), NOW)
    files = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"run-state.json", "latest.json"}


def test_a_read_only_home_is_an_error_of_the_operating_system_that_names_the_path():
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o555)

        def act(acknowledge) -> None:
            if os.geteuid() == 0:
                os.setuid(NOBODY)
            try:
                start(home, plan(), NOW)
            except PermissionError as error:
                acknowledge(str(error.filename))

        assert in_child(act) == (0, [f"{home}/runs"])
        assert list(home.iterdir()) == []


def test_one_main_job_at_a_time_below_one_home(tmp_path):
    with only_job(tmp_path):
        with pytest.raises(PlanError, match=rf"another `veritas run` is at work below {tmp_path}; wait .* --home"):
            only_job(tmp_path).__enter__()
        with only_job(tmp_path / "elsewhere"):
            pass
    with only_job(tmp_path):
        pass


def test_a_busy_ledger_inside_the_job_stays_what_it_is(tmp_path):
    with pytest.raises(LedgerBusyError, match="the ledger"), only_job(tmp_path):
        raise LedgerBusyError("the ledger")
