"""A full report from invented trials, seeded: every section has something to show, and every branch of a row occurs."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from attribution.calibration import Deletion
from evals.criteria import load_criteria, load_full_criteria
from evals.kill_criteria import Evaluation, evaluate
from evals.preregistration import register
from evals.report import (
    Cascade,
    CascadeEdge,
    CascadeNode,
    Identity,
    ModelIdentity,
    PersistedRow,
    PromptText,
    ProvenanceRow,
    ReportInputs,
    RunFacts,
    ScenarioFacts,
    StabilityRow,
    WhatIfRow,
)
from evals.report.commands import Recompute
from evals.report.weights import WeightsRow, weights_row
from tests.evals.trial_builder import BOTH_ORDERS, GENERATOR, MODEL, default_plan, observed, plan, play, scenarios

PERSISTENCE = {"1": 0.85, "1o": 0.03, "2v1": 0.7, "2": 0.04, "2k": 0.75, "2m": 0.6, "2x": 0.1, "3": 0.05}


def world(seed: int):
    """Answers with a plausible spread; some errors, unread answers and retries."""
    generator = random.Random(seed)

    def answer(scenario, arm):  # noqa: PLR0911
        if scenario.family == "competence":
            return "asserts_true" if generator.random() < 0.97 else "third_value"
        if scenario.family == "null":
            measured = {"claims_with_false_edge": int(generator.random() < 0.05), "claims_measured": 1}
            return {"outcome": "abstains", **(measured if arm == "3" else {})}
        if scenario.family == "mixed-parents":
            used = scenario.variant == "used-retracted"
            measures = arm in ("3", "2x")
            return {
                "outcome": "asserts_true",
                "true_claims": int(not used),
                "true_claims_invalidated": int(not used and (not measures or generator.random() < 0.2)),
                "dependents": int(used),
                "dependents_left_standing": int(
                    used and measures and generator.random() < (0.4 if arm == "2x" else 0.04)
                ),
            }
        draw = generator.random()
        if draw < 0.012:
            return "error"
        if draw < 0.02:
            return "unscored"
        if scenario.variant == "corrections-leave":
            return generator.choice(
                ("abstains", "abstains", "third_value", "asserts_false" if arm != "2" else "abstains")
            )
        shift = 0.1 if scenario.premise_order == "premise-first" else -0.25
        rate = PERSISTENCE[arm] + (shift if PERSISTENCE[arm] > 0.1 else 0.0)
        if generator.random() < rate:
            return "asserts_false" if generator.random() < 0.9 else "asserts_both"
        outcome = "asserts_true" if generator.random() < 0.93 else "third_value"
        return {"outcome": outcome, "correction_in_context": True, "attempts": 2 if generator.random() < 0.02 else 1}

    return answer


def judged(seed: int = 4, **sizes) -> tuple[Evaluation, list]:
    registration = register(default_plan(**sizes), load_criteria())
    records = play(registration.plan, world(seed))
    return evaluate(registration, records, observed(registration)), records


IDENTITY = Identity(
    title="Does the ledger stop retracted facts from persisting?",
    run="run-37fe3ee911d0",
    evaluate="veritas evaluate --quick --seed 7 --gate cuts-v1",
    agent="local",
    generator_version=GENERATOR,
    policy="seed-v4-clusters",
    gate="cuts-v1",
    registration_digest="5f" * 32,
    model=ModelIdentity(
        name="SmolLM2-135M-Instruct",
        file="SmolLM2-135M-Instruct.Q8_0.gguf",
        quantisation="Q8_0",
        digest=MODEL,
        dtype="float32",
        decoding="greedy",
    ),
)

EMPTY_INPUTS = ReportInputs(
    identity=IDENTITY, provenance=(), persisted=(), cascades=(), stability=(), what_if=(), facts=(), prompts=()
)


def entry(number: int) -> str:
    return f"{number:x}".rjust(4, "e") * 16


def cascade() -> Cascade:
    """Two sources, a claim on each, one on both and one on either; the first is retracted."""
    beliefs = (
        (1, "Depot bulletin: 4,100 crates", "observed", 700, 35),
        (2, "Roster: two shifts", "observed", 700, 700),
        (3, "Stock is 4,100 crates", "derived", 500, 48),
        (4, "Two shifts are needed", "derived", 500, 500),
        (5, "Each shift moves 2,050 crates", "derived", 480, 61),
        (6, "There is stock to move", "derived", 500, 500),
    )
    nodes = tuple(
        CascadeNode(
            entry_id=entry(number),
            label=label,
            tier=tier,
            belief_before=before * 1_000_000,
            belief_after=after * 1_000_000,
            retracted=number == 1,
            invalidated=after < before,
        )
        for number, label, tier, before, after in beliefs
    )
    edges = (
        CascadeEdge(parents=(entry(1),), child=entry(3), ppm=950_000, basis="measured"),
        CascadeEdge(parents=(entry(2),), child=entry(3), ppm=20_000, basis="measured"),
        CascadeEdge(parents=(entry(2),), child=entry(4), ppm=1_000_000, basis="declared"),
        CascadeEdge(parents=(entry(3),), child=entry(5), ppm=920_000, basis="measured"),
        CascadeEdge(parents=(entry(4),), child=entry(5), ppm=400_000, basis="declared"),
        CascadeEdge(parents=(entry(1), entry(2)), child=entry(6), ppm=870_000, basis="measured"),
    )
    return Cascade(
        title="Retracting the bulletin",
        scenario_id="mixed-parents-s000-0",
        arm="3",
        nodes=nodes,
        edges=edges,
        command=f"veritas what-if --retract {entry(1)}",
    )


def stability_rows() -> tuple[StabilityRow, ...]:
    rows = []
    for place in range(6):
        for gate in ("cuts-v1", "seed-v4"):
            kept = gate == "seed-v4" and place % 2
            rows.append(
                StabilityRow(
                    gate=gate,
                    ledger="samples/planted-chat" if place == 5 else "eval/run-37fe3ee911d0",
                    subject=f"mixed-parents {place}",
                    claim_id=entry(40 + place),
                    claim="Stock is 4,100 crates.",
                    units=4,
                    passes=16 if gate == "cuts-v1" else 64,
                    design="cube" if gate == "cuts-v1" else "bernoulli",
                    scorer="transformers",
                    rho=0.9 - place / 8 if gate == "seed-v4" else None,
                    rho_threshold=0.6 if gate == "seed-v4" else None,
                    jaccard=0.8 if gate == "seed-v4" else None,
                    lds=None,
                    floor_nats=1.25 if gate == "cuts-v1" else None,
                    edges=0 if kept else 1,
                    nulls=2,
                    undetermined=1,
                    decision="declared edges kept" if kept else "measured",
                    flags=("uncalibrated",) if gate == "cuts-v1" else (),
                )
            )
    return tuple(rows)


def weights(pairs: int = 400, placebos: int = 30) -> WeightsRow:
    """Claims that fall the surer, the less of their margin is left; one placebo in ten is lost too."""
    draw = random.Random(5)
    cuts = []
    for number in range(pairs):
        margin = draw.uniform(-4, 8)
        lost = draw.random() < 1 / (1 + math.exp(margin))
        cuts.append(
            Deletion(f"wording-{number % 25}", (0,), placebo=False, loss_nats=8 - margin, margin_nats=margin, lost=lost)
        )
    idle = [
        Deletion(f"wording-{number % 25}", (1,), placebo=True, loss_nats=0.0, margin_nats=8.0, lost=number % 10 == 0)
        for number in range(placebos)
    ]
    return weights_row([*cuts, *idle], Recompute(IDENTITY.run, IDENTITY.evaluate).weights())


def full_inputs(records) -> ReportInputs:
    persisted = [r for r in records if r.outcome in ("asserts_false", "asserts_both") and r.variant == "base"][:30]
    planted = sorted({r.scenario_id for r in records if r.family == "planted-premise"})
    return ReportInputs(
        identity=IDENTITY,
        provenance=(
            ProvenanceRow(
                what="Verdicts",
                status="oracle",
                note="Contradictions are filed by the scenario, not by a verifier; a real two-stage verifier would retract less.",
            ),
            ProvenanceRow(
                what="Answers",
                status="real",
                note="Generated greedily by the local model from each arm's exact prompt.",
            ),
            ProvenanceRow(
                what="Scenario tools",
                status="simulated",
                note="Texts come from templates by seed; hosts are under .example.",
            ),
            ProvenanceRow(what="Arm 1o", status="oracle", note="Knows which entry is false and deletes it."),
        ),
        persisted=tuple(
            PersistedRow(
                scenario_id=r.scenario_id,
                variant=r.variant,
                premise_order=r.premise_order,
                arm=r.arm,
                answer=r.answer,
                claim_id=entry(100 + k),
                result=("grounded", "diffuse", "not measured")[k % 3],
                entry_id=entry(1) if k % 3 == 0 else None,
                entry_label="Depot bulletin: 4,100 crates" if k % 3 == 0 else None,
                entry_role="retracted premise" if k % 3 == 0 else None,
                effect_nats=6.25 + k / 10 if k % 3 == 0 else None,
                effect_low=5.9 if k % 3 == 0 else None,
                effect_high=7.1 + k / 10 if k % 3 == 0 else None,
                labels=("necessary",) if k % 3 == 0 else (),
                note="" if k % 3 else "exact to order 2",
            )
            for k, r in enumerate(persisted)
        ),
        cascades=(cascade(),),
        stability=stability_rows(),
        weights=weights(),
        what_if=(
            WhatIfRow(
                source="tau-bench airline, task 4",
                retracted_id=entry(7),
                retracted_label="get_user_details → {“membership”: “gold”}",
                fallen_id=entry(8),
                fallen_label="You are eligible for a free upgrade.",
                belief_before=500_000_000,
                belief_after=25_000_000,
                path=(entry(7), entry(8)),
                flags=("proxy-scored",),
                command=f"veritas what-if --retract {entry(7)}",
            ),
        ),
        facts=tuple(
            ScenarioFacts(
                scenario_id=s,
                question="How many crates are in the depot?",
                false_value="4,100",
                true_value="3,650",
                folds=0 if k % 2 else 1,
            )
            for k, s in enumerate(planted)
        ),
        prompts=tuple(
            PromptText(
                scenario_id=planted[0],
                variant="base",
                premise_order="premise-first",
                arm=arm,
                prompt="[observed] Depot bulletin: 4,100 crates.\n[observed] Audit: 3,650 crates.\n\nHow many crates?",
            )
            for arm in ("1", "2")
        ),
    )


RUN = RunFacts(
    run_id="run-9c1e",
    now="2026-01-02T03:04:05Z",
    ledger_head="0f" * 32,
    host="build-host",
    seconds=512.25,
    versions={"torch": "2.13.0"},
)


SUITE_ARMS = ("1", "1o", "1r", "1i", "1l", "2b", "2", "2k", "2d", "2t", "2m", "2r", "2kr")


def suite_judged(seed: int = 6) -> tuple[Evaluation, list]:
    """A run of `veritas evaluate`: every criterion, wrong retractions beside right ones, five depths of folds."""
    folds = tuple(f"folds-{depth}" for depth in range(1, 6))
    forged = (("syndicated", "copied"), ("syndicated", "excerpted"), *(("sybil", f"dial-{dial}") for dial in range(4)))
    registration = register(
        plan(
            scenarios("competence", 12, ("1",)),
            scenarios("planted-premise", 40, SUITE_ARMS, orders=BOTH_ORDERS),
            scenarios("planted-premise", 40, ("1", "2", "2k"), orders=BOTH_ORDERS, variants=("corrections-leave",)),
            scenarios("true-premise-attacked", 40, ("2", "2k"), orders=BOTH_ORDERS, variants=("used",)),
            *(
                [
                    replace(each, scenario_id=f"{each.scenario_id[:-1]}{depth}")
                    for each in scenarios("compaction", 40, ("1m", "2"), orders=BOTH_ORDERS, variants=(variant,))
                ]
                for depth, variant in enumerate(folds)
            ),
            *(
                scenarios(f, 74, ("2",), variants=(v,))
                for f, v in (*forged, ("syndicated", "honest"), ("sybil", "honest"))
            ),
        ),
        load_full_criteria(),
    )
    records = play(registration.plan, _suite_world(seed))
    return evaluate(registration, records, observed(registration)), records


def _suite_world(seed: int):
    generator = random.Random(seed)

    def answer(scenario, arm):
        if scenario.family in ("syndicated", "sybil"):
            kind = "honest_pairs" if scenario.variant == "honest" else "attacks"
            passed = "honest_pairs_merged" if kind == "honest_pairs" else "attacks_passed"
            rate = {"dial-3": 0.9, "dial-2": 0.2}.get(scenario.variant, 0.01)
            return {"outcome": "asserts_true", kind: 1, passed: int(generator.random() < rate)}
        if scenario.family == "compaction":
            lost = 0.08 * int(scenario.variant[-1]) if arm == "1m" else 0.1
            return "asserts_true" if generator.random() > lost else "third_value"
        if scenario.family == "true-premise-attacked":
            return "asserts_false" if arm == "2" and generator.random() < 0.12 else "asserts_true"
        if scenario.family == "competence":
            return "asserts_true"
        false = {"1": 0.6, "2": 0.03, "2k": 0.5, "2kr": 0.2, "2t": 0.5, "1r": 0.5, "1i": 0.4}.get(arm, 0.05)
        first = 0.2 if scenario.premise_order == "premise-first" else -0.2
        return "asserts_false" if generator.random() < false + (first if false > 0.1 else 0.0) else "asserts_true"

    return answer


def suite_inputs(records) -> ReportInputs:
    """Folds of the compaction scenarios, and nothing else that a run would add."""
    depths = {r.scenario_id: r for r in records if r.family == "compaction"}
    return EMPTY_INPUTS.model_copy(
        update={
            "facts": tuple(
                ScenarioFacts(
                    scenario_id=s,
                    question="How many crates are in the depot?",
                    false_value="4,100",
                    true_value="3,650",
                    folds=int(s.rsplit("-", 1)[1]) + 1,
                )
                for s in sorted(depths)
            )
        }
    )
