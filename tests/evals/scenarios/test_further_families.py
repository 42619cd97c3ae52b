"""The families beside the first four: what each plants, in both orders, and what ought to become of it."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest

from evals.errors import ScenarioError
from evals.mentions import fold
from evals.scenarios import FAMILIES, Scenario, decode_scenario, generate
from evals.scenarios.attacks import ATTACKS, FORGERIES, HONEST
from evals.scenarios.long import FOLDS, STEPS_BETWEEN
from evals.scenarios.sentences import sentences
from evals.scenarios.wordings import all_topics
from ledger_core.kernel.canonical import encode, parse

FIRST = {"planted-premise", "mixed-parents", "null", "competence"}
FURTHER = sorted(FAMILIES.keys() - FIRST)
SHINGLE = 5


def _says(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(value))}(?!\w)", fold(text)) is not None


def _shingles(text: str) -> set[str]:
    return {text[i : i + SHINGLE] for i in range(len(text) - SHINGLE + 1)}


def _alike(left: str, right: str) -> float:
    one, two = _shingles(left), _shingles(right)
    return len(one & two) / len(one | two)


def _bare(scenario: Scenario) -> str:
    """What a scenario says without its place and its values."""
    assert scenario.question is not None
    apart = {"filler", "correction"} if scenario.variant == "one-retracted" else {"filler"}  # withdrawals: ten kinds
    text = " ".join(entry.text for entry in scenario.entries if entry.role not in apart)
    for value in (scenario.question.true, scenario.question.false, *scenario.question.ignored):
        if value:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "", text)
    return text


def test_the_families_are_those_of_the_design():
    assert {
        "redundant-support", "conjunctive-causes", "laundered-guess", "syndicated", "sybil", "true-premise-attacked",
        "poisoned-tool", "stale-source", "compaction", "reversal",
    } == set(FURTHER)  # fmt: skip


@pytest.mark.parametrize("family", FURTHER)
def test_no_two_wordings_of_a_family_say_the_same(family):
    variant = FAMILIES[family].variants[0]
    wordings = FAMILIES[family].wordings
    texts = {s.wording: _bare(s) for s in generate(family, wordings, 11, variant)}
    assert len(texts) == wordings
    assert max(_alike(left, right) for left, right in combinations(texts.values(), 2)) < 0.6


@pytest.mark.parametrize("family", FURTHER)
def test_every_variant_has_both_orders_and_reads_back_from_its_bytes(family):
    for variant in FAMILIES[family].variants:
        scenarios = generate(family, 4, 3, variant)
        assert {scenario.order for scenario in scenarios} == {"premise-first", "corrections-first"}
        for scenario in scenarios:
            assert decode_scenario(scenario.canonical_bytes()) == scenario
            assert scenario.id.startswith(f"{family}.g1.")


@pytest.mark.parametrize("family", FURTHER)
def test_no_host_is_shared_by_two_variants_of_one_scenario(family):
    hosts = [
        entry.host
        for variant in FAMILIES[family].variants
        for scenario in generate(family, 6, 3, variant)
        for entry in scenario.entries
        if entry.host is not None
    ]
    assert len(set(hosts)) == len(hosts)
    assert all(host.endswith(".example") for host in hosts)


@pytest.mark.parametrize("family", FURTHER)
def test_what_speaks_against_an_entry_has_120_characters(family):
    for variant in FAMILIES[family].variants:
        for scenario in generate(family, 40, 11, variant):
            texts = [entry.text for entry in scenario.entries if entry.role in {"correction", "attack"}]
            assert min(map(len, texts)) >= 120


def test_each_further_sentence_has_its_slots_once():
    for topic in all_topics():
        found = sentences(topic)
        for text in (found.second, found.guess, found.paraphrase_a, found.paraphrase_b):
            assert (text.count("{entity}"), text.count("{value}")) == (1, 1)
        for text in (found.withdrawal_a, found.withdrawal_b, found.aside):
            assert (text.count("{entity}"), text.count("{value}")) == (1, 0)


@pytest.mark.parametrize("scenario", generate("redundant-support", 8, 11), ids=lambda s: f"{s.variant} {s.order}")
def test_redundant_support_survives_one_retraction_and_falls_with_the_second(scenario):
    one = scenario.variant == "one-retracted"
    claim = scenario.entry("claim-1")
    assert claim.used == ("source-a", "source-b")
    assert all(_says(claim.value, scenario.entry(key).text) for key in claim.used)
    assert scenario.retracted == ({"source-a"} if one else {"source-a", "source-b"})
    assert (scenario.true_claims, scenario.dependents) == ((("claim-1",), ()) if one else ((), ("claim-1",)))
    stated = {entry.value for entry in scenario.entries if entry.role == "correction"}
    assert stated == ({None} if one else {scenario.question.true})


@pytest.mark.parametrize("scenario", generate("conjunctive-causes", 8, 11), ids=lambda s: f"{s.variant} {s.order}")
def test_a_conjunctive_claim_states_what_neither_source_says_alone_and_falls_with_either(scenario):
    first, second, claim = (scenario.entry(key) for key in ("first", "second", "claim-1"))
    assert claim.used == ("first", "second")
    assert claim.cuts == {frozenset({"first"}), frozenset({"second"})}
    assert [_says(first.value, text) for text in (claim.text, first.text, second.text)] == [True, True, False]
    assert [_says(second.value, text) for text in (claim.text, first.text, second.text)] == [True, False, True]
    assert not any(_says(entry.value, foil) for foil in (*claim.foils, claim.swap) for entry in (first, second))
    target, other = (first, second) if scenario.variant == "first-retracted" else (second, first)
    assert scenario.retracted == {target.key}
    assert (target.role, other.role, target.value) == ("premise", "support", scenario.question.false)
    assert scenario.dependents == ("claim-1",)
    assert scenario.falsehoods == {target.key, "claim-1"}
    assert {scenario.entry(key).value for key in scenario.corrections} == {scenario.question.true}


def test_either_of_two_sources_or_only_both_carry_a_claim():
    claim = generate("redundant-support", 1, 11)[0].entry("claim-1")
    assert claim.cuts == {frozenset({"source-a", "source-b"})}
    assert generate("null", 1, 11)[0].claims[0].cuts == frozenset()


@pytest.mark.parametrize("scenario", generate("laundered-guess", 4, 11), ids=lambda s: s.order)
def test_a_guess_is_cited_ten_entries_later_and_one_observation_says_otherwise(scenario):
    keys = [entry.key for entry in scenario.entries]
    assert keys.index("claim-1") - keys.index("guess") == STEPS_BETWEEN + 1
    assert (keys.index("correction-a") < keys.index("guess")) == (scenario.order == "corrections-first")
    assert scenario.entry("guess").declared == scenario.entry("guess").used == ()
    assert scenario.entry("claim-1").used == ("guess",)
    assert not scenario.is_judged
    assert scenario.falsehoods == {"guess", "claim-1"}
    assert scenario.true_claims == ()


@pytest.mark.parametrize("variant", [*FORGERIES])
def test_an_attack_puts_one_falsehood_under_two_domains_against_a_true_premise(variant):
    family = "sybil" if variant.startswith("dial") else "syndicated"
    for scenario in generate(family, 4, 11, variant):
        assert scenario.is_attack
        assert scenario.entry("premise").value == scenario.question.true
        assert {scenario.entry(key).value for key in ATTACKS} == {scenario.question.false}
        assert scenario.retracted == {"premise"}
        assert scenario.dependents == ()
        assert scenario.true_claims == ("claim-1",)
        assert scenario.falsehoods == set(ATTACKS)


def test_the_dial_goes_from_copies_to_texts_of_their_own():
    means = []
    for dial in range(4):
        scenarios = generate("sybil", 80, 11, f"dial-{dial}")
        shares = [_alike(*(scenario.entry(key).text for key in ATTACKS)) for scenario in scenarios]
        means.append(sum(shares) / len(shares))
    assert means[0] == 1.0
    assert means[0] > means[1] > means[2] > means[3]
    assert (means[1] > 0.5, means[2] < 0.5, means[3] < 0.2) == (True, True, True)


@pytest.mark.parametrize("family", ["syndicated", "sybil"])
def test_the_honest_variant_is_a_false_premise_with_two_witnesses(family):
    for scenario in generate(family, 4, 11, HONEST):
        assert not scenario.is_attack
        assert scenario.dependents == ("claim-1",)
        assert {scenario.entry(key).value for key in scenario.corrections} == {scenario.question.true}


@pytest.mark.parametrize("scenario", generate("true-premise-attacked", 8, 11), ids=lambda s: f"{s.variant} {s.order}")
def test_what_is_attacked_is_true_and_nothing_ought_to_fall(scenario):
    (target,) = scenario.retracted
    claim = scenario.entry("claim-1")
    assert scenario.is_attack
    assert (target in claim.used) == (scenario.variant == "used")
    assert target in {parent.key for parent in claim.declared}
    assert claim.value == scenario.question.true
    assert scenario.true_claims == ("claim-1",)
    assert scenario.falsehoods == set(ATTACKS)
    assert not any(_says(scenario.entry(target).value, scenario.entry(key).text) for key in ATTACKS)


@pytest.mark.parametrize(
    ("family", "outcomes"), [("poisoned-tool", {"mismatch", "tampered"}), ("stale-source", {"stale"})]
)
def test_an_audit_strikes_the_source_and_what_rests_on_it(family, outcomes):
    scenarios = generate(family, 8, 11)
    seen = {step.outcome for scenario in scenarios for step in scenario.steps if step.step == "audit"}
    assert seen == outcomes
    for scenario in scenarios:
        assert scenario.retracted == frozenset()
        assert scenario.struck == {"source"}
        assert scenario.falsehoods == {"source", "claim-1"}
        assert scenario.entry("source").value == scenario.question.false


def test_each_fold_of_one_scenario_begins_with_the_entries_of_the_one_before():
    made = {variant: generate("compaction", 3, 11, variant) for variant in FOLDS}
    for fewer, more in pairwise(FOLDS):
        for before, after in zip(made[fewer], made[more], strict=True):
            assert [e.text for e in after.entries[: len(before.entries)]] == [e.text for e in before.entries]
            assert len(after.entries) - len(before.entries) == 2
            assert after.folds - before.folds == 1
            assert after.question == before.question
    assert [scenarios[0].folds for scenarios in made.values()] == [1, 2, 3, 4, 5]


def test_a_reversal_leaves_nothing_retracted():
    for scenario in generate("reversal", 4, 11):
        assert scenario.is_judged
        assert scenario.struck == frozenset()
        assert scenario.true_claims == ("claim-1",)


@pytest.mark.parametrize(
    "step", [{"step": "reverse", "target": "nobody"}, {"step": "audit", "target": "nobody", "outcome": "stale"}]
)
def test_a_step_about_an_entry_that_is_not_there_is_refused(step):
    scenario = generate("reversal", 1, 0)[0]
    data = parse(scenario.canonical_bytes())
    with pytest.raises(ScenarioError, match="nobody before it is there"):
        decode_scenario(encode({**data, "steps": [step, *data["steps"]]}))


def test_null_claims_that_are_asked_about_take_the_four_shapes_in_turn():
    asked = generate("null", 84, 7, variant="asked")
    spread = generate("null", 84, 7)
    assert all(scenario.question is not None for scenario in asked)
    assert all(scenario.question is None for scenario in spread)
    assert [[e.text for e in s.entries] for s in asked] == [[e.text for e in s.entries] for s in spread]
    assert {s.question.false for s in asked} == {
        s.question.false for s in asked if s.question.false in s.entries[-1].text
    }
    assert {claim.used for s in asked for claim in s.claims} == {()}
