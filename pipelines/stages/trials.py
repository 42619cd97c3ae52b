"""Runs every arm over every scenario and logs the trials in the ledger."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from evals.arms import arm
from evals.scenarios import Scenario
from evals.trial_runner import ScenarioLog, Trial, run_trial, trial_of
from evals.trials import TrialRecord
from ledger_core.kernel.content import JSON, TEXT
from ledger_core.kernel.statements import Scope, Statement, references
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.evaluation import TrialRecorded, TrialRecordedBody
from ledger_core.kernel.statements.facts import trial_fact
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from pipelines.lake import read_table
from pipelines.progress import track
from pipelines.stages.replay import Rows
from pipelines.stages.scenarios import NAMESPACE, agent_of, arms_of, stored_scenarios, tokenizer_of
from pipelines.workspace import Workspace


def scenario_logs(at: Workspace, scope: Scope, ledger: Ledger) -> list[ScenarioLog]:
    """Every scenario with the statements it became, measurements included, trials left out."""
    scenarios = {scenario.id: scenario for scenario in stored_scenarios(at, scope)}
    owner: dict[str, str] = {}
    entry_ids: dict[str, dict[str, EventId]] = defaultdict(dict)
    for row in read_table(at.lake(scope), "scenario_events"):
        owner[row["event_id"]] = row["scenario"]
        if row["part"].startswith("entry/"):
            entry_ids[row["scenario"]][row["part"].removeprefix("entry/")] = EventId(row["event_id"])
    statements: dict[str, list[Statement]] = defaultdict(list)
    for event in ledger.events("evidence"):
        statement = event.statement
        if statement.kind == "trial.recorded":
            continue
        found = owner.get(event.event_id) or next(
            (owner[ref.event_id] for ref in references(statement) if ref.event_id in owner), None
        )
        if found is not None:
            statements[found].append(statement)
    return [ScenarioLog(scenario, tuple(statements[key]), entry_ids[key]) for key, scenario in scenarios.items()]


def trials_rows(at: Workspace, scope: Scope) -> Rows:
    """Ask every arm every question and append one `trial.recorded` each."""
    agent, tokenizer = agent_of(at), tokenizer_of(at)
    with at.ledger(scope) as ledger:
        policy = ledger.policy()
        logs = scenario_logs(at, scope, ledger)
        criteria = _criteria(ledger)
        planned = [(log, arm(name)) for log in logs for name in arms_of(at, log.scenario)]
        rows: Rows = []
        statements: list[Statement] = []
        known = {} if at.chosen is None else _recorded(ledger, agent.name)
        for log, reading in track(planned, "Asking the arms"):
            record = known.get((log.scenario.id, reading.display))
            if record is None:
                trial = run_trial(log, reading, agent, tokenizer, policy)
            else:
                trial = trial_of(log, reading, record, agent, tokenizer, policy)
            statement = trial_statement(ledger, agent.name, trial, log.scenario, criteria)
            statements.append(statement)
            rows.append(_row(trial, statement.event_id))
        ledger.append(statements, role="evaluator")
    return rows


def _recorded(ledger: Ledger, agent: str) -> dict[tuple[str, str], TrialRecord]:
    """Trials of an agent that need not answer the same twice: what is in the log stands, faults included."""
    found: dict[tuple[str, str], TrialRecord] = {}
    for event in ledger.events("evidence"):
        statement = event.statement
        if isinstance(statement, TrialRecorded) and statement.body.agent == agent:
            record = TrialRecord(**json.loads(ledger.read_blob(statement.body.row)))
            found[record.scenario_id, record.arm] = record
    return found


def _criteria(ledger: Ledger) -> str:
    """Event id of the registration that trials count under."""
    registered = [e.event_id for e in ledger.events("control") if e.statement.kind == "criteria.registered"]
    return registered[-1]


def _document(record: TrialRecord) -> str:
    return json.dumps(record.document(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _row(trial: Trial, event_id: str) -> dict[str, Any]:
    record = trial.record
    return {
        "scenario": record.scenario_id,
        "arm": record.arm,
        "repeat": record.repeat,
        "family": record.family,
        "outcome": str(record.outcome),
        "answer": record.answer,
        "prompt": trial.prompt_text,
        "prompt_digest": record.prompt_digest,
        "answer_ids": list(trial.answer_ids),
        "event_id": event_id,
        "row": _document(record),
    }


def trial_statement(ledger: Ledger, agent: str, trial: Trial, scenario: Scenario, criteria: str) -> TrialRecorded:
    """The `trial.recorded` of ``trial`` under the registration ``criteria``; its row is stored."""
    record = trial.record
    contents = [(_document(record).encode("utf-8", "replace"), JSON)]
    if record.answer is not None:
        contents.append((record.answer.encode("utf-8", "replace"), TEXT))
    refs = ledger.put_blobs(contents)
    body = TrialRecordedBody.make(
        agent=agent,
        answer=refs[1] if len(refs) > 1 else None,
        arm=f"arm-{record.arm}",
        criteria=criteria,
        outcome=str(record.outcome),
        repeat=record.repeat,
        row=refs[0],
        scenario=scenario.digest,
    )
    fact = trial_fact(NAMESPACE, scenario.digest, f"arm-{record.arm}", agent, record.repeat)
    return Author(ledger.scope, NAMESPACE, "1").write(TrialRecorded, fact, body)


def stored_records(at: Workspace, scope: Scope) -> list[TrialRecord]:
    """The trials of the table."""
    return [TrialRecord(**json.loads(row["row"])) for row in read_table(at.lake(scope), "trials")]
