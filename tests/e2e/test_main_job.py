"""The main job with a random-weight model: every table and the report, equal wherever and however often it runs."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
import sys
from dataclasses import replace

import pytest

from ledger_core.audit.__main__ import main as auditor
from ledger_core.stores.checkpoints import checkpointed_scopes, note_file, read_notes
from ledger_core.stores.kept import Kept
from ledger_core.stores.ledger import scope_folder
from ledger_core.stores.verify import verify
from pipelines.cli import main
from pipelines.lake import TABLES, read_table
from pipelines.main_job import run_main_job
from pipelines.plan import EVALUATION_TENANT
from pipelines.workspace import SAMPLES_TENANT
from tests.e2e.attempts import INSIDE, attempt, open_scope, result
from tests.pipelines.tiny_run import SIZES, open_tiny

pytestmark = pytest.mark.slow

ONLY_EVALUATION = {
    "scenarios",
    "scenario_events",
    "trials",
    "answer_attribution",
    "weight_pairs",
    "metrics",
    "kill_report",
}


def test_every_table_is_written_for_its_tenant(undisturbed):
    written = [step.removeprefix("write ") for step in undisturbed.steps if step.startswith("write ")]
    assert sorted(written) == sorted(
        [f"{SAMPLES_TENANT}/{name}" for name in set(TABLES) - ONLY_EVALUATION]
        + [f"{EVALUATION_TENANT}/{name}" for name in TABLES]
    )


def test_two_fresh_runs_agree_on_heads_row_roots_and_the_bytes_of_the_report(undisturbed, tiny_wide, tmp_path):
    other = attempt(tmp_path / "other home", tiny_wide)
    assert other.status == 0
    assert result(other.home) == result(undisturbed.home)
    assert other.steps == undisturbed.steps


def test_worker_processes_end_with_the_same_heads_and_report(undisturbed, tiny_wide, tmp_path):
    """One torch thread in every process: where ablations are computed is no part of what a run says."""
    at = open_tiny(tmp_path / "by processes", tiny_wide)
    at.settings = replace(at.settings, executor="processes", workers=2)
    run_main_job(at)
    assert result(tmp_path / "by processes") == result(undisturbed.home)


def test_a_second_run_resumes_and_adds_no_event(undisturbed, tiny_wide):
    before = result(undisturbed.home)
    again = attempt(undisturbed.home, tiny_wide, now=None)
    assert again.status == 0
    assert result(undisturbed.home) == before
    assert INSIDE not in again.steps
    assert not {"scores", "answer"} & set(again.steps)


def test_the_end_of_a_run_is_signed_and_both_implementations_agree_with_the_notes(undisturbed):
    scopes = checkpointed_scopes(undisturbed.home)
    assert {scope.tenant_namespace for scope in scopes} == {EVALUATION_TENANT, SAMPLES_TENANT}
    for scope in scopes:
        notes = note_file(undisturbed.home, scope)
        book = read_notes(notes)
        with open_scope(undisturbed.home, scope) as ledger:
            assert [each.checkpoint.size for each in book.of(scope)] == [ledger.count("control"), ledger.count()]
            assert verify(ledger, kept=[Kept(str(notes), book)]).first_divergence is None
        assert auditor([str(scope_folder(undisturbed.home, scope)), "--kept", str(notes)]) == 0


def test_another_clock_is_another_run_elsewhere(undisturbed, tiny_wide):
    from pipelines.errors import PlanError

    with pytest.raises(PlanError, match="started with --now 2026-01-31T12:00:00"):
        open_tiny(undisturbed.home, tiny_wide, now="2027-01-01T00:00:00.000000000Z")


def test_every_scenario_is_asked_by_every_arm_that_reads_it(undisturbed, tiny_wide):
    at = open_tiny(undisturbed.home, tiny_wide)
    trials = read_table(at.run_lake, "trials")
    asked = SIZES.planted_premise + SIZES.mixed_parents + SIZES.competence
    assert len(trials) == 8 * asked + 2 * SIZES.corrections_leave
    recorded = [row["event_id"] for row in trials]
    with at.ledger(at.run.plan.scope) as ledger:
        kinds = [event.statement.kind for event in ledger.events()]
        assert {ledger.statement(event_id).kind for event_id in recorded} == {"trial.recorded"}
    assert kinds.count("trial.recorded") == len(trials) == len(set(recorded))


def test_every_claim_is_measured_and_written_back_once(undisturbed, tiny_wide):
    at = open_tiny(undisturbed.home, tiny_wide)
    claims = {row["entry"] for row in read_table(at.run_lake, "entries") if row["generation"] is not None}
    assert len(claims) == SIZES.planted_premise + SIZES.corrections_leave + SIZES.mixed_parents + SIZES.null
    for name in ("stability_report", "measured_edges", "edges_upsert"):
        assert {row["claim"] for row in read_table(at.run_lake, name)} == claims
    for row in read_table(at.run_lake, "measured_edges"):
        listed = [item["entry"] for item in json.loads(row["entries"])]
        assert len(listed) == len(set(listed)) == 2 + 2 * (len(listed) > 2)


def test_every_kind_of_command_that_the_report_prints_answers_for_this_run(undisturbed, tiny_wide, monkeypatch, capsys):
    at = open_tiny(undisturbed.home, tiny_wide)
    page = next((undisturbed.home / "reports").glob("run-*/index.html")).read_text(encoding="utf-8")
    printed = sorted(set(re.findall(r'<code class="command">(.*?)</code>', page)))
    kinds: dict[str, list[str]] = {}
    for command in map(html.unescape, printed):
        kinds.setdefault(re.sub(r"'[^']*'|[0-9a-f]{12,}|--(?:tenant|project) \S+", "", command), []).append(command)
    assert len(kinds) > 12
    run = at.run.plan.scope.project_namespace[:16]
    assert all(run in command or "--tenant samples" in command for command in map(html.unescape, printed))
    # Another run of the same home, which no command may mean.
    shutil.copytree(at.run_lake, at.run_lake.with_name("run-0123456789ab"))
    try:
        for command in (commands[0] for commands in kinds.values()):
            arguments = shlex.split(command.replace(r"\$", "$"))
            monkeypatch.setattr(sys, "argv", ["veritas", "--home", str(undisturbed.home), *arguments[1:], "--json"])
            with pytest.raises(SystemExit) as stop:
                main()
            done = capsys.readouterr()
            assert (stop.value.code, done.err) == (0, ""), command
            assert done.out, command
    finally:
        shutil.rmtree(at.run_lake.with_name("run-0123456789ab"))


def test_the_report_says_that_it_is_too_small_and_names_the_model(undisturbed, tiny_wide):
    (document,) = result(undisturbed.home)["reports"].values()
    report = json.loads(document)
    assert "too small for a verdict" in json.dumps(report)
    assert tiny_wide.files.weights_digest in json.dumps(report)
