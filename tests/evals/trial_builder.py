"""Small hand-made trials and plans: what a test says about a trial and nothing else."""

from __future__ import annotations

import hashlib

from evals.kill_criteria import Observed
from evals.preregistration import PlannedScenario, Registration, RunPlan
from evals.trials import Outcome, TrialRecord

MODEL = "ab" * 32
GENERATOR = "veritas-scenarios-1"


def trial(
    outcome=Outcome.ASSERTS_TRUE,
    *,
    scenario_id="s0",
    arm="2",
    family="planted-premise",
    wording="w0",
    premise_order="premise-first",
    variant="base",
    repeat=0,
    prompt="prompt",
    **fields,
) -> TrialRecord:
    outcome = Outcome(outcome)
    failed = outcome is Outcome.ERROR
    answer = None if failed else f"answer {outcome}"
    return TrialRecord(
        scenario_id=scenario_id,
        family=family,
        wording=wording,
        premise_order=premise_order,
        variant=variant,
        arm=arm,
        repeat=repeat,
        outcome=outcome,
        answer_digest=hashlib.sha256((answer or "").encode()).hexdigest(),
        answer=answer,
        forced_choice=None,
        prompt_digest=hashlib.sha256(f"{prompt}{arm}{scenario_id}{premise_order}{variant}".encode()).hexdigest(),
        fault="the model process ended" if failed else None,
        **fields,
    )


def scenarios(family, wordings, arms, *, orders=("none",), variants=("base",), fillings=1, start=0):
    return [
        PlannedScenario(
            family=family,
            variant=variant,
            premise_order=order,
            wording=f"{family}-w{w:03}",
            scenario_id=f"{family}-s{w:03}-{f}",
            arms=tuple(arms),
        )
        for w in range(start, start + wordings)
        for f in range(fillings)
        for order in orders
        for variant in variants
    ]


BOTH_ORDERS = ("premise-first", "corrections-first")
ARMS = ("1", "1o", "2v1", "2", "2k", "2m", "2x", "3")


def plan(*groups, repeats=1) -> RunPlan:
    return RunPlan(
        scenarios=tuple(s for group in groups for s in group),
        repeats=repeats,
        generator_version=GENERATOR,
        agent="local",
        model_digest=MODEL,
        policy="seed-v4-clusters",
        gate="cuts-v1",
    )


def default_plan(planted=40, mixed=24, competence=12):
    return plan(
        scenarios("planted-premise", planted, ARMS, orders=BOTH_ORDERS, variants=("base", "corrections-leave")),
        scenarios("mixed-parents", mixed // 2, ARMS, orders=("premise-first",), variants=("used-retracted",)),
        scenarios(
            "mixed-parents",
            mixed - mixed // 2,
            ARMS,
            orders=("corrections-first",),
            variants=("unused-retracted",),
            start=mixed // 2,
        ),
        scenarios("null", 20, ("1", "3")),
        scenarios("competence", competence, ("1",)),
    )


def observed(registration: Registration) -> Observed:
    return Observed(registered_digest=registration.digest, model_digest=MODEL, generator_version=GENERATOR)


def play(run_plan: RunPlan, answer) -> list[TrialRecord]:
    """A record for every planned trial; ``answer(scenario, arm)`` gives the outcome or a dict of fields."""
    records = []
    for scenario in run_plan.scenarios:
        for arm in scenario.arms:
            for repeat in range(run_plan.repeats):
                said = answer(scenario, arm)
                fields = said if isinstance(said, dict) else {"outcome": said}
                records.append(
                    trial(
                        scenario_id=scenario.scenario_id,
                        arm=arm,
                        family=scenario.family,
                        wording=scenario.wording,
                        premise_order=scenario.premise_order,
                        variant=scenario.variant,
                        repeat=repeat,
                        **fields,
                    )
                )
    return records
