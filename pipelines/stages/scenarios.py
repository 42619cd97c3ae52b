"""Generates the run's scenarios, registers its criteria and records everything in the run's ledger."""

from __future__ import annotations

from evals.agents.answer_cache import AnswerCache
from evals.agents.local import LocalAgent
from evals.criteria import load_criteria
from evals.preregistration import PlannedScenario, Registration, RunPlan, register
from evals.recorder import ScenarioRecorder
from evals.scenarios import GENERATOR_VERSION, Scenario, decode_scenario, generate
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import JSON
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import CriteriaRegistered, CriteriaRegisteredBody
from ledger_core.kernel.statements.facts import successor_fact
from ledger_core.stores.ledger import Ledger
from pipelines.lake import read_table
from pipelines.progress import track
from pipelines.stages.replay import Rows
from pipelines.workspace import Workspace

NAMESPACE = "veritas.evals"
CORRECTIONS_LEAVE = "corrections-leave"
_LEAVING_ARMS = ("1", "2")
"""Arms that read the variant in which the corrections have left the context."""


def planned_scenarios(at: Workspace) -> list[Scenario]:
    """The run's scenarios, in the order in which they are recorded."""
    plan = at.run.plan
    found: list[Scenario] = []
    for family, size in plan.sizes.items():
        found.extend(generate(family, size, plan.seed))
    found.extend(generate("planted-premise", plan.corrections_leave, plan.seed, variant=CORRECTIONS_LEAVE))
    return found


def scenarios_rows(at: Workspace, scope: Scope) -> Rows:  # noqa: ARG001 - the run has one scope
    """One row per scenario, with the scenario as canonical JSON."""
    return [
        {
            "scenario": scenario.id,
            "family": scenario.family,
            "wording": scenario.wording,
            "premise_order": scenario.order,
            "variant": scenario.variant,
            "document": scenario.canonical_bytes().decode(),
        }
        for scenario in planned_scenarios(at)
    ]


def stored_scenarios(at: Workspace, scope: Scope) -> list[Scenario]:
    """The scenarios of the table, in table order."""
    return [decode_scenario(row["document"].encode()) for row in read_table(at.lake(scope), "scenarios")]


def arms_of(at: Workspace, scenario: Scenario) -> tuple[str, ...]:
    """Arms (short forms) that read a scenario; a scenario without a question is read by none."""
    if scenario.question is None:
        return ()
    arms = tuple(arm.removeprefix("arm-") for arm in at.run.plan.arms)
    return tuple(arm for arm in arms if arm in _LEAVING_ARMS) if scenario.variant == CORRECTIONS_LEAVE else arms


def registration(at: Workspace, scenarios: list[Scenario]) -> Registration:
    """What this run commits to before it has data."""
    plan = RunPlan(
        scenarios=tuple(
            PlannedScenario(
                family=scenario.family,
                variant=scenario.variant,
                premise_order=scenario.order,
                wording=scenario.wording,
                scenario_id=scenario.id,
                arms=arms_of(at, scenario),
            )
            for scenario in scenarios
            if arms_of(at, scenario)
        ),
        repeats=1,
        generator_version=GENERATOR_VERSION,
        agent=at.run.plan.agent,
        model_digest=at.run.plan.weights_digest,
        policy=SEED_V4_CLUSTERS_NAME,
        gate=at.run.plan.gate,
    )
    return register(plan, load_criteria())


def register_criteria(ledger: Ledger, registered: Registration, n: int) -> str:
    """Put the registration into the control log and return the event id; again adds nothing."""
    content = ledger.put_blob(registered.canonical_bytes(), JSON)
    statement = Author(ledger.scope, NAMESPACE, "1").write(
        CriteriaRegistered,
        successor_fact(NAMESPACE, "criteria", None),
        CriteriaRegisteredBody.make(criteria=content, n=n, name="preregistration"),
    )
    ledger.append((statement,), role="operator")
    return statement.event_id


def scenario_events_rows(at: Workspace, scope: Scope) -> Rows:
    """Register the criteria first, then record every scenario; the local model says the claims."""
    scenarios = planned_scenarios(at)
    rows: Rows = []
    with at.ledger(scope) as ledger:
        register_criteria(ledger, registration(at, scenarios), len(scenarios))
        recorder = ScenarioRecorder(ledger, at.model())
        for scenario in track(scenarios, "Recording scenarios"):
            rows.extend(
                {
                    "scenario": scenario.id,
                    "part": part.part,
                    "event_id": part.event_id,
                    "kind": part.kind,
                    "free_continuation_differs": part.free_continuation_differs,
                }
                for part in recorder.record(scenario)
            )
    return rows


def agent_of(at: Workspace) -> LocalAgent:
    """The agent that answers."""
    return LocalAgent(at.model(), AnswerCache(at.settings.cache / "answers"))
