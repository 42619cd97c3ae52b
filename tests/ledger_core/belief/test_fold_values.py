"""Right values by hand. Numbers: U = 10⁹, M = 10⁶, φ = 50 000 ppm, θ = U/2, bases 250/500/700/950 thousand, Beta(2, 2)."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, FoldOptions, Hyperedge, Retraction, fold
from ledger_core.kernel.errors import BeliefError, PolicyError
from tests.ledger_core.belief.book import OTHER_WEIGHTS, Book

U = 10**9


def planted_premise():
    """A sealed falsehood, a claim on it, a claim on that claim, and two corrections of other origins."""
    book = Book()
    premise = book.seal("false.example")
    first = book.claim(book.generation([premise]), [premise])
    second = book.claim(book.generation([premise, first]), [first])
    one, two = book.seal("one.example"), book.seal("two.example")
    return book, premise, first, second, one, two


def test_nothing_filed_leaves_every_entry_at_its_base():
    book, premise, first, second, one, _ = planted_premise()
    book.given()
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert [state.entries[key].belief for key in (premise, first, second, one)] == [
        7 * U // 10,
        U // 2,
        U // 2,
        7 * U // 10,
    ]
    assert {entry.attenuation for entry in state.entries.values()} == {U}
    assert state.retractions == {}
    assert state.reputation == {}
    given = next(entry for entry in state.entries.values() if entry.tier == "given")
    assert (given.belief, given.base) == (None, None)


@pytest.mark.invariant("§2.4", "§2.5", "§2.7")
def test_the_planted_premise_cascade():
    book, premise, first, second, one, two = planted_premise()
    book.contradict(premise, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    entries = state.entries
    assert state.retractions.keys() == {premise}
    assert set(state.retractions[premise].members) == {one, two}
    assert state.retractions[premise].largest_independent == 2
    # s, f: the premise's origin failed once, each correction's succeeded once.
    assert state.reputation == {
        ("false.example", "*"): (0, 1),
        ("one.example", "*"): (1, 0),
        ("two.example", "*"): (1, 0),
    }
    # 700000·2 / (700000·2 + 300000·3) = 14/23, then times 0.05.
    assert entries[premise].base == 14 * U // 23 == 608_695_652
    assert entries[premise].attenuation == 50_000_000
    assert entries[premise].belief == 30_434_782
    # What rests on it wholly keeps 0.05 as well, at every depth: min, not a product.
    assert [entries[key].attenuation for key in (first, second)] == [50_000_000, 50_000_000]
    assert [entries[key].belief for key in (first, second)] == [25_000_000, 25_000_000]
    assert all(entries[key].invalidated for key in (premise, first, second))
    assert [entries[key].retracted for key in (premise, first, second)] == [True, False, False]
    # 700000·3 / (700000·3 + 300000·2) = 7/9.
    assert entries[one].belief == entries[two].belief == 7 * U // 9 == 777_777_777
    assert entries[one].corroborated
    assert not entries[premise].corroborated


def test_the_path_leads_back_to_the_retracted_entry():
    book, premise, first, second, one, two = planted_premise()
    book.contradict(premise, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert [(step.entry, step.ppm) for step in state.path(second)] == [(first, 1_000_000), (premise, 1_000_000)]
    assert state.path(premise) == ()
    assert state.path(one) == ()
    with pytest.raises(BeliefError, match="no entry ff"):
        state.path("ff" * 32)


@pytest.mark.parametrize(
    ("ppm", "attenuation", "invalidated"),
    [
        (1_000_000, 50_000_000, True),
        (526_315, 500_000_750, False),
        (526_316, 499_999_800, True),
        (100_000, 905_000_000, False),
    ],
)
def test_a_declared_weight_attenuates_in_proportion(ppm, attenuation, invalidated):
    book = Book()
    premise, one, two = (book.seal(f"{name}.example") for name in ("p", "a", "b"))
    claim = book.claim(book.generation([premise]), {premise: ppm})
    book.contradict(premise, one, two)
    entry = fold(book.statements, SEED_V4_CLUSTERS).entries[claim]
    assert entry.attenuation == attenuation
    assert entry.invalidated is invalidated


def test_an_and_group_falls_only_with_all_its_members():
    book = Book()
    left, right, one, two = (book.seal(f"{name}.example") for name in ("l", "r", "a", "b"))
    generation = book.generation([left, right])
    claim = book.claim(generation)
    book.measure(claim, generation, {left: 10_000, right: 10_000}, cuts={(left, right): 900_000})
    book.contradict(left, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    # One source lost: only its singleton weight, 10000 ppm of a loss of 0.95, counts.
    assert state.entries[claim].attenuation == U - 9_500_000
    assert not state.entries[claim].invalidated
    book.contradict(right, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert state.entries[claim].attenuation == U - 855_000_000
    assert state.entries[claim].invalidated
    # The path goes through the member whose own loss bounds the group's (ties: the smaller id).
    assert state.path(claim)[0].entry == min(left, right)


def test_redundant_parents_keep_the_least_loss_of_a_group():
    book = Book()
    left, right, one, two = (book.seal(f"{name}.example") for name in ("l", "r", "a", "b"))
    middle = book.claim(book.generation([right]), {right: 400_000})
    generation = book.generation([left, middle])
    claim = book.claim(generation)
    book.measure(claim, generation, {left: 0, middle: 0}, cuts={(left, middle): 1_000_000})
    book.contradict(left, one, two)
    book.contradict(right, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert state.entries[middle].attenuation == U - 380_000_000
    assert state.entries[claim].attenuation == U - 380_000_000
    assert [step.entry for step in state.path(claim)] == [middle, right]


def test_a_retracted_claim_keeps_phi_of_what_its_parents_leave():
    book, premise, first, second, one, two = planted_premise()
    book.contradict(premise, one, two)
    book.contradict(first, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert state.entries[first].attenuation == 2_500_000
    assert state.entries[second].attenuation == 2_500_000
    assert state.path(first) == ()


def test_a_derived_target_moves_no_reputation():
    book, _, first, _, one, two = planted_premise()
    book.contradict(first, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert state.retractions.keys() == {first}
    assert state.reputation == {}
    assert state.entries[one].belief == 700_000_000
    assert state.entries[one].corroborated


@pytest.mark.invariant("§2.2")
def test_reputation_counts_targets_against_and_origins_for():
    book = Book()
    targets = [book.seal("bad.example", family="price") for _ in range(3)]
    other = book.seal("worse.example", family="price")
    one, two = book.seal("one.example", family="price"), book.seal("two.example", family="price")
    for target in (*targets, other):
        book.contradict(target, one, two)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    # Three failures of one origin credit a corrector once; the second origin credits it again.
    assert state.reputation == {
        ("bad.example", "price"): (0, 3),
        ("one.example", "price"): (2, 0),
        ("two.example", "price"): (2, 0),
        ("worse.example", "price"): (0, 1),
    }
    # 0.7·2/(0.7·2 + 0.3·5) = 14/29 and 0.7·4/(0.7·4 + 0.3·2) = 14/17, floored.
    assert state.entries[targets[0]].base == 482_758_620
    assert state.entries[one].base == 823_529_411


def test_reputation_is_kept_apart_by_predicate_family():
    book = Book()
    bad, good = book.seal("x.example", family="price"), book.seal("x.example", family="weather")
    book.contradict(bad, book.seal("one.example"), book.seal("two.example"))
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert state.entries[bad].base == 608_695_652
    assert state.entries[good].base == 700_000_000


@pytest.mark.invariant("§2.4")
def test_a_reversed_verdict_leaves_no_trace():
    book, premise, _, _, one, two = planted_premise()
    verdicts = book.contradict(premise, one, two)
    without = fold([s for s in book.statements if s.event_id != verdicts[1]], SEED_V4_CLUSTERS)
    book.reverse(verdicts[1])
    assert fold(book.statements, SEED_V4_CLUSTERS) == without
    assert without.entries[premise].belief == 700_000_000


def test_a_superseding_verdict_replaces_the_one_it_names_until_it_is_reversed():
    book, premise, _, _, one, two = planted_premise()
    _, second = book.contradict(premise, one, two)
    corrected = book.verdict(premise, two, "undecided", supersedes=second)
    assert fold(book.statements, SEED_V4_CLUSTERS).retractions == {}
    book.reverse(corrected)
    assert fold(book.statements, SEED_V4_CLUSTERS).retractions.keys() == {premise}


def test_a_hypothetical_retraction_asks_for_no_quorum_and_appends_nothing():
    book, premise, first, second, _, _ = planted_premise()
    plain = fold(book.statements, SEED_V4_CLUSTERS)
    state = fold(book.statements, SEED_V4_CLUSTERS, FoldOptions(hypothetical_retractions=frozenset({premise})))
    assert [state.entries[key].attenuation for key in (premise, first, second)] == [50_000_000] * 3
    assert state.retractions == {premise: Retraction(members=(), largest_independent=0, hypothetical=True)}
    assert state.reputation == {("false.example", "*"): (0, 1)}
    assert fold(book.statements, SEED_V4_CLUSTERS) == plain
    with pytest.raises(BeliefError, match="dd"):
        fold(book.statements, SEED_V4_CLUSTERS, FoldOptions(hypothetical_retractions=frozenset({"dd" * 32})))


def test_hypothetical_and_real_retractions_stand_side_by_side_in_order():
    book, premise, first, second, one, two = planted_premise()
    book.contradict(first, one, two)
    plain = fold(book.statements, SEED_V4_CLUSTERS)
    state = fold(
        book.statements,
        SEED_V4_CLUSTERS,
        FoldOptions(hypothetical_retractions=frozenset({premise, first, second})),
    )
    assert list(state.retractions) == sorted((premise, first, second))
    # What the ledger itself retracts is not an assumption.
    assert state.retractions[first] == plain.retractions[first]
    assert not state.retractions[first].hypothetical


def test_ignoring_verdicts_reads_the_ledger_as_if_none_had_been_filed():
    book, premise, _, _, one, two = planted_premise()
    before = fold(book.statements, SEED_V4_CLUSTERS)
    book.contradict(premise, one, two)
    assert fold(book.statements, SEED_V4_CLUSTERS, FoldOptions(ignore_verdicts=True)) == before


def test_a_reading_may_replace_the_dependences_of_chosen_claims():
    book, premise, first, second, one, two = planted_premise()
    book.contradict(premise, one, two)
    reading = FoldOptions(hyperedges={first: (), second: (Hyperedge((premise,), 200_000),)})
    state = fold(book.statements, SEED_V4_CLUSTERS, reading)
    assert state.entries[first].attenuation == U
    assert state.entries[second].attenuation == U - 190_000_000
    cycle = FoldOptions(hyperedges={first: (Hyperedge((second,), 1),)})
    with pytest.raises(
        BeliefError, match=f"dependences of entry {min(first, second)} lead back to it; remove the cycle"
    ):
        fold(book.statements, SEED_V4_CLUSTERS, cycle)


class TestTiers:
    @pytest.mark.invariant("§2.2")
    def test_without_a_boundary_generation_an_entry_is_a_conjecture_whatever_was_asked(self):
        book = Book()
        source = book.seal("a.example")
        bare = book.claim(None, [source])
        imported = book.claim(book.generation([source], attestation="imported", exact=False), [source])
        recorded = book.claim(book.generation([source]), [source])
        guessed = book.claim(book.generation([source]), [source], derived=False)
        entries = fold(book.statements, SEED_V4_CLUSTERS).entries
        assert [entries[key].tier for key in (bare, imported, recorded, guessed)] == [
            "conjecture",
            "conjecture",
            "derived",
            "conjecture",
        ]
        assert entries[bare].belief == 250_000_000

    def test_an_ungrounded_claim_is_a_conjecture_and_keeps_its_dependences(self):
        book = Book()
        source = book.seal("a.example")
        generation = book.generation([source])
        claim = book.claim(generation, [source])
        book.measure(claim, generation, {source: "undetermined"}, result="ungrounded")
        entry = fold(book.statements, SEED_V4_CLUSTERS).entries[claim]
        assert (entry.tier, entry.belief) == ("conjecture", 250_000_000)
        assert entry.hyperedges == (Hyperedge((source,), 1_000_000),)
        assert fold(book.statements, SEED_V4_CLUSTERS, FoldOptions(measured=False)).entries[claim].tier == "derived"

    def test_all_null_is_not_enough_to_be_ungrounded(self):
        book = Book()
        source = book.seal("a.example")
        generation = book.generation([source])
        claim = book.claim(generation, [source])
        book.measure(claim, generation, {source: "null"}, result="undetermined")
        assert fold(book.statements, SEED_V4_CLUSTERS).entries[claim].tier == "derived"

    def test_an_observation_without_its_seal_is_a_conjecture(self):
        book = Book()
        observed = book.seal("a.example")
        assert fold(book.statements[1:], SEED_V4_CLUSTERS).entries[observed].tier == "conjecture"


class TestUndeclaredContext:
    def build(self, policy):
        book = Book()
        system, cited, silent = book.given("system"), book.seal("c.example"), book.seal("s.example")
        earlier = book.claim(book.generation([silent]), [silent])
        generation = book.generation([system, cited, silent, earlier])
        claim = book.claim(generation, {cited: 300_000})
        book.contradict(silent, book.seal("a.example"), book.seal("b.example"))
        return book, (system, cited, silent, earlier, generation, claim), fold(book.statements, policy)

    def test_seed_v4_presumes_nothing(self):
        _, (_, cited, *_, claim), state = self.build(SEED_V4_CLUSTERS)
        assert state.entries[claim].hyperedges == (Hyperedge((cited,), 300_000),)
        assert state.entries[claim].attenuation == U

    def test_strict_presumes_the_whole_context_system_and_earlier_claims_included(self):
        _, (system, cited, silent, earlier, _, claim), state = self.build(STRICT_CLUSTERS)
        expected = {Hyperedge((entry,), 1_000_000) for entry in (system, cited, silent, earlier)}
        assert set(state.entries[claim].hyperedges) == expected
        assert state.entries[claim].attenuation == 50_000_000

    def test_a_measurement_replaces_the_presumption_entry_by_entry(self):
        book, (_, cited, silent, earlier, generation, claim), _ = self.build(STRICT_CLUSTERS)
        system = book.statements[0].event_id
        measured = {system: "null", cited: 800_000, silent: "null", earlier: "opposes"}
        book.measure(claim, generation, measured)
        state = fold(book.statements, STRICT_CLUSTERS)
        assert set(state.entries[claim].hyperedges) == {
            Hyperedge((cited,), 800_000),
            Hyperedge((earlier,), 1_000_000),
        }


def test_a_policy_without_a_prior_is_refused():
    with pytest.raises(PolicyError, match="prior_failures is 0"):
        fold([], SEED_V4_CLUSTERS.model_copy(update={"prior_failures": 0}))


class TestMeasurement:
    """When a measurement may lower a weight."""

    def build(self, *, attestation="boundary", exact=True, declared=None):
        book = Book()
        used, unused = book.seal("u.example"), book.seal("n.example")
        generation = book.generation([used, unused], attestation=attestation, exact=exact)
        claim = book.claim(generation, [used, unused] if declared is None else {used: declared, unused: declared})
        return book, used, unused, generation, claim

    def weights(self, book, claim):
        edges = fold(book.statements, SEED_V4_CLUSTERS).entries[claim].hyperedges
        return {edge.parents[0] if len(edge.parents) == 1 else edge.parents: edge.ppm for edge in edges}

    def test_an_over_declared_parent_measured_null_stops_propagating(self):
        book, used, unused, generation, claim = self.build()
        book.measure(claim, generation, {used: 900_000, unused: "null"})
        assert self.weights(book, claim) == {used: 900_000}
        book.contradict(unused, book.seal("a.example"), book.seal("b.example"))
        state = fold(book.statements, SEED_V4_CLUSTERS)
        assert state.entries[claim].attenuation == U
        declared = fold(book.statements, SEED_V4_CLUSTERS, FoldOptions(measured=False))
        assert declared.entries[claim].attenuation == 50_000_000

    @pytest.mark.parametrize("verdict", ["undetermined", "opposes"])
    def test_a_failure_to_reject_lowers_nothing(self, verdict):
        book, used, unused, generation, claim = self.build()
        book.measure(claim, generation, {used: 900_000, unused: verdict})
        assert self.weights(book, claim) == {used: 900_000, unused: 1_000_000}

    @pytest.mark.parametrize("null_high", [250_001, None])
    def test_a_null_wider_than_the_policys_threshold_lowers_nothing(self, null_high):
        book, used, unused, generation, claim = self.build()
        book.measure(claim, generation, {used: 900_000, unused: "null"}, null_high=null_high)
        assert self.weights(book, claim) == {used: 900_000, unused: 1_000_000}

    @pytest.mark.parametrize(
        ("setting", "scorer", "flags"),
        [
            ({"attestation": "imported", "exact": False}, OTHER_WEIGHTS, ("proxy-scored",)),
            ({"attestation": "imported"}, None, ()),
            ({}, OTHER_WEIGHTS, ()),
            ({}, None, ("proxy-scored",)),
            ({"exact": False}, None, ()),
        ],
    )
    def test_any_other_measurement_may_only_add_or_raise(self, setting, scorer, flags):
        book, used, unused, generation, claim = self.build(**setting, declared=400_000)
        fields = {} if scorer is None else {"scorer": scorer}
        book.measure(claim, generation, {used: 900_000, unused: "null"}, cuts={(used,): 950_000}, flags=flags, **fields)
        assert self.weights(book, claim) == {used: 950_000, unused: 400_000}

    def test_rivals_combine_by_the_larger_weight(self):
        book, used, unused, generation, claim = self.build()
        root = book.measure(claim, generation, {used: 100_000, unused: "null"})
        book.measure(claim, generation, {used: 300_000, unused: "null"}, predecessor=root)
        book.measure(claim, generation, {used: 200_000, unused: 50_000}, predecessor=root)
        assert self.weights(book, claim) == {used: 300_000, unused: 50_000}

    def test_a_successor_replaces_its_predecessor_up_or_down(self):
        book, used, unused, generation, claim = self.build()
        root = book.measure(claim, generation, {used: 900_000, unused: 900_000}, result="ungrounded")
        book.measure(claim, generation, {used: 100_000, unused: "null"}, predecessor=root)
        assert self.weights(book, claim) == {used: 100_000}
        assert fold(book.statements, SEED_V4_CLUSTERS).entries[claim].tier == "derived"

    def test_a_proxy_successor_cannot_withdraw_what_an_exact_one_raised(self):
        book, used, unused, generation, claim = self.build(declared=100_000)
        exact = book.measure(claim, generation, {used: 900_000, unused: "null"})
        proxy = book.measure(claim, generation, {used: 1, unused: 1}, scorer=OTHER_WEIGHTS, predecessor=exact)
        assert self.weights(book, claim) == {used: 900_000, unused: 100_000}
        # An exact successor of the proxy replaces both.
        book.measure(claim, generation, {used: 200_000, unused: "null"}, predecessor=proxy)
        assert self.weights(book, claim) == {used: 200_000}

    def test_a_measurement_outside_the_recorded_context_counts_for_nothing(self):
        book, used, unused, generation, claim = self.build()
        stranger = book.seal("x.example")
        book.measure(claim, generation, {used: "null", unused: "null", stranger: 1_000_000})
        assert self.weights(book, claim) == {used: 1_000_000, unused: 1_000_000}

    def test_a_measurement_of_another_generation_counts_for_nothing(self):
        book, used, unused, _, claim = self.build()
        book.measure(claim, book.generation([used, unused]), {used: "null", unused: "null"})
        assert self.weights(book, claim) == {used: 1_000_000, unused: 1_000_000}

    def test_a_parent_outside_the_context_keeps_its_declared_weight(self):
        book = Book()
        inside, outside = book.seal("i.example"), book.seal("o.example")
        generation = book.generation([inside])
        claim = book.claim(generation, {inside: 700_000, outside: 600_000})
        book.measure(claim, generation, {inside: "null"})
        assert self.weights(book, claim) == {outside: 600_000}

    def test_without_a_foil_a_measurement_claims_at_most_the_cap(self):
        book, used, unused, generation, claim = self.build(declared=600_000)
        cuts = {(used, unused): 1_000_000}
        book.measure(claim, generation, {used: 900_000, unused: 200_000}, cuts=cuts, flags=("uncontrasted",))
        # The cap bounds what it adds; a stated weight is lowered to what was measured, never to the cap.
        both = tuple(sorted((used, unused)))
        assert self.weights(book, claim) == {used: 600_000, unused: 200_000, both: 500_000}

    def test_an_uncontrasted_edge_alone_does_not_invalidate(self):
        book = Book()
        source = book.seal("s.example")
        generation = book.generation([source])
        claim = book.claim(generation)
        book.measure(claim, generation, {source: 1_000_000}, flags=("uncontrasted",))
        book.contradict(source, book.seal("a.example"), book.seal("b.example"))
        entry = fold(book.statements, SEED_V4_CLUSTERS).entries[claim]
        assert entry.attenuation == 525_000_000
        assert not entry.invalidated
