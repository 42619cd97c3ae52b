"""When a cascade may fire: K = 2 pairwise independent, boundary-sealed, external origins, none of them the target's."""

from __future__ import annotations

import functools
import itertools
import random

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.belief.independent_sets import adjacency, in_clique_of, largest
from tests.ledger_core.belief.book import Book
from tests.properties.oracle import believe

pytestmark = pytest.mark.invariant("§2.5")


def state(book, **policy):
    return fold(book.statements, SEED_V4_CLUSTERS.model_copy(update=policy))


def retracts(book, target, **policy):
    return target in state(book, **policy).retractions


@pytest.fixture
def book():
    return Book()


@pytest.fixture
def target(book):
    return book.seal("target.example")


def test_two_independent_origins_retract(book, target):
    book.contradict(target, book.seal("a.example"), book.seal("b.example"))
    assert retracts(book, target)


def test_one_origin_does_not(book, target):
    book.contradict(target, book.seal("a.example"))
    assert not retracts(book, target)


def test_one_origin_filed_twice_does_not(book, target):
    member = book.seal("a.example")
    book.verdict(target, member)
    book.verdict(target, member, recipe="again")
    assert not retracts(book, target)


def test_a_pair_without_an_assessment_is_not_independent(book, target):
    book.verdict(target, book.seal("a.example"))
    book.verdict(target, book.seal("b.example"))
    assert not retracts(book, target)


@pytest.mark.parametrize("result", ["dependent", "structured", "unknown"])
def test_only_an_independent_pair_counts(book, target, result):
    one, two = book.seal("a.example"), book.seal("b.example")
    book.verdict(target, one)
    book.verdict(target, two)
    book.assess(one, two, result)
    assert not retracts(book, target)


def test_an_assessment_is_never_re_judged(book, target):
    one, two = book.seal("a.example"), book.seal("b.example")
    book.contradict(target, one, two)
    book.assess(one, two, "dependent")
    assert not retracts(book, target)


def test_an_echo_never_counts_wherever_it_was_found(book, target):
    one, two, three = (book.seal(f"{name}.example") for name in "abc")
    book.contradict(target, one, two)
    book.assess(two, three, "echo", echoes=(two,))
    assert not retracts(book, target)


@pytest.mark.parametrize("verdict", ["support", "undecided"])
def test_only_contradiction_counts_against(book, target, verdict):
    one, two = book.seal("a.example"), book.seal("b.example")
    book.verdict(target, one)
    book.verdict(target, two, verdict)
    book.assess(one, two)
    assert not retracts(book, target)


@pytest.mark.invariant("§2.1", "§2.2")
@pytest.mark.parametrize(
    "fields",
    [{"attestation": "imported"}, {"reach": "local"}, {"reach": "local", "attestation": "imported"}],
)
def test_only_boundary_sealed_external_observations_count(book, target, fields):
    book.contradict(target, book.seal("a.example"), book.seal("b.example", **fields))
    assert not retracts(book, target)


@pytest.mark.invariant("§2.2", "EVID-06")
def test_what_a_model_or_a_person_said_never_counts(book, target):
    observed = book.seal("a.example")
    claim = book.claim(book.generation([observed]), [observed])
    guess = book.claim(None)
    book.contradict(target, claim, guess, book.given("system"), book.given("user"), observed)
    assert not retracts(book, target)
    assert state(book).entries[claim].corroborated is False


@pytest.mark.parametrize("host", ["target.example", "mirror.target.example", "TARGET.example."])
def test_the_targets_own_origin_does_not_count(book, target, host):
    book.contradict(target, book.seal("a.example"), book.seal(host))
    assert not retracts(book, target)


def test_an_origin_may_not_contradict_its_own_address_cluster(book):
    target = book.seal("127.0.0.1")
    book.contradict(target, book.seal("a.example"), book.seal("10.0.0.1"))
    assert not retracts(book, target)


def test_a_suspended_member_does_not_count(book, target):
    one, two = book.seal("a.example"), book.seal("b.example")
    book.contradict(target, one, two)
    book.audit(two, "tampered")
    assert not retracts(book, target)


def test_members_may_be_retracted_or_disbelieved_themselves(book, target):
    """Eligibility never looks at belief, reputation or retraction: no order of events can matter."""
    one, two, three, four = (book.seal(f"{name}.example") for name in "abcd")
    book.contradict(target, one, two)
    book.contradict(one, three, four)
    found = state(book)
    assert found.retractions.keys() == {target, one}
    assert found.entries[one].retracted


def test_two_entries_may_retract_each_other(book):
    left, right, third = (book.seal(f"{name}.example") for name in "abc")
    book.contradict(left, right, third)
    book.contradict(right, left, third)
    assert state(book).retractions.keys() == {left, right}


