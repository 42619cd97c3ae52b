"""A run registers exactly what its n can decide, in bytes that equal plans share."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from evals.criteria import load_criteria
from evals.deciding import interval_of
from evals.errors import PreregistrationError
from evals.power import power_ppm
from evals.preregistration import PlannedScenario, register
from evals.statistics import PairedTable, clopper_pearson, tango
from ledger_core.kernel import canonical
from tests.evals.trial_builder import ARMS, BOTH_ORDERS, default_plan, plan, scenarios

BOOK = load_criteria()
PARTS = {(c.id, p.name): p for c in BOOK.criteria for p in c.parts}


def admitted(registration):
    return [entry.criterion.id for entry in registration.admitted]


def refused(registration):
    return {entry.criterion.id: (entry.kind, entry.reason) for entry in registration.refused}


def test_the_default_run_registers_k1_to_k3_and_names_the_rest():
    registration = register(default_plan(), BOOK)
    assert admitted(registration) == ["k1", "k2", "k3"]
    reasons = refused(registration)
    assert reasons["k4"][0] == "too small for a verdict"
    assert "upper bound over 12 wordings would be 0.242" in reasons["k4"][1]
    assert "73 wordings would do" in reasons["k4"][1]
    assert {k: reasons[k][0] for k in ("k5", "k6", "k7", "k8")} == dict.fromkeys(
        ("k5", "k6", "k7", "k8"), "not in this run"
    )
    assert "compaction (folds-5)" in reasons["k5"][1]


def test_enough_wordings_make_k4_decidable():
    registration = register(default_plan(mixed=146), BOOK)
    assert "k4" in admitted(registration)
    assert "k4" not in admitted(register(default_plan(mixed=144), BOOK))


def test_25_wordings_cannot_exclude_a_tenth_however_many_fillings():
    many = plan(
        scenarios("planted-premise", 25, ARMS, orders=BOTH_ORDERS, variants=("base", "corrections-leave"), fillings=4),
        scenarios("competence", 12, ("1",)),
    )
    reasons = refused(register(many, BOOK))
    assert reasons["k2"][1].endswith("none could PASS at 0.1; 36 wordings would do")


def test_quick_runs_register_nothing():
    registration = register(default_plan(planted=3, mixed=3, competence=3), BOOK)
    assert admitted(registration) == []
    assert {kind for kind, _ in refused(registration).values()} == {"too small for a verdict", "not in this run"}


def test_without_a_competence_check_nothing_is_registered():
    bare = plan(scenarios("planted-premise", 40, ARMS, orders=BOTH_ORDERS, variants=("base", "corrections-leave")))
    registration = register(bare, BOOK)
    assert admitted(registration) == []
    assert "incompetence" in refused(registration)["k1"][1]


def test_every_admitted_part_can_pass_and_be_killed():
    for entry in register(default_plan(mixed=146), BOOK).admitted:
        for registered in entry.parts:
            part, wordings = registered.part, registered.wordings
            intervals = []
            for share in range(wordings + 1):
                units = {}
                for k in range(wordings):
                    event = float(k < share)
                    low, _ = part.attainable_ppm
                    worst = (0.0, event) if low < 0 else (event, 0.0)
                    units[f"w{k}"] = [worst]
                intervals.append(interval_of(part, [units], entry.criterion.level))
            for share in range(wordings + 1):
                units = {f"w{k}": [(float(k < share), 0.0)] for k in range(wordings)}
                intervals.append(interval_of(part, [units], entry.criterion.level))
            assert any(part.clears(i) for i in intervals), part.name
            assert any(part.contradicts(i) for i in intervals), part.name


def test_registration_bytes_are_strict_canonical_and_depend_on_nothing_but_the_plan():
    first = register(default_plan(), BOOK)
    backwards = replace(default_plan(), scenarios=tuple(reversed(default_plan().scenarios)))
    assert first.canonical_bytes() == register(backwards, BOOK).canonical_bytes()
    assert canonical.encode(canonical.require(first.canonical_bytes())) == first.canonical_bytes()
    assert first.digest == register(backwards, BOOK).digest
    document = json.loads(first.canonical_bytes())
    assert [c["id"] for c in document["admitted"]] == ["k1", "k2", "k3"]
    assert document["admitted"][0]["parts"][0]["threshold_ppm"] == -100_000
    wordings = {(p["family"], p["variant"]): p["wordings"] for p in document["plan"]["populations"]}
    assert wordings["mixed-parents", "used-retracted"] == 12


@pytest.mark.parametrize(
    "change", [{"model_digest": "cd" * 32}, {"repeats": 2}, {"generator_version": "other"}, {"policy": "strict"}]
)
def test_another_run_has_another_digest(change):
    assert register(replace(default_plan(), **change), BOOK).digest != register(default_plan(), BOOK).digest


def test_one_scenario_fewer_changes_the_digest():
    shorter = replace(default_plan(), scenarios=default_plan().scenarios[:-1])
    assert register(shorter, BOOK).digest != register(default_plan(), BOOK).digest


@pytest.mark.parametrize("repeats", [0, -1])
def test_no_repeat_is_no_plan(repeats):
    with pytest.raises(PreregistrationError, match=str(repeats)):
        replace(default_plan(), repeats=repeats)


def test_a_scenario_is_planned_once_and_read_by_someone():
    one = PlannedScenario(
        family="null", variant="base", premise_order="none", wording="w", scenario_id="s", arms=("1",)
    )
    with pytest.raises(PreregistrationError, match="2 times"):
        plan([one, replace(one, wording="v")])
    with pytest.raises(PreregistrationError, match="no arm"):
        plan([replace(one, arms=())])


def test_power_of_a_proportion_by_direct_enumeration():
    part = PARTS["k2", "persistence, 2"]
    p = part.effect.left_only_ppm / 1e6
    expected = sum(
        math.comb(40, k) * p**k * (1 - p) ** (40 - k) for k in range(41) if clopper_pearson(k, 40).high < part.threshold
    )
    assert power_ppm(part, 40, 0.95) == int(expected * 1000) * 1000


def test_power_of_a_difference_by_direct_enumeration():
    part = PARTS["k3", "persistence, 2m − 2, premise first"]
    left, right = part.effect.left_only_ppm / 1e6, part.effect.right_only_ppm / 1e6
    expected = 0.0
    for a in range(13):
        for b in range(13 - a):
            table = PairedTable(both=0, left_only=a, right_only=b, neither=12 - a - b)
            if tango(table).low > 0:
                ways = math.comb(12, a) * math.comb(12 - a, b)
                expected += ways * left**a * right**b * (1 - left - right) ** (12 - a - b)
    assert power_ppm(part, 12, 0.95) == int(expected * 1000) * 1000


def test_power_grows_with_wordings():
    part = PARTS["k1", "persistence, 2 − 2k"]
    powers = [power_ppm(part, n, 0.95) for n in (10, 20, 40, 80)]
    assert powers == sorted(powers)
    assert powers[-1] > 990_000


MINIMAL = """
schema = "veritas-preregistration-v1"
max_unscored_ppm = 0
[competence]
family = "competence"
arm = "1"
threshold_ppm = 800000
[[criteria]]
id = "k9"
title = "t"
hypothesis = "h"
estimand = "e"
population = "p"
errors = "e"
alpha_ppm = 25000
design_n = 1
[[criteria.parts]]
name = "n"
metric = "accuracy"
family = "f"
variant = "any"
order = "any"
left = "2"
direction = "lower-above"
threshold_ppm = 0
attainable_ppm = [0, 1000000]
effect = { left_only_ppm = 1, right_only_ppm = 0 }
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("threshold_ppm = 0\n", "threshold_ppm = 0.5\n", "threshold_ppm"),
        ("threshold_ppm = 0\n", "threshold_ppm = 2000000\n", "threshold_ppm"),
        ("threshold_ppm = 0\n", "threshold_ppm = nan\n", "threshold_ppm"),
        ('metric = "accuracy"', 'metric = "vibes"', "metric"),
        ('title = "t"', 'title = "t"\nextra = 1', "extra"),
        ('title = "t"\n', "", "title"),
        ("attainable_ppm = [0, 1000000]", "attainable_ppm = [-1, 1000000]", "no range"),
        ("right_only_ppm = 0", "right_only_ppm = 5", "no right side"),
        ('id = "k9"', 'id = "K9"', "id"),
        ('schema = "', 'schema = "x', "schema"),
        ("[competence]", "[competence", "cannot be read"),
    ],
)
def test_a_malformed_book_is_refused_with_the_field(old, new, message):
    assert load_criteria(MINIMAL).criteria[0].id == "k9"
    with pytest.raises(PreregistrationError, match=message):
        load_criteria(MINIMAL.replace(old, new, 1))


