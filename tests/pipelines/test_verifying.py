"""A verifier in a suite's loop, behind a real HTTP server: what it retracts, what it misses, and what it does not answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evals.agents.scripted import ScriptedAgent
from evals.arms import ARMS
from ledger_core.providers.fake import FakeEmbedder
from pipelines.agents import KEY_VARIABLE, Asking, Chosen, chosen_verifier
from pipelines.errors import PlanError
from pipelines.evaluation import open_evaluation
from pipelines.lake import write_table
from pipelines.plan import EvaluationPlan, VerifiedPlan, read_state
from pipelines.stages.counting import counted_records, standing_of
from pipelines.stages.identity import evaluate_command, provenance
from pipelines.stages.scenarios import planned_scenarios, scenario_events_rows, scenarios_rows
from pipelines.stages.trials import stored_records, trials_rows
from pipelines.stages.verifying import faults_of
from pipelines.suite import Reading
from tests.evals.test_judging import relating
from tests.ledger_core.providers.conftest import no_certificates, server
from tests.ledger_core.providers.local_server import error
from tests.pipelines.tiny_run import NOW, settings_in

__all__ = ["no_certificates", "server"]

ARMS_READ = tuple(ARMS[name].id for name in ("1", "2"))
READINGS = (Reading.make(arms=ARMS_READ, family="planted-premise", scenarios=2, variant=None),)


@pytest.fixture
def opened(tmp_path, tiny_wide, server, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "any")

    def open_at(verifier="openai:judge"):
        agent = ScriptedAgent(lambda _: " oats.")
        at = open_evaluation(
            settings_in(tmp_path, tiny_wide.files.path),
            effort="quick",
            seed=3,
            now=NOW,
            readings=READINGS,
            chosen=Chosen(agent, tiny_wide, dict),
            verifier=chosen_verifier(verifier, Asking(url=server.url, attempts=1)),
        )
        at._models["model"] = tiny_wide
        at.__dict__["embedder"] = FakeEmbedder()
        return at

    return open_at


def ran(at):
    scope = at.run.plan.scope
    for name, stage in (
        ("scenarios", scenarios_rows),
        ("scenario_events", scenario_events_rows),
        ("trials", trials_rows),
    ):
        write_table(at.lake(scope), name, stage(at, scope))
    return scope


def stating(at):
    values = {
        value
        for scenario in planned_scenarios(at)
        for value in (scenario.question.true, scenario.question.false)
        if value is not None
    }
    return lambda text: next((value for value in values if value in text), None)


def outcomes(records):
    return {(record.scenario_id, record.arm): str(record.outcome) for record in records}


def test_a_premise_that_the_verifier_retracts_counts_as_it_was_answered(opened, server):
    at = opened()
    server.rule = relating(stating(at))
    scope = ran(at)
    assert standing_of(at, scope) == faults_of(at, scope) == {}
    assert counted_records(at, scope) == stored_records(at, scope)
    assert at.verifier.account()["answered"] == len(server.requests) == 8


def test_a_premise_that_it_misses_counts_as_persisted_where_the_retraction_is_used(opened, server):
    at = opened()
    server.rule = relating(lambda _: None)
    scope = ran(at)
    ids = [scenario.id for scenario in planned_scenarios(at)]
    assert standing_of(at, scope) == dict.fromkeys(ids, ("premise",))
    logged, counted = outcomes(stored_records(at, scope)), outcomes(counted_records(at, scope))
    assert {arm: {counted[key, arm] for key in ids} for arm in ("1", "2")} == {
        "1": {logged[ids[0], "1"], logged[ids[1], "1"]},
        "2": {"asserts_false"},
    }
    note = next(row for row in provenance(at, scope) if row.what == "Verdicts")
    assert note.status == "real"
    assert note.note.startswith(f"Asked of {at.verifier.name}. In 2 scenarios a false premise was not retracted")


def test_a_server_that_fails_is_an_error_of_its_trials_and_the_run_goes_on(opened, server):
    at = opened()
    rule = relating(stating(at))
    server.replies = [error(503)]
    server.rule = rule
    scope = ran(at)
    first, second = (scenario.id for scenario in planned_scenarios(at))
    assert faults_of(at, scope).keys() == {first}
    found = {(r.scenario_id, r.arm): r for r in counted_records(at, scope)}
    assert str(found[first, "2"].outcome) == "error"
    assert found[first, "2"].fault.startswith("no verdict: ProviderUnavailableError")
    logged = {(r.scenario_id, r.arm): r for r in stored_records(at, scope)}
    assert {key for key, record in found.items() if record != logged[key]} == {(first, "2")}
    assert str(logged[first, "2"].outcome) != "error"
    assert standing_of(at, scope).keys() == {first}
    assert (second, "2") in found


def test_the_plan_names_the_verifier_and_without_it_the_run_is_refused(opened, server):
    at = opened()
    plan = at.run.plan
    assert isinstance(plan, VerifiedPlan)
    assert read_state(at.run.folder / "run-state.json").plan == plan
    assert opened("oracle").run.plan.digest != plan.digest
    assert type(opened("oracle").run.plan) is EvaluationPlan
    assert evaluate_command(plan).endswith(f"--verifier openai:judge --verifier-url {server.url}")
    at.verifier = replace(at.verifier, name="openai other at elsewhere")
    with pytest.raises(PlanError, match=r"this run is judged by openai judge at .*; give the same --verifier again"):
        ran(at)


def test_a_run_that_a_server_answers_names_it_in_its_command(opened):
    name = "openai small at http://127.0.0.1:9/v1, temperature 0, seed 0, 64 tokens"
    plan = opened("oracle").run.plan.model_copy(update={"agent": name})
    assert evaluate_command(plan).endswith("--agent openai:small --agent-url http://127.0.0.1:9/v1")