def test_a_claim_and_a_gift_may_be_targets(book):
    claim, given = book.claim(book.generation()), book.given("user")
    one, two = book.seal("a.example"), book.seal("b.example")
    book.contradict(claim, one, two)
    book.contradict(given, one, two)
    found = state(book)
    assert found.retractions.keys() == {claim, given}
    assert (found.entries[given].belief, found.entries[given].invalidated) == (None, True)


def test_another_filing_of_the_same_pair_changes_nothing(book, target):
    one, two = book.seal("a.example"), book.seal("b.example")
    book.contradict(target, one, two)
    before = state(book)
    book.verdict(target, two, recipe="another")
    assert state(book) == before


def test_every_member_of_some_passing_set_is_counted_and_no_other(book, target):
    one, two, three, lone = (book.seal(f"{name}.example") for name in "abcd")
    for member in (one, two, three, lone):
        book.verdict(target, member)
    book.assess(one, two)
    book.assess(two, three)
    book.assess(one, three, "dependent")
    book.assess(one, lone, "unknown")
    found = state(book)
    assert set(found.retractions[target].members) == {one, two, three}
    assert found.retractions[target].largest_independent == 2
    assert [found.entries[key].corroborated for key in (one, two, three, lone)] == [True, True, True, False]


def test_k_is_the_policys(book, target):
    members = [book.seal(f"{name}.example") for name in "abc"]
    book.contradict(target, *members)
    assert retracts(book, target, quorum=3)
    assert not retracts(book, target, quorum=4)
    assert state(book, quorum=3).retractions[target].largest_independent == 3


def test_k_asks_for_all_pairs_and_not_for_a_chain(book, target):
    members = [book.seal(f"{name}.example") for name in "abcd"]
    for member in members:
        book.verdict(target, member)
    for one, other in itertools.pairwise([*members, members[0]]):
        book.assess(one, other)
    assert retracts(book, target)
    assert not retracts(book, target, quorum=3)


class TestMajority:
    def test_the_targets_origin_counts_as_one_supporter(self, book, target):
        book.contradict(target, *(book.seal(f"{name}.example") for name in "ab"))
        assert retracts(book, target, require_majority=True)
        supporter = book.seal("s.example")
        book.verdict(target, supporter, "support")
        assert not retracts(book, target, require_majority=True)
        assert retracts(book, target)

    def test_copies_of_one_supporter_count_once(self, book, target):
        book.contradict(target, *(book.seal(f"{name}.example") for name in "abc"))
        copies = [book.seal("s.example"), book.seal("www.s.example")]
        for copy in copies:
            book.verdict(target, copy, "support")
        book.assess(*copies, "dependent")
        assert retracts(book, target, require_majority=True)
        book.verdict(target, other := book.seal("t.example"), "support")
        book.assess(other, copies[0])
        assert not retracts(book, target, require_majority=True)

    @pytest.mark.parametrize("kind", ["claim", "given"])
    def test_what_a_model_or_a_person_said_adds_no_supporter_for_itself(self, book, kind):
        said = book.claim(book.generation()) if kind == "claim" else book.given("user")
        book.contradict(said, *(book.seal(f"{name}.example") for name in "ab"))
        supporter = book.seal("s.example")
        book.verdict(said, supporter, "support")
        assert retracts(book, said, require_majority=True)
        book.verdict(said, other := book.seal("t.example"), "support")
        assert retracts(book, said, require_majority=True)
        book.assess(supporter, other)
        assert not retracts(book, said, require_majority=True)

    @pytest.mark.parametrize(
        "fields",
        [
            {"host": "s.example", "attestation": "imported"},
            {"host": "s.example", "reach": "local"},
            {"host": "www.target.example"},
        ],
    )
    def test_a_supporter_passes_the_same_door_as_a_contradictor(self, book, target, fields):
        book.contradict(target, *(book.seal(f"{name}.example") for name in "ab"))
        book.verdict(target, book.seal(**fields), "support")
        assert retracts(book, target, require_majority=True)

    def test_a_suspended_supporter_and_an_echo_do_not_count(self, book, target):
        book.contradict(target, *(book.seal(f"{name}.example") for name in "ab"))
        suspended, echo = book.seal("s.example"), book.seal("e.example")
        for supporter in (suspended, echo):
            book.verdict(target, supporter, "support")
        assert not retracts(book, target, require_majority=True)
        book.audit(suspended, "tampered")
        assert not retracts(book, target, require_majority=True)
        book.assess(suspended, echo, "echo", echoes=(echo,))
        assert retracts(book, target, require_majority=True)

    def test_one_observation_may_speak_on_both_sides_and_counts_on_both(self, book, target):
        """Two verifiers read one page in two ways: neither reading is preferred."""
        one, two = (book.seal(f"{name}.example") for name in "ab")
        book.contradict(target, one, two)
        book.verdict(target, one, "support")
        assert not retracts(book, target, require_majority=True)


