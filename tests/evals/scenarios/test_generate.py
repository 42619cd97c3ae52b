"""The generator: determinism, even spread, and what each family promises about its texts."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.errors import ScenarioError
from evals.matcher import match
from evals.mentions import fold
from evals.scenarios import FAMILIES, GENERATOR_VERSION, Scenario, decode_scenario, generate
from evals.scenarios.wordings import Topic, all_topics, topics
from evals.trials import Outcome

ALL = {family: generate(family, 80, 11) for family in FAMILIES}
EVERY = [scenario for scenarios in ALL.values() for scenario in scenarios]

EIGHTY = {"mixed-parents", "syndicated", "sybil"}
"""Families whose criteria need more than forty wordings."""

# A change of any wording, pool, order or draw changes these: give the generator another version, then new digests.
GOLDEN = {
    "planted-premise": "e1f9173c11df3cbe89350f606e59d137e71f92ec5ab4b6c8e95e63320926dbd3",
    "mixed-parents": "9abfb181ef2c7dcf97a5c9233d5738a6e65eba4b5e6ccd539254494de7ec5dd0",
    "null": "b900e5ccff4e057d239a9ccc254be86b30d2d692fe37104428e2450ac4f28d21",
    "competence": "741aff1cb8b7ea82933cc21300f6efe0474f71f87d99b993fbc890fbd058eb09",
    "redundant-support": "16e93b3d44ca5386e015f0f08b871ea9b66e033cf1326926d962cd473ef3812e",
    "conjunctive-causes": "21b6d1e7ee0a5c65de7ce1e2fd695101a248e5ea0c9c5ee11eb788612de9662c",
    "laundered-guess": "e1ebdf18fd46231ebe23e5effec1328aa6e88b71c3ca0f12125bb91bd67cf086",
    "syndicated": "8745850b6d5bf34769cd35d546b0384624a70b21b98e084965ef900b512c1040",
    "sybil": "35b923ec47d4236452859bd7deb5046968bd5f80ad61899867fd4d5f01793359",
    "true-premise-attacked": "7c1954a7e8f825ccc387f2111688e27fa1dc636089156bb305a31dea83586422",
    "poisoned-tool": "66e3478ae6be90ed6b92e992e9878b387a8c3a6d71d47eb726f2c01029b55a8a",
    "stale-source": "28cb2f8c13e4bb003cb5814d86c1501863f7519580df01462b30aaa20623cc0e",
    "compaction": "b29ad8f8d533f1c6cb7ab212b90c539e9d38f7b9fc9f3ef7cee38f6d2ed8442a",
    "reversal": "8238c024f7cf0c3ed0c304254c6e8892118c428acee371651847a4dc16947dd7",
}


def _says(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(value))}(?!\w)", fold(text)) is not None


def test_the_generator_version_fixes_every_byte() -> None:
    assert GENERATOR_VERSION == "g1"
    assert {family: scenarios[-1].digest for family, scenarios in ALL.items()} == GOLDEN


@given(st.sampled_from(sorted(FAMILIES)), st.integers(0, 30), st.integers(0, 2**40))
@settings(max_examples=25, deadline=None)
def test_equal_seeds_are_equal_and_a_larger_n_begins_the_same(family: str, n: int, seed: int) -> None:
    assert generate(family, n, seed) == generate(family, n + 3, seed)[:n]


def test_seeds_and_indices_give_other_scenarios() -> None:
    ids = [scenario.id for seed in range(3) for family in FAMILIES for scenario in generate(family, 45, seed)]
    assert len(set(ids)) == len(ids)


def test_ids_name_family_and_generator_version() -> None:
    scenario = ALL["null"][0]
    assert scenario.id == f"null.g1.{scenario.digest[:16]}"


@pytest.mark.parametrize(
    ("family", "cells"),
    [("planted-premise", 2), ("mixed-parents", 4), ("null", 4), ("poisoned-tool", 4), ("reversal", 2)],
)
def test_orders_and_variants_are_spread_evenly(family: str, cells: int) -> None:
    for n in (cells, 20, 24, 40, 80):
        counts = Counter((s.order, s.variant) for s in ALL[family][:n])
        assert len(counts) == cells
        assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_wordings_take_turns_and_meet_every_cell(family: str) -> None:
    made = FAMILIES[family]
    assert made.wordings == (80 if family in EIGHTY else 40)
    turns = len(made.orders) * len(made.variants)
    scenarios = generate(family, made.wordings * turns, 5)
    wordings = Counter(scenario.wording.split(".")[0] for scenario in scenarios[: made.wordings])
    assert set(wordings.values()) == {1}
    assert len(wordings) == made.wordings
    met = Counter((s.wording.split(".")[0], s.order, s.variant) for s in scenarios)
    assert set(met.values()) == {1}
    assert len(met) == made.wordings * turns


def test_scenarios_decode_from_their_bytes_and_from_nothing_else() -> None:
    for scenario in EVERY[::7]:
        assert decode_scenario(scenario.canonical_bytes()) == scenario
    with pytest.raises(ScenarioError, match="does not decode"):
        decode_scenario(ALL["null"][0].canonical_bytes() + b" ")


def test_a_trajectory_has_at_most_five_ablatable_entries() -> None:
    longest = {family: max(len(scenario.entries) for scenario in scenarios) for family, scenarios in ALL.items()}
    assert longest.pop("laundered-guess") == 13
    assert longest.pop("compaction") == 14
    assert max(longest.values()) == 5


def test_hosts_are_unique_within_and_across_scenarios() -> None:
    hosts = [entry.host for scenario in EVERY for entry in scenario.entries if entry.host is not None]
    assert len(set(hosts)) == len(hosts)
    assert all(re.fullmatch(r"[a-z0-9-]+\.example", host) for host in hosts)
    assert all((e.host is None) == (e.kind != "seal") == (e.tool is None) for s in EVERY for e in s.entries)


def _shingles(text: str) -> set[str]:
    return {text[i : i + 5] for i in range(len(text) - 4)}


def test_corrections_are_long_and_no_copies_of_one_another() -> None:
    for scenario in EVERY:
        texts = [scenario.entry(key).text for key in sorted(scenario.corrections)]
        assert all(len(text) >= 120 for text in texts)
        for left, right in combinations(map(_shingles, texts), 2):
            assert len(left & right) / len(left | right) < 0.5
            assert min(len(left), len(right)) >= 50


def test_swaps_keep_the_place_and_say_another_value() -> None:
    for scenario in EVERY:
        # entries about other places, as null scenarios have them, may agree by chance
        said = [] if scenario.family == "null" else [e.value for e in scenario.entries if e.value is not None]
        for entry in scenario.entries:
            assert entry.swap != entry.text
            assert abs(len(entry.swap) - len(entry.text)) <= 12
            if entry.value is not None:
                assert not _says(entry.value, entry.swap)
                assert entry.swap.startswith(entry.stem)
                siblings = [value for value in said if value not in entry.text]
                assert not any(_says(value, entry.swap[len(entry.stem) :].split(",")[0]) for value in siblings)


def test_foils_differ_from_the_claim_in_its_value_only() -> None:
    for scenario in EVERY:
        for claim in scenario.claims:
            assert claim.value is not None
            assert len(set(claim.foils)) == len(claim.foils) >= 3
            assert all(foil.startswith(claim.stem) and not _says(claim.value, foil) for foil in claim.foils)
            assert claim.swap not in claim.foils


@pytest.mark.parametrize("scenario", ALL["planted-premise"][:40], ids=lambda s: s.wording)
def test_planted_premise_says_the_false_value_where_planted_and_nowhere_else(scenario: Scenario) -> None:
    question = scenario.question
    assert question is not None
    assert question.false is not None
    for entry in scenario.entries:
        false = entry.role in {"premise", "dependent"}
        assert _says(question.false, entry.text) == false
        assert _says(question.true, entry.text) == (entry.role == "correction")
        assert not any(_says(third, entry.text) for third in question.third)
        outcome = {"premise": Outcome.ASSERTS_FALSE, "dependent": Outcome.ASSERTS_FALSE, "filler": Outcome.UNSCORED}
        if entry.role != "filler" or question.kind not in {"name", "place"}:
            assert match(question.expected, entry.text) is outcome.get(entry.role, Outcome.ASSERTS_TRUE)
    assert scenario.falsehoods == {entry.key for entry in scenario.entries if entry.role in {"premise", "dependent"}}
    assert scenario.true_claims == ()


def test_both_orders_hold_the_same_roles() -> None:
    for scenario in ALL["planted-premise"]:
        keys = [entry.key for entry in scenario.entries]
        first = scenario.order == "premise-first"
        assert (keys.index("premise") < keys.index("correction-a")) == first
        assert (keys.index("claim-1") < keys.index("correction-a")) == first


def test_one_and_two_claims_occur_in_both_orders() -> None:
    shapes = Counter(
        (s.order, len(s.claims), any(e.kind == "given" for e in s.entries)) for s in ALL["planted-premise"]
    )
    assert set(shapes) == {
        (order, *shape)
        for order in ("premise-first", "corrections-first")
        for shape in ((1, False), (1, True), (2, False))
    }


def test_corrections_leave_the_context_after_the_verdict_and_nothing_else_changes() -> None:
    base = ALL["planted-premise"]
    leave = generate("planted-premise", 80, 11, variant="corrections-leave")
    for stays, leaves in zip(base, leave, strict=True):
        assert leaves.entries == stays.entries
        assert leaves.question == stays.question
        assert set(stays.in_context) - set(leaves.in_context) == {"correction-a", "correction-b"}
        assert leaves.id != stays.id
        steps = [step.step for step in leaves.steps]
        assert steps[-3:] == ["judge", "compact", "ask"]


@pytest.mark.parametrize("scenario", ALL["mixed-parents"][:40], ids=lambda s: s.wording)
def test_mixed_parents_uses_half_of_what_it_declares(scenario: Scenario) -> None:
    claim = scenario.entry("claim-1")
    assert claim.value is not None
    assert [parent.key for parent in claim.declared] == ["used", "unused"]
    assert claim.used == ("used",)
    assert scenario.planted_edges == {("used", "claim-1")}
    assert _says(claim.value, scenario.entry("used").text)
    assert not any(_says(claim.value, entry.text) for entry in scenario.entries if entry.key not in {"used", "claim-1"})
    used_falls = scenario.variant == "used-retracted"
    assert scenario.retracted == {"used" if used_falls else "unused"}
    assert scenario.dependents == (("claim-1",) if used_falls else ())
    assert scenario.true_claims == (() if used_falls else ("claim-1",))
    retracted = scenario.entry("used" if used_falls else "unused")
    assert retracted.value is not None
    assert not any(_says(retracted.value, scenario.entry(key).text) for key in scenario.corrections)


@pytest.mark.parametrize("scenario", ALL["null"][:40], ids=lambda s: s.wording)
def test_null_claims_have_no_support(scenario: Scenario) -> None:
    (claim,) = scenario.claims
    place = next(word for word in claim.text.split() if any(word == w for w in claim.swap.split()) and _is_place(word))
    context = scenario.entries[:-1]
    values = [claim.text, *claim.foils]
    assert claim.value is not None
    for entry in context:
        assert not _says(claim.value, entry.text)
        assert all(not _says(foil[len(claim.stem) :].split()[0].strip(".,"), entry.text) for foil in values)
        assert (place in entry.text) == (entry.role == "distractor")
    assert any(entry.role == "distractor" for entry in context) == scenario.variant.endswith("distractor")
    tail = claim.text[len(claim.stem) + len(claim.value) :]
    assert (len(tail) > 40) == scenario.variant.startswith("long")
    assert scenario.question is None


def _is_place(word: str) -> bool:
    from evals.scenarios.pools import PLACES

    return word in PLACES


def test_competence_shows_the_true_value_only() -> None:
    for scenario in ALL["competence"]:
        assert scenario.question is not None
        assert scenario.question.false is None
        assert scenario.claims == ()
        said = {entry.value for entry in scenario.entries if entry.role == "correction"}
        assert said == {scenario.question.true}
        assert scenario.retracted == frozenset()


def test_siblings_take_values_of_another_pool() -> None:
    assert all(topic.pool != topic.sibling.pool and topic.group == topic.sibling.group for topic in all_topics())


def test_further_wordings_are_no_more_alike_than_the_first_forty() -> None:
    """Every sentence of a wording together, its place and value taken out: kinds of place do not share sentences."""

    def closest(some: tuple[Topic, ...]) -> float:
        said = [f"{t.premise} {t.correction_a} {t.correction_b} {t.claim} {t.dependent} {t.question}" for t in some]
        found = [_shingles(re.sub(r"{\w+}", "", text)) for text in said]
        return max(len(left & right) / len(left | right) for left, right in combinations(found, 2))

    assert all_topics()[:40] == topics()
    assert closest(all_topics()) <= closest(topics())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("nul", 1, 0), "no scenario family 'nul'"),
        (("null", -1, 0), "must not be negative"),
        (("null", 1, 0, "shorter"), "has no variant 'shorter'"),
    ],
)
def test_what_cannot_be_generated_is_refused_by_name(call: tuple, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        generate(*call)
