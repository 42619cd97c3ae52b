"""From pairs to shares: the recipe's own answer at every point, the attacker's best texts, the fitted point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import CorpusError
from evals.quorum_attack.pairs import PairNumbers, Point, QuestionPairs, attack_pairs, honest_pairs, numbers_of
from evals.quorum_attack.shares import GRID, fitted, merged, passing, silenced
from evals.statistics import Undefined
from ledger_core.belief.independence import compare
from ledger_core.belief.policies import SEED_V4
from ledger_core.belief.similarity import wording_of
from tests.evals.quorum_attack.toy import WordCounts, attack_set, honest_set, lie

PPM = st.integers(0, 1_000_000)


def question(key, *numbers, texts=3, comparable=True):
    """Pairs 0–1, 0–2, 1–2, … with (Jaccard, cosine) in ppm."""
    places = [(a, b) for a in range(texts) for b in range(a + 1, texts)]
    pairs = tuple(
        PairNumbers(*place, jaccard, cosine, comparable)
        for place, (jaccard, cosine) in zip(places, numbers, strict=False)
    )
    return QuestionPairs(key, texts, pairs)


TEXTS = [lie("tower", 0), lie("tower", 1), lie("bridge", 2), "too short", '{"n":1}', lie("tower", 0).upper()]


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS), PPM, PPM, PPM)
def test_a_pair_is_judged_as_the_recipe_judges_it(one, other, jaccard, threshold, cosine):
    first, second = wording_of(one.encode()), wording_of(other.encode())
    point = Point(threshold, jaccard)
    recipe = compare(first, second, point.on(SEED_V4), lambda *_: cosine)
    assert numbers_of(first, second, cosine, SEED_V4).independent(point) == (recipe.result == "independent")


def test_pairs_of_an_attack_are_all_pairs_of_a_question():
    embedder = WordCounts()
    found = attack_pairs(attack_set(count=2), embedder, SEED_V4)
    assert [(q.key, q.texts, len(q.pairs)) for q in found] == [("q0", 5, 10), ("q1", 5, 10)]
    assert len(embedder.asked) == 10
    assert all(pair.comparable and pair.cosine_ppm > 500_000 for q in found for pair in q.pairs)


def test_honest_pairs_are_of_different_origins():
    honest = honest_set(count=1)
    (only,) = honest_pairs(honest, WordCounts(), SEED_V4)
    assert [(pair.first, pair.second) for pair in only.pairs] == [(0, 1), (0, 2), (1, 2)]


class TestShares:
    POINT = Point(600_000, 700_000)
    ATTACK = (
        question("none", (800_000, 0), (0, 700_000), (0, 600_001)),
        question("two", (0, 600_000), (0, 700_000), (900_000, 0)),
        question("three", (0, 0), (0, 0), (700_000, 600_000)),
        question("short", (0, 0), (0, 0), (0, 0), comparable=False),
    )

    def test_an_attack_passes_with_two_texts_that_are_told_apart(self):
        assert [q.largest_independent(self.POINT) for q in self.ATTACK] == [1, 2, 3, 1]
        share = passing(self.ATTACK, self.POINT)
        assert (share.events, share.interval.n, share.interval.estimate) == (2, 4, 0.5)
        assert passing(self.ATTACK, self.POINT, quorum=3).events == 1

    def test_merged_pairs_are_averaged_within_a_question_first(self):
        share = merged(self.ATTACK, self.POINT)
        assert share.events == 3 + 2 + 0 + 3
        assert share.interval.estimate == pytest.approx((1 + 2 / 3 + 0 + 1) / 4)
        assert share.interval.n == 4

    def test_claims_of_one_question_count_as_one_question(self):
        claims = [
            question("1/0", (0, 700_000), texts=2),
            question("1/4", (0, 0), texts=2),
            question("2/0", (0, 0), texts=2),
        ]
        for measure in (merged, silenced):
            share = measure(claims, self.POINT)
            assert (share.events, share.interval.n, share.interval.estimate) == (1, 2, 0.25)

    def test_a_question_is_silenced_where_no_two_origins_are_left(self):
        assert silenced(self.ATTACK, self.POINT).events == 2

    def test_nothing_has_no_share(self):
        for measure in (passing, merged, silenced):
            assert isinstance(measure((), self.POINT).interval, Undefined)

    def test_a_lower_threshold_lets_less_pass_and_merges_more(self):
        attack = attack_pairs(attack_set(), WordCounts(), SEED_V4)
        passed = [passing(attack, Point(cosine, 1_000_000)).events for cosine in range(0, 1_000_001, 100_000)]
        taken = [merged(attack, Point(cosine, 1_000_000)).events for cosine in range(0, 1_000_001, 100_000)]
        assert passed == sorted(passed)
        assert taken == sorted(taken, reverse=True)
        assert (passed[0], passed[-1]) == (0, 10)


class TestFitting:
    def test_the_least_sum_is_found(self):
        attack = [question(f"a{n}", (0, 700_001 + n), texts=2) for n in range(10)]
        honest = [question(f"h{n}", (0, 500_000 + n), texts=2) for n in range(10)]
        best = fitted(attack, honest)
        assert passing(attack, best).events == 0
        assert merged(honest, best).events == 0
        assert best == Point(700_000, 700_000)

    def test_of_equal_points_the_one_that_merges_least_and_then_the_nearest_to_the_specifications(self):
        attack = [question("a", (0, 500_000), texts=2)]
        honest = [question("h", (0, 500_000), texts=2)]
        assert fitted(attack, honest) == Point(920_000, 700_000)

    def test_jaccard_alone_can_decide(self):
        attack = [question("a", (400_000, 0), texts=2)]
        honest = [question("h", (300_000, 0), texts=2)]
        assert fitted(attack, honest) == Point(920_000, 350_000)

    def test_nothing_fits_nothing(self):
        for sets in ((), [question("x", (0, 0), texts=2)]), ([question("x", (0, 0), texts=2)], ()):
            with pytest.raises(CorpusError, match="is empty"):
                fitted(*sets)

    def test_the_grid_holds_the_shipped_points(self):
        assert Point(920_000, 700_000) in GRID
        assert Point(600_000, 700_000) in GRID