class TestIndependentSets:
    def brute(self, members, pairs):
        ordered = {tuple(sorted(pair)) for pair in pairs}
        cliques = [
            group
            for size in range(len(members) + 1)
            for group in itertools.combinations(members, size)
            if all(tuple(sorted(pair)) in ordered for pair in itertools.combinations(group, 2))
        ]
        return max(map(len, cliques)), cliques

    @pytest.mark.parametrize("seed", range(60))
    def test_against_all_subsets(self, seed):
        draw = random.Random(seed)
        members = [f"m{number}" for number in range(draw.randint(0, 9))]
        pairs = [pair for pair in itertools.combinations(members, 2) if draw.random() < draw.choice([0.3, 0.6, 0.9])]
        graph = adjacency(members, pairs)
        expected, cliques = self.brute(members, pairs)
        assert largest(graph) == expected
        for size in (1, 2, 3, 4):
            inside = {member for group in cliques if len(group) == size for member in group}
            assert {members[number] for number in in_clique_of(graph, size)} == inside

    def test_against_the_plain_recursion_on_larger_graphs(self):
        """Wrong pruning shows only on graphs that are large enough to prune."""
        draw = random.Random(7)
        for _ in range(600):
            size, density = draw.randint(14, 24), draw.choice([0.5, 0.7, 0.9])
            members = [f"m{number:02}" for number in range(size)]
            graph = adjacency(members, [p for p in itertools.combinations(members, 2) if draw.random() < density])
            assert largest(graph) == self.plain(graph)

    def plain(self, graph):
        @functools.cache
        def best(candidates):
            if not candidates:
                return 0
            vertex = candidates.bit_length() - 1
            return max(best(candidates & ~(1 << vertex)), 1 + best(candidates & graph[vertex]))

        return best((1 << len(graph)) - 1)

    def test_thousands_of_members_of_many_origins(self):
        """An attacker chooses how many members there are: no recursion, no explosion."""
        members = [f"m{number}" for number in range(1200)]
        pairs = [(members[a], members[b]) for a in range(1200) for b in range(a) if a % 400 != b % 400]
        assert largest(adjacency(members, pairs)) == 400

    def test_the_search_stays_small_where_colours_promise_too_much(self):
        """Rings of five, each joined to all of the others: two of a ring know each other, and a ring takes three colours."""
        members = [(ring, place) for ring in range(5) for place in range(5)]
        known = [(a, b) for a in members for b in members if a < b and (a[0] != b[0] or (b[1] - a[1]) % 5 in {1, 4})]
        names = {member: "-".join(map(str, member)) for member in members}
        assert largest(adjacency(list(names.values()), [(names[a], names[b]) for a, b in known])) == 10