def test_ids_do_not_repeat():
    with pytest.raises(PreregistrationError, match="ids repeat"):
        load_criteria(MINIMAL + MINIMAL[MINIMAL.index("[[criteria]]") :])


def test_the_book_holds_the_thresholds_of_the_design():
    found = {
        (c.id, p.metric.value, p.left, p.right): (p.direction, p.threshold_ppm) for c in BOOK.criteria for p in c.parts
    }
    assert found["k1", "persistence", "2", "2k"] == ("upper-below", -100_000)
    assert found["k1", "accuracy", "2", "1o"] == ("lower-above", -50_000)
    assert found["k2", "persistence", "2", None] == ("upper-below", 100_000)
    assert found["k2", "accuracy", "2", None] == ("lower-above", 800_000)
    assert found["k2", "third-value", "2", "1"] == ("upper-below", 100_000)
    assert found["k3", "persistence", "2m", "2"] == ("lower-above", 0)
    assert found["k4", "collateral", "3", "2"] == ("upper-below", -300_000)
    assert found["k4", "missed-propagation", "3", "2"] == ("upper-below", 50_000)
    assert found["k4", "balanced-accuracy", "3", "2x"] == ("lower-above", 0)
    assert found["k5", "accuracy", "2", "1m"] == ("lower-above", 0)
    assert [c.id for c in BOOK.criteria] == [f"k{k}" for k in range(1, 9)]
    assert {c.level for c in BOOK.criteria} == {0.95}
