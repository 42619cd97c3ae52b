"""Who answers an evaluation, and that what a server once said, or failed to say, stands."""

from __future__ import annotations

import pytest

from evals.agents.scripted import ScriptedAgent
from evals.arms import ARMS
from evals.errors import AgentError
from pipelines.agents import KEY_VARIABLE, Asking, Chosen, chosen_agent, chosen_verifier
from pipelines.errors import PlanError, UsageError
from pipelines.evaluation import open_evaluation
from pipelines.lake import write_table
from pipelines.stages.identity import provenance
from pipelines.stages.scenarios import agent_of, scenario_events_rows, scenarios_rows
from pipelines.stages.trials import stored_records, trials_rows
from pipelines.suite import Reading
from tests.pipelines.tiny_run import NOW, settings_in

READINGS = (
    Reading.make(arms=(ARMS["1"].id, ARMS["2"].id), family="planted-premise", scenarios=2, variant=None),
    Reading.make(arms=(ARMS["1m"].id,), family="compaction", scenarios=1, variant="folds-1"),
)


HERE = Asking(url="http://127.0.0.1:9/v1")


class Flaky(ScriptedAgent):
    """Fails at its first question of this process, and says how often it was asked."""

    def __init__(self):
        super().__init__(self._say)
        self.asked = 0

    def _say(self, _prompt) -> str:
        self.asked += 1
        if self.asked == 1:
            raise AgentError("the server went away")
        return " oats."

    def summarise(self, prompt):
        return self.answer(prompt)


def opened(home, language, agent):
    chosen = Chosen(agent, language, lambda: {"asked": agent.asked})
    at = open_evaluation(
        settings_in(home, language.files.path), effort="quick", seed=3, now=NOW, readings=READINGS, chosen=chosen
    )
    at._models["model"] = language
    return at


def asked(at):
    scope = at.run.plan.scope
    for name, stage in (
        ("scenarios", scenarios_rows),
        ("scenario_events", scenario_events_rows),
        ("trials", trials_rows),
    ):
        write_table(at.lake(scope), name, stage(at, scope))
    return stored_records(at, scope)


def test_a_fault_is_an_outcome_and_a_second_run_re_rolls_nothing(tmp_path, tiny_wide):
    first = opened(tmp_path, tiny_wide, Flaky())
    records = asked(first)
    assert len(records) == 5
    assert [record.outcome for record in records].count("error") == 1
    again = opened(tmp_path, tiny_wide, Flaky())
    assert again.run.resumed
    assert asked(again) == records
    assert again.chosen.agent.asked <= 1, "a summary is made again for its prompt; no question is"


def test_the_plan_names_who_answers_and_another_agent_is_another_run(tmp_path, tiny_wide):
    at = opened(tmp_path, tiny_wide, Flaky())
    assert at.run.plan.agent == ScriptedAgent.name
    at.chosen = None
    with pytest.raises(PlanError, match=r"this run asks scripted .* and here is local .*; give the same --agent again"):
        agent_of(at)


def test_the_report_says_who_answered(tmp_path, tiny_wide):
    at = opened(tmp_path, tiny_wide, Flaky())
    asked(at)
    answers = next(row for row in provenance(at, at.run.plan.scope) if row.what == "Answers")
    assert answers.note.startswith(f"Asked of {ScriptedAgent.name};")


def test_the_local_model_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert chosen_agent("local", Asking(), tmp_path) is None


@pytest.mark.parametrize("option", ["openai", "openai:", "gpt-4o", ":x", "remote:model"])
def test_an_agent_that_is_none_is_refused(tmp_path, monkeypatch, option):
    monkeypatch.setenv(KEY_VARIABLE, "any")
    with pytest.raises(UsageError, match="--agent takes local, or openai:MODEL for a server"):
        chosen_agent(option, Asking(), tmp_path)


def test_a_server_needs_a_key_from_the_environment_and_nothing_shows_it(tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(UsageError, match=f"needs a key in {KEY_VARIABLE}"):
        chosen_agent("openai:small", HERE, tmp_path)
    monkeypatch.setenv(KEY_VARIABLE, "a-secret-of-mine")
    found = chosen_agent("openai:small", HERE, tmp_path)
    assert found.agent.name.startswith("openai small at http://127.0.0.1:9/v1")
    assert "a-secret-of-mine" not in f"{found.agent.name} {found.account()}"


def test_a_verifier_is_named_by_its_model_and_server_and_no_key_shows(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert chosen_verifier("oracle", Asking()) is None
    with pytest.raises(UsageError, match="--verifier takes oracle, or openai:MODEL for a server; got 'local'"):
        chosen_verifier("local", Asking())
    with pytest.raises(UsageError, match=f"--verifier openai:judge needs a key in {KEY_VARIABLE}"):
        chosen_verifier("openai:judge", HERE)
    monkeypatch.setenv(KEY_VARIABLE, "a-secret-of-mine")
    found = chosen_verifier("openai:judge", Asking(url="http://me:password@127.0.0.1:9/v1/"))
    assert found.name == "openai judge at http://127.0.0.1:9/v1"
    assert found.llm.model == "judge"
    assert "a-secret-of-mine" not in f"{found.name} {found.account()}"
    with pytest.raises(UsageError, match="longer than the"):
        chosen_verifier(f"openai:{'j' * 4096}", HERE)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_a_server_needs_time_to_answer(monkeypatch, seconds):
    monkeypatch.setenv(KEY_VARIABLE, "any")
    with pytest.raises(UsageError, match=r"--timeout .* leaves a server no time"):
        chosen_verifier("openai:judge", Asking(timeout_seconds=seconds))