class TestAudits:
    @pytest.mark.parametrize(
        ("outcomes", "suspended", "tier"),
        [
            (["match"], False, "sealed_verified"),
            (["intact"], False, "sealed_unverified"),
            (["not_comparable"], False, "sealed_unverified"),
            (["unavailable"], False, "sealed_unverified"),
            (["stale"], False, "sealed_unverified"),
            (["mismatch"], True, "sealed_unverified"),
            (["tampered"], True, "sealed_unverified"),
            (["match", "intact"], False, "sealed_unverified"),
            (["match", "tampered"], True, "sealed_unverified"),
        ],
    )
    def test_the_worst_head_decides(self, book, target, outcomes, suspended, tier):
        for outcome in outcomes:
            book.audit(target, outcome)
        entry = state(book).entries[target]
        assert (entry.suspended, entry.tier, entry.invalidated) == (suspended, tier, suspended)
        assert entry.attenuation == (50_000_000 if suspended else 10**9)

    def test_a_later_audit_lifts_what_it_succeeds(self, book, target):
        first = book.audit(target, "mismatch")
        book.audit(target, "match", predecessor=first)
        entry = state(book).entries[target]
        assert (entry.suspended, entry.tier, entry.belief) == (False, "sealed_verified", 950_000_000)

    @pytest.mark.parametrize("later", ["intact", "unavailable", "not_comparable"])
    @pytest.mark.parametrize("found", ["mismatch", "stale"])
    def test_who_asked_nobody_lifts_no_suspension(self, book, target, found, later):
        """A sealer that files such a statement past the auditor changes nothing: 700,000,000 · 50,000 ppm are left."""
        policy = {"stale_after_seconds": 10}
        book.audit(target, later, predecessor=book.audit(target, found, at="2026-01-02T00:00:00.000000000Z"))
        entry = state(book, **policy).entries[target]
        assert (entry.suspended, entry.tier, entry.belief) == (True, "sealed_unverified", 35_000_000)
        assert believe(book.statements, SEED_V4_CLUSTERS.model_copy(update=policy))[0][target][5] is True

    @pytest.mark.parametrize(
        ("chain", "suspended", "tier"),
        [
            (["mismatch", "intact", "unavailable", "intact"], True, "sealed_unverified"),
            (["mismatch", "intact", "match"], False, "sealed_verified"),
            (["mismatch", "tampered", "intact"], True, "sealed_unverified"),
            (["mismatch", "match", "tampered", "intact"], False, "sealed_unverified"),
            (["mismatch", "match", "intact"], False, "sealed_unverified"),
            (["tampered", "intact"], False, "sealed_unverified"),
            (["intact", "mismatch"], True, "sealed_unverified"),
        ],
    )
    def test_a_chain_of_audits_says_what_the_origin_said_last(self, book, target, chain, suspended, tier):
        last = None
        for outcome in chain:
            last = book.audit(target, outcome, predecessor=last)
        entry = state(book).entries[target]
        assert (entry.suspended, entry.tier) == (suspended, tier)
        assert believe(book.statements, SEED_V4_CLUSTERS)[0][target][::5] == (tier, suspended)

    def test_a_match_after_a_void_look_succeeds_what_that_one_named(self, book, target):
        """Not so its sibling: two heads are left, and the worse of them counts."""
        first = book.audit(target, "mismatch")
        void = book.audit(target, "intact", predecessor=first)
        book.audit(target, "match", predecessor=void)
        assert not state(book).entries[target].suspended
        book.audit(target, "mismatch", predecessor=void)
        assert state(book).entries[target].suspended

    def test_suspension_attenuates_what_rests_on_it_and_moves_no_reputation(self, book, target):
        claim = book.claim(book.generation([target]), [target])
        book.audit(target, "tampered")
        found = state(book)
        assert found.entries[claim].attenuation == 50_000_000
        assert found.reputation == {}
        assert [step.entry for step in found.path(claim)] == [target]

    @pytest.mark.parametrize(
        ("at", "limit", "suspended"),
        [
            ("2026-01-01T01:00:00.000000000Z", 3599, True),
            ("2026-01-01T01:00:00.000000000Z", 3600, False),
            ("2026-01-03T00:00:00.000000000Z", 3600, True),
            (None, 0, False),
            ("2026-01-03T00:00:00.000000000Z", None, False),
        ],
    )
    def test_stale_suspends_only_past_the_policys_age(self, book, target, at, limit, suspended):
        book.audit(target, "stale", at=at)
        assert state(book, stale_after_seconds=limit).entries[target].suspended is suspended

    def test_a_match_of_an_import_or_of_a_mutating_call_verifies_nothing(self, book):
        imported = book.seal("a.example", attestation="imported")
        mutating = book.seal("b.example", effect="mutating")
        for entry in (imported, mutating):
            book.audit(entry, "match")
        assert {state(book).entries[key].tier for key in (imported, mutating)} == {"sealed_unverified"}


class TestStanding:
    def test_credit_and_display_wait_for_good_standing(self, book, target):
        one, two = book.seal("a.example"), book.seal("b.example")
        book.contradict(target, one, two)
        book.contradict(one, book.seal("c.example"), book.seal("d.example"))
        found = state(book, standing_required=True)
        # a: s = 1, f = 1, so no credit (2/(0.7·2+0.3·3)) and no display; b: s = 1, f = 0.
        assert found.entries[one].base == 608_695_652
        assert found.entries[two].base == 777_777_777
        assert (found.entries[one].corroborated, found.entries[two].corroborated) == (False, True)

    def test_a_match_audit_gives_standing(self, book, target):
        one, two = book.seal("a.example"), book.seal("b.example")
        book.contradict(target, one, two)
        book.contradict(one, book.seal("c.example"), book.seal("d.example"))
        book.audit(one, "match")
        # 0.95·3/(0.95·3 + 0.05·3) = 0.95.
        assert state(book, standing_required=True).entries[one].base == 950_000_000

    def test_an_audit_gives_standing_to_nobody_else(self, book, target):
        one, two = book.seal("a.example"), book.seal("b.example")
        book.contradict(target, one, two)
        for member in (one, two):
            book.contradict(member, book.seal("c.example"), book.seal("d.example"))
        book.audit(one, "match")
        found = state(book, standing_required=True).entries
        assert (found[one].base, found[two].base) == (950_000_000, 608_695_652)
