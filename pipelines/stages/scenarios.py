"""Generates the run's scenarios, registers its criteria and records everything in the run's ledger."""

from __future__ import annotations

from evals.agents.answer_cache import AnswerCache
from evals.agents.base import Agent
from evals.agents.local import LocalAgent
from evals.arms import arm
from evals.criteria import load_criteria, load_full_criteria
from evals.preregistration import PlannedScenario, Registration, RunPlan, register
from evals.prompts import Tokenizer
from evals.recorder import ScenarioRecorder
from evals.scenarios import GENERATOR_VERSION, Scenario, decode_scenario, generate
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import JSON
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import CriteriaRegistered, CriteriaRegisteredBody
from ledger_core.kernel.statements.facts import successor_fact
from ledger_core.stores.ledger import Ledger
from pipelines.errors import PlanError
from pipelines.lake import read_table
from pipelines.plan import JobPlan, arms_for
from pipelines.progress import track
from pipelines.stages.replay import Rows
from pipelines.stages.verifying import fault_rows, verifying_judge
from pipelines.workspace import Workspace

NAMESPACE = "veritas.evals"


def planned_scenarios(at: Workspace) -> list[Scenario]:
    """The run's scenarios, in the order in which they are recorded: the generated ones, then other people's.

    Raises:
        PlanError: the plan names a population whose file was not given, or holds other scenarios now.
    """
    plan = at.run.plan
    found: list[Scenario] = []
    for row in plan.readings:
        found.extend(generate(row.family, row.scenarios, plan.seed, variant=row.variant))
    for population in plan.populations:
        found.extend(at.population(population))
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
    plan = at.run.plan
    for population in plan.populations:
        if scenario.family in population.families:
            return tuple(arm.removeprefix("arm-") for arm in population.arms)
    return arms_for(plan.readings, scenario.family, scenario.variant)


def is_measured(at: Workspace, scenario: Scenario) -> bool:
    """Whether the claims of a scenario are measured: an arm reads their edges, or nothing else can be asked of it."""
    arms = arms_of(at, scenario)
    return not arms or any(arm(name).edges == "measured" for name in arms)


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
        policy=at.run.plan.policy,
        gate=at.run.plan.gate,
    )
    return register(plan, load_criteria() if isinstance(at.run.plan, JobPlan) else load_full_criteria())


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
        desk = VerdictDesk(ledger, at.embedder)
        verifying = verifying_judge(at, ledger, desk)
        recorder = ScenarioRecorder(ledger, at.model(), judge=verifying, desk=desk)
        for scenario in track(scenarios, "Recording scenarios"):
            recorded = recorder.record(scenario)
            rows.extend(
                {
                    "scenario": scenario.id,
                    "part": part.part,
                    "event_id": part.event_id,
                    "kind": part.kind,
                    "free_continuation_differs": part.free_continuation_differs,
                }
                for part in recorded
            )
            if verifying is not None:
                rows.extend(fault_rows(scenario, recorded, verifying))
    return rows


def agent_of(at: Workspace) -> Agent:
    """The agent that answers.

    Raises:
        PlanError: the run asks another agent than this command was given.
    """
    if at.chosen is not None:
        return at.chosen.agent
    local = LocalAgent(at.model(), AnswerCache(at.settings.cache / "answers"))
    if local.name != at.run.plan.agent:
        raise PlanError(f"this run asks {at.run.plan.agent}, and here is {local.name}; give the same --agent again")
    return local


def tokenizer_of(at: Workspace) -> Tokenizer:
    """What the agent's prompts are assembled with."""
    return at.model() if at.chosen is None else at.chosen.tokenizer
