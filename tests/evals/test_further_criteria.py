"""K5 to K8: what each reads, the worlds in which it passes and is killed, and what is too small for it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from evals.criteria import BreakEven, load_criteria, load_full_criteria
from evals.errors import PreregistrationError
from evals.kill_criteria import Verdict, Weighed, evaluate
from evals.power import power_ppm
from evals.preregistration import register
from evals.statistics import PairedTable, Undefined, tango
from tests.evals.test_preregistration import MINIMAL
from tests.evals.trial_builder import BOTH_ORDERS, observed, plan, play, scenarios

BOOK = load_full_criteria()
K8 = next(c for c in BOOK.criteria if c.id == "k8").parts[0]
MEASURED = ("null", "mixed-parents", "redundant-support", "conjunctive-causes")
FORGED = (("syndicated", "copied"), ("syndicated", "excerpted"), *(("sybil", f"dial-{k}") for k in range(4)))


def suite(planted=40, attacked=40, folded=40, forged=80, null=40):
    return plan(
        scenarios("competence", 12, ("1",)),
        scenarios("planted-premise", planted, ("2", "2k"), orders=BOTH_ORDERS),
        scenarios("true-premise-attacked", attacked, ("2", "2k"), orders=BOTH_ORDERS, variants=("used",)),
        scenarios("compaction", folded, ("1m", "2"), orders=BOTH_ORDERS, variants=("folds-1", "folds-5")),
        *(scenarios(family, forged, ("2",), variants=(variant,)) for family, variant in FORGED),
        *(scenarios(family, forged, ("2",), variants=("honest",)) for family in ("syndicated", "sybil")),
        *(scenarios(family, null, ("3",)) for family in MEASURED),
    )


def place(scenario) -> int:
    return int(scenario.wording.rsplit("w", 1)[1])


def works(scenario, arm):
    """Retraction helps two times in five where it is right and costs one in ten where it is wrong; copies do not pass."""
    if scenario.family == "planted-premise":
        return "asserts_true" if arm == "2" or place(scenario) % 5 > 1 else "asserts_false"
    if scenario.family == "true-premise-attacked":
        return "asserts_false" if arm == "2" and place(scenario) % 10 == 0 else "asserts_true"
    if scenario.family == "compaction":
        return "asserts_true" if arm == "2" or place(scenario) % 2 else "third_value"
    if scenario.family in ("syndicated", "sybil"):
        counted = (
            ("honest_pairs", "honest_pairs_merged") if scenario.variant == "honest" else ("attacks", "attacks_passed")
        )
        return {"outcome": "asserts_true", counted[0]: 1, counted[1]: 0}
    if scenario.family in MEASURED:
        planted = int(scenario.family != "null")
        return {
            "outcome": "abstains",
            "planted_edges": planted,
            "planted_edges_found": planted,
            "claims_measured": 1,
            "claims_with_false_edge": 0,
        }
    return "asserts_true"


def fails(scenario, arm):
    if scenario.family == "planted-premise":
        return "asserts_true" if arm == "2" or place(scenario) % 10 else "asserts_false"
    if scenario.family == "true-premise-attacked":
        return "asserts_false" if arm == "2" and place(scenario) % 5 < 3 else "asserts_true"
    if scenario.family == "compaction":
        return "third_value" if arm == "2" else "asserts_true"
    found = works(scenario, arm)
    if isinstance(found, dict) and scenario.variant in ("dial-2", "dial-3"):
        return found | {"attacks_passed": 1}
    if isinstance(found, dict) and scenario.family == "redundant-support":
        return found | {"planted_edges_found": 0}
    return found


def verdicts(evaluation):
    return {result.registered.criterion.id: result.verdict.value for result in evaluation.results}


REGISTRATION = register(suite(), BOOK)


def judged(world, registration=REGISTRATION, spoil=lambda records: records):
    return evaluate(registration, spoil(play(registration.plan, world)), observed(registration))


def part_of(evaluation, criterion, name):
    parts = next(r for r in evaluation.results if r.registered.criterion.id == criterion).parts
    return next(part for part in parts if part.registered.part.name == name)


def test_a_suite_of_this_size_registers_all_four():
    assert [entry.criterion.id for entry in REGISTRATION.admitted] == ["k5", "k6", "k7", "k8"]
    assert len(REGISTRATION.admitted[2].parts) == 8
    assert register(suite(), load_criteria()).digest != REGISTRATION.digest


def test_the_default_book_is_a_part_of_the_full_one():
    default = {criterion.id: criterion for criterion in load_criteria().criteria}
    assert [criterion.id for criterion in BOOK.criteria] == list(default)
    assert {c.id for c in BOOK.criteria if c != default[c.id]} == {"k6", "k7", "k8"}
    assert not any(criterion.unavailable for criterion in BOOK.criteria)


def test_worlds_in_which_each_passes_and_in_which_each_is_killed():
    assert verdicts(judged(works)) == dict.fromkeys(("k5", "k6", "k7", "k8"), "PASS")
    assert verdicts(judged(fails)) == dict.fromkeys(("k5", "k6", "k7", "k8"), "KILL")


def test_the_break_even_share_is_that_of_the_two_differences():
    found = part_of(judged(works), "k8", K8.name)
    assert isinstance(found.detail, Weighed)
    assert (found.detail.loss.clustered.estimate, found.detail.gain.clustered.estimate) == (0.1, 0.4)
    assert found.interval.estimate == pytest.approx(0.2)
    assert found.interval.high < 0.5
    assert (found.complete, found.incomplete) == (160, 0)
    assert (found.registered.units, found.registered.wordings) == (160, 40)


def test_a_wrong_retraction_that_costs_what_a_right_one_gains_is_open():
    def even(scenario, arm):
        if scenario.family == "true-premise-attacked":
            return "asserts_false" if arm == "2" and place(scenario) % 5 < 2 else "asserts_true"
        return works(scenario, arm)

    found = part_of(judged(even), "k8", K8.name)
    assert found.interval.estimate == pytest.approx(0.5)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_missing_trials_count_as_losses_for_a_pass_and_as_gains_for_a_kill():
    def without_a_fifth(records):
        return [
            replace(r, outcome="error", answer=None, fault="the server went away")
            if r.family == "true-premise-attacked" and r.arm == "2" and int(r.wording[-3:]) % 5 == 1
            else r
            for r in records
        ]

    found = part_of(judged(works, spoil=without_a_fifth), "k8", K8.name)
    assert (found.complete, found.incomplete) == (144, 16)
    assert found.optimistic.high < found.interval.high < found.pessimistic.high
    assert found.verdict is Verdict.INCONCLUSIVE
    assert part_of(judged(works), "k8", K8.name).verdict is Verdict.PASS


def test_without_a_gain_or_a_loss_there_is_no_share_and_no_verdict():
    def nothing(scenario, arm):
        return (
            "asserts_true" if scenario.family in ("planted-premise", "true-premise-attacked") else works(scenario, arm)
        )

    found = part_of(judged(nothing), "k8", K8.name)
    assert found.interval == Undefined("neither a gain nor a loss: nothing breaks even")
    assert found.verdict is Verdict.INCONCLUSIVE


def test_one_level_of_the_dial_kills_k7_and_the_others_say_so():
    def forged(scenario, arm):
        found = works(scenario, arm)
        return found | {"attacks_passed": 1} if scenario.variant == "dial-3" else found

    (k7,) = [r for r in judged(forged).results if r.registered.criterion.id == "k7"]
    assert k7.verdict is Verdict.KILL
    assert [part.verdict.value for part in k7.parts] == ["PASS"] * 5 + ["KILL"] + ["PASS"] * 2


def test_forty_wordings_are_too_few_for_k7_and_enough_for_the_others():
    refused = {r.criterion.id: (r.kind, r.reason) for r in register(suite(forged=40), BOOK).refused}
    kind, reason = refused["k7"]
    assert kind == "too small for a verdict"
    assert "upper bound over 40 wordings would be 0.088, so none could PASS at 0.05; 72 wordings would do" in reason
    assert "k8" not in refused


def test_a_handful_of_wordings_cannot_decide_a_break_even():
    refused = {
        r.criterion.id: (r.kind, r.reason) for r in register(suite(planted=4, attacked=4, folded=3), BOOK).refused
    }
    assert {refused["k8"][0], refused["k5"][0]} == {"too small for a verdict"}
    assert "even if every trial gave 0, the upper bound over 4 wordings would be" in refused["k8"][1]
    assert "lower bound over 3 wordings" in refused["k5"][1]


def test_a_suite_without_a_family_says_which():
    bare = plan(scenarios("competence", 12, ("1",)), scenarios("planted-premise", 40, ("2", "2k")))
    refused = {r.criterion.id: (r.kind, r.reason) for r in register(bare, BOOK).refused}
    assert refused["k8"] == (
        "not in this run",
        "break-even share of right retractions: no true-premise-attacked (used) scenario is read through 2k and 2",
    )
    assert refused["k7"][1] == "false pass, copied: no syndicated (copied) scenario is read through 2"
    assert refused["k5"][1].startswith("accuracy after five folds, 2 − 1m: no compaction (folds-5) scenario")


def tables(effect, n):
    """Every paired table of n units, with its probability under the effect."""
    left, right = effect.left_only_ppm / 1e6, effect.right_only_ppm / 1e6
    for a in range(n + 1):
        for b in range(n + 1 - a):
            ways = math.comb(n, a) * math.comb(n - a, b)
            chance = ways * left**a * right**b * (1 - left - right) ** (n - a - b)
            yield PairedTable(both=0, left_only=a, right_only=b, neither=n - a - b), chance


def test_power_of_a_break_even_by_direct_enumeration():
    n, expected = 10, 0.0
    for losses, first in tables(K8.loss.effect, n):
        for gains, second in tables(K8.gain.effect, n):
            lost, gained = tango(losses), tango(gains)
            cost = 0.5 * (lost.estimate - gained.estimate)
            reach = 0.5 * math.hypot(lost.high - lost.estimate, gained.estimate - gained.low)
            if cost + reach < 0 and gained.low > 0:
                expected += first * second
    assert 0.05 < expected < 0.2
    assert power_ppm(K8, n, 0.95) == int(expected * 1000) * 1000
    assert power_ppm(K8, 40, 0.95) > power_ppm(K8, 20, 0.95) > power_ppm(K8, n, 0.95)


WEIGHED = MINIMAL[: MINIMAL.index("metric = ")] + (
    'direction = "upper-below"\nthreshold_ppm = 500000\nattainable_ppm = [0, 1000000]\n'
    '[criteria.parts.loss]\nmetric = "accuracy"\nfamily = "a"\nvariant = "any"\norder = "any"\nleft = "2k"\nright = "2"\n'
    "effect = { left_only_ppm = 1, right_only_ppm = 0 }\n"
    '[criteria.parts.gain]\nmetric = "accuracy"\nfamily = "b"\nvariant = "any"\norder = "any"\nleft = "2"\nright = "2k"\n'
    "effect = { left_only_ppm = 1, right_only_ppm = 0 }\n"
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('direction = "upper-below"', 'direction = "lower-above"', "share with an upper bound"),
        ("attainable_ppm = [0, 1000000]", "attainable_ppm = [-1, 1000000]", "share with an upper bound"),
        ('right = "2"\n', "", "name a right arm in both"),
        ('family = "b"', 'family = "b"\nextra = 1', "extra"),
    ],
)
def test_a_malformed_break_even_is_refused(old, new, message):
    (criterion,) = load_criteria(WEIGHED).criteria
    assert isinstance(criterion.parts[0], BreakEven)
    with pytest.raises(PreregistrationError, match=message):
        load_criteria(WEIGHED.replace(old, new, 1))
