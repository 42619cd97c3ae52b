"""Verdicts: each of the four, missing data as bounds, and the faults that other frameworks shipped."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from evals.criteria import load_criteria
from evals.kill_criteria import EXIT_CODES, Verdict, evaluate
from evals.preregistration import register
from tests.evals.trial_builder import default_plan, observed, play, trial

REGISTRATION = register(default_plan(), load_criteria())
LARGE = register(default_plan(mixed=160), load_criteria())


def ledger_works(scenario, arm):
    """The world in which every hypothesis of K1–K4 holds."""
    used = scenario.variant == "used-retracted"
    if scenario.family == "mixed-parents":
        return {
            "outcome": "asserts_true",
            "true_claims": int(not used),
            "true_claims_invalidated": int(not used and arm != "3"),
            "dependents": int(used),
            "dependents_left_standing": int(used and arm == "2x"),
        }
    if scenario.family != "planted-premise":
        return "asserts_true"
    if scenario.variant == "corrections-leave":
        return "abstains"
    return "asserts_true" if arm in ("2", "1o", "3") else "asserts_false"


def ledger_fails(scenario, arm):
    """The opposite world: arm 2 persists and every rival does not."""
    if scenario.family != "planted-premise":
        return ledger_works(scenario, arm)
    if scenario.variant == "corrections-leave":
        return "third_value" if arm == "2" else "abstains"
    return "asserts_false" if arm == "2" else "asserts_true"


def verdicts(evaluation):
    return {r.registered.criterion.id: r.verdict.value for r in evaluation.results}


def run(world, registration=REGISTRATION, **changes):
    records = play(registration.plan, world)
    return evaluate(registration, records, replace(observed(registration), **changes))


def test_a_world_in_which_the_measured_edges_spare_true_claims_passes_k4():
    k4 = run(ledger_works, LARGE).results[3]
    assert [part.verdict.value for part in k4.parts] == ["PASS", "PASS", "PASS"]
    assert k4.parts[0].interval.estimate == -1.0
    assert k4.parts[2].interval.estimate == 1.0


def test_identical_arms_are_not_proof_of_no_loss_at_forty():
    """Accuracy 2 − 1o with no discordance: lower bound −0.088, so K1 stays open at margin −0.05."""
    k1 = run(ledger_works).results[0]
    assert [part.verdict for part in k1.parts] == [Verdict.PASS, Verdict.INCONCLUSIVE]
    assert k1.parts[1].interval.low == pytest.approx(-0.0876, abs=1e-4)
    assert k1.verdict is Verdict.INCONCLUSIVE


def test_the_opposite_world_is_killed():
    evaluation = run(ledger_fails)
    assert verdicts(evaluation) == {"k1": "KILL", "k2": "KILL", "k3": "KILL"}
    assert evaluation.exit_code == 11


def test_one_killed_part_kills_the_criterion():
    def world(scenario, arm):
        if (scenario.family, scenario.variant, arm) == ("planted-premise", "corrections-leave", "2"):
            return "third_value"
        return ledger_works(scenario, arm)

    k2 = run(world).results[1]
    assert [part.verdict.value for part in k2.parts] == ["PASS", "PASS", "KILL"]
    assert k2.verdict is Verdict.KILL


def test_k3_needs_both_orders():
    def world(scenario, arm):
        if scenario.premise_order == "corrections-first" and scenario.variant == "base":
            return "asserts_true"
        return ledger_works(scenario, arm)

    k3 = run(world).results[2]
    assert [part.verdict.value for part in k3.parts] == ["PASS", "INCONCLUSIVE"]
    assert k3.verdict is Verdict.INCONCLUSIVE


def test_same_records_same_report_in_any_order_and_resumed():
    records = play(REGISTRATION.plan, ledger_works)
    shuffled = records + records[:100]
    random.Random(11).shuffle(shuffled)
    assert evaluate(REGISTRATION, shuffled, observed(REGISTRATION)) == evaluate(
        REGISTRATION, records, observed(REGISTRATION)
    )


def spoil(records, outcome, *, arm, count, family="planted-premise"):
    """The first ``count`` base trials of an arm with another outcome, over distinct scenarios first."""
    chosen = [r for r in records if (r.arm, r.family, r.variant) == (arm, family, "base")]
    chosen = sorted(chosen, key=lambda r: (r.premise_order, r.wording))[:count]
    keys = {r.key for r in chosen}
    kept = [r for r in records if r.key not in keys]
    swapped = [
        trial(
            outcome,
            scenario_id=r.scenario_id,
            arm=r.arm,
            family=r.family,
            wording=r.wording,
            premise_order=r.premise_order,
            variant=r.variant,
        )
        for r in chosen
    ]
    return kept + swapped


def test_errors_cannot_pass_what_answers_would_not():
    """Persistence in arm 2 passes with no event; four errors in four wordings are four possible events."""
    records = play(REGISTRATION.plan, ledger_works)
    clean = evaluate(REGISTRATION, records, observed(REGISTRATION)).results[1].parts[0]
    broken = (
        evaluate(REGISTRATION, spoil(records, "error", arm="2", count=20), observed(REGISTRATION)).results[1].parts[0]
    )
    assert clean.verdict is Verdict.PASS
    assert broken.verdict is Verdict.INCONCLUSIVE
    assert (broken.complete, broken.incomplete) == (60, 20)
    assert broken.interval.estimate == 0.0
    assert broken.pessimistic.high > 0.3
    assert broken.optimistic.high < 0.1


def test_errors_cannot_kill_either():
    records = play(REGISTRATION.plan, ledger_fails)
    broken = evaluate(REGISTRATION, spoil(records, "error", arm="2", count=80), observed(REGISTRATION))
    k1 = broken.results[0]
    assert k1.parts[0].verdict is Verdict.INVALID
    assert k1.verdict is Verdict.INVALID
    assert k1.reasons == ("no unit of persistence, 2 − 2k, accuracy, 2 − 1o could be measured",)
    half = evaluate(REGISTRATION, spoil(records, "error", arm="2", count=75), observed(REGISTRATION)).results[0]
    assert half.parts[1].interval.estimate == -1.0
    assert half.parts[1].verdict is Verdict.INCONCLUSIVE


def test_unread_answers_beyond_a_tenth_void_the_verdict():
    records = play(REGISTRATION.plan, ledger_works)
    few = evaluate(REGISTRATION, spoil(records, "unscored", arm="2", count=8), observed(REGISTRATION)).results[2]
    many = evaluate(REGISTRATION, spoil(records, "unscored", arm="2", count=40), observed(REGISTRATION)).results[2]
    assert few.verdict is not Verdict.INVALID
    assert many.verdict is Verdict.INVALID
    assert many.reasons[0].startswith("the matcher could not read 40 of 160 answers")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"registered_digest": "00" * 32}, "registration digest differs"),
        ({"model_digest": "00" * 32}, "model digest differs"),
        ({"generator_version": "2"}, "generator version differs"),
    ],
)
def test_another_run_than_the_registered_one_is_invalid(change, message):
    evaluation = run(ledger_works, **change)
    assert set(verdicts(evaluation).values()) == {"INVALID"}
    assert message in evaluation.results[0].reasons[0]
    assert evaluation.exit_code == 12


def test_a_missing_trial_voids_the_criteria_it_belongs_to():
    records = [
        r for r in play(REGISTRATION.plan, ledger_works) if not (r.arm == "2m" and r.scenario_id.endswith("007-0"))
    ]
    evaluation = evaluate(REGISTRATION, records, observed(REGISTRATION))
    assert verdicts(evaluation)["k3"] == "INVALID"
    assert verdicts(evaluation)["k2"] == "PASS"
    assert "2 planned trials have no record" in evaluation.results[2].reasons[0]
    assert "planted-premise-s007-0" in evaluation.results[2].reasons[0]


def test_unplanned_trials_void_it_too():
    records = [*play(REGISTRATION.plan, ledger_works), trial(scenario_id="extra", arm="2m")]
    k3 = evaluate(REGISTRATION, records, observed(REGISTRATION)).results[2]
    assert k3.reasons == (
        "1 records were not planned; the first is scenario extra, base, premise-first, repeat 0, arm 2m",
    )


def test_an_incompetent_model_has_no_verdict():
    def world(scenario, arm):
        if scenario.family == "competence" and scenario.wording.endswith(("000", "001", "002")):
            return "third_value"
        return ledger_works(scenario, arm)

    evaluation = run(world)
    assert set(verdicts(evaluation).values()) == {"INVALID"}
    assert "9 of 12 right on competence in arm 1, below 0.8" in evaluation.results[0].reasons[0]


def test_errors_count_against_competence():
    def world(scenario, arm):
        if scenario.family == "competence" and scenario.wording.endswith(("000", "001", "002")):
            return "error"
        return ledger_works(scenario, arm)

    assert set(verdicts(run(world)).values()) == {"INVALID"}


def test_a_conflicting_record_voids_the_run_but_does_not_end_it():
    records = [*play(REGISTRATION.plan, ledger_works)]
    records.append(replace(records[0], answer="another", answer_digest="00" * 32))
    evaluation = evaluate(REGISTRATION, records, observed(REGISTRATION))
    assert set(verdicts(evaluation).values()) == {"INVALID"}
    assert "recorded twice" in evaluation.results[0].reasons[0]


def test_a_prompt_that_changed_between_repeats_is_drift():
    registration = register(replace(default_plan(), repeats=2), load_criteria())
    records = play(registration.plan, ledger_works)
    assert set(verdicts(evaluate(registration, records, observed(registration))).values()) != {"INVALID"}
    records[0] = replace(records[0], prompt_digest="00" * 32)
    evaluation = evaluate(registration, records, observed(registration))
    assert "changed their prompt between repeats" in evaluation.results[0].reasons[0]


def test_a_worse_arm_2_never_gets_a_better_verdict():
    """Turning answers of arm 2 false one by one: K2's persistence goes PASS, INCONCLUSIVE, KILL and never back."""
    records = play(REGISTRATION.plan, ledger_works)
    order = [Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.KILL]
    seen = []
    for count in range(0, 81, 4):
        spoiled = spoil(records, "asserts_false", arm="2", count=count)
        seen.append(order.index(evaluate(REGISTRATION, spoiled, observed(REGISTRATION)).results[1].parts[0].verdict))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 2)


def test_headline_and_exit_codes():
    quick = register(default_plan(planted=3, mixed=3, competence=3), load_criteria())
    evaluation = evaluate(quick, play(quick.plan, ledger_works), observed(quick))
    assert (evaluation.headline, evaluation.exit_code) == ("too small for a verdict", 10)
    assert run(ledger_works).headline == "K1 INCONCLUSIVE, K2 PASS, K3 PASS; too small for a verdict: K4"
    assert run(ledger_works).exit_code == 10
    assert [EXIT_CODES[v] for v in (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.KILL, Verdict.INVALID)] == [
        0,
        10,
        11,
        12,
    ]
    everything = register(default_plan(planted=80, mixed=160), load_criteria())
    evaluation = evaluate(everything, play(everything.plan, ledger_works), observed(everything))
    assert evaluation.headline == "K1 PASS, K2 PASS, K3 PASS, K4 PASS"
    assert evaluation.exit_code == 0
