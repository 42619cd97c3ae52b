"""The recipe `m3-v1`: one test a step, in the order in which they decide."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.belief.independence import Assessment, Comparison, assess, compare, pairs_completed
from ledger_core.belief.index import index_statements
from ledger_core.belief.policies import SEED_V4, SEED_V4_CLUSTERS
from ledger_core.belief.quorum import testimony_of as who_testifies
from ledger_core.belief.similarity import Wording, jaccard_ppm, wording_of
from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.statements.verdicts import VerdictFiledBody
from tests.ledger_core.belief.book import Book

LONG = "Chicago Fire, a popular television drama, released its fourth season comprising a total of 24 episodes."
OTHER = "According to the broadcaster's archive there were twenty-three instalments between October 2015 and May 2016."


def wording(text: str) -> Wording:
    found = wording_of(text.encode())
    assert found is not None
    return found


def never(*_: object) -> int:
    raise AssertionError("the cosine decides nothing here")


class Said:
    """Evidence from a table: entry -> text."""

    def __init__(
        self, texts: dict[str, str | None], *, echoes: tuple[str, ...] = (), cosine: int | None = None
    ) -> None:
        self.texts = texts
        self.echoes = echoes
        self.cosine = cosine

    def wording(self, entry):
        text = self.texts[entry]
        return None if text is None else wording(text)

    def is_echo(self, entry):
        return entry in self.echoes

    def cosine_ppm(self, *_):
        if self.cosine is None:
            raise AssertionError("nobody asks for a cosine here")
        return self.cosine


def judge(texts, hosts=("a.example", "b.example"), policy=SEED_V4, echoes=(), cosine=None):
    """Assess one pair; ``echoes`` holds the places of the members that echo."""
    book = Book()
    members = [book.seal(host) for host in hosts]
    said = Said(dict(zip(members, texts, strict=True)), echoes=tuple(members[n] for n in echoes), cosine=cosine)
    found = assess(tuple(sorted(members)), index_statements(book.statements, policy), policy, said)
    return found, members


def test_different_wordings_from_different_origins_are_independent():
    found, _ = judge((LONG, OTHER), cosine=500_000)
    assert found.comparison.result == "independent"
    assert found.comparison.cosine_ppm == 500_000
    assert found.comparison.jaccard_ppm == jaccard_ppm(wording(LONG).shingles, wording(OTHER).shingles)


def test_an_echo_is_named_and_nothing_else_is_looked_at():
    found, members = judge((LONG, OTHER), echoes=(1,))
    assert found == Assessment(Comparison("echo"), (members[1],))
    both, members = judge((LONG, OTHER), hosts=("a.example", "a.example"), echoes=(0, 1))
    assert both == Assessment(Comparison("echo"), tuple(sorted(members)))


def test_one_origin_is_dependent_whatever_it_says():
    found, _ = judge((LONG, OTHER), hosts=("a.example", "www.a.example"))
    assert found == Assessment(Comparison("dependent"))


@pytest.mark.parametrize("texts", [(None, LONG), (LONG, None), (None, None)])
def test_what_cannot_be_read_is_unknown(texts):
    assert judge(texts)[0].comparison == Comparison("unknown")


def test_texts_of_fewer_shingles_than_the_minimum_are_unknown():
    # 54 characters make 50 shingles, all distinct here.
    text = "".join(chr(0x4E00 + n) for n in range(54))
    assert judge((text, LONG), cosine=0)[0].comparison.result == "independent"
    assert judge((text[:-1], LONG))[0].comparison == Comparison("unknown")
    assert judge((LONG, text[:-1]))[0].comparison == Comparison("unknown")


def test_repetition_makes_a_text_no_longer():
    assert judge(("Yes, 24. " * 100, LONG))[0].comparison == Comparison("unknown")


class TestStructured:
    def test_equal_values_are_structured_whatever_their_spelling_and_size(self):
        found, _ = judge(('{"price":30,"city":"Berlin"}', '{ "city": "Berlin", "price": 3e1 }'))
        assert found.comparison == Comparison("structured")
        long = f'{{"text":"{LONG}","n":1}}'
        assert judge((long, f" {long}\n"))[0].comparison == Comparison("structured")

    def test_a_short_value_that_differs_is_unknown_as_a_short_text_is(self):
        found, _ = judge(('{"episodes":24}', '{"episodes":24,"by":"Eve"}'))
        assert found.comparison == Comparison("unknown")

    def test_a_long_value_with_another_byline_is_a_copy(self):
        found, _ = judge((f'{{"by":"Alice","text":"{LONG}"}}', f'{{"by":"Bob","text":"{LONG}"}}'))
        assert found.comparison.result == "dependent"
        assert found.comparison.cosine_ppm is None

    def test_an_envelope_makes_no_copy_a_new_text(self):
        found, _ = judge((LONG, f'{{"text":"{LONG}"}}'))
        assert found.comparison.result == "dependent"

    def test_long_values_that_differ_are_compared_as_text(self):
        found, _ = judge((f'{{"text":"{LONG}"}}', f'{{"text":"{OTHER}"}}'), cosine=0)
        assert found.comparison.result == "independent"


class TestNearDuplicates:
    def at(self, jaccard: float) -> tuple[Wording, Wording]:
        """Two wordings of that Jaccard: 100 shingles in the union, one a character."""
        shared = round(jaccard * 100)
        letters = [chr(0x4E00 + n) for n in range(200)]
        first = "".join(letters[: 100 + 4])
        return Wording(first, None), Wording(first[: shared + 4], None)

    def test_the_threshold_itself_is_not_a_copy(self):
        first, second = self.at(0.70)
        assert jaccard_ppm(first.shingles, second.shingles) == 700_000
        assert compare(first, second, SEED_V4, lambda *_: 0) == Comparison("independent", 700_000, 0)
        above, other = self.at(0.71)
        assert compare(above, other, SEED_V4, never) == Comparison("dependent", 710_000)

    def test_a_cosine_above_the_policys_is_a_paraphrase_and_the_threshold_itself_is_none(self):
        first, second = wording(LONG), wording(OTHER)
        assert compare(first, second, SEED_V4, lambda *_: 920_001).result == "dependent"
        assert compare(first, second, SEED_V4, lambda *_: 920_000).result == "independent"

    def test_a_number_that_differs_exempts_nobody(self):
        found, _ = judge((LONG, LONG.replace("24", "25")))
        assert found.comparison.result == "dependent"

    def test_a_policy_without_cosine_needs_no_embedding(self):
        policy = SEED_V4.model_copy(update={"cosine_ppm": 1_000_000})
        found = compare(wording(LONG), wording(OTHER), policy, never)
        assert (found.result, found.cosine_ppm) == ("independent", None)


def test_cluster_v1_reads_no_content():
    different, _ = judge((LONG, LONG), policy=SEED_V4_CLUSTERS)
    same, _ = judge((LONG, OTHER), hosts=("a.example", "a.example"), policy=SEED_V4_CLUSTERS)
    assert (different, same) == (Assessment(Comparison("independent")), Assessment(Comparison("dependent")))


def test_an_unknown_recipe_is_refused_with_the_known_ones():
    with pytest.raises(PolicyError, match=r"'m4'.*cluster-v1, m3-v1"):
        judge((LONG, OTHER), policy=SEED_V4.model_copy(update={"independence_recipe": "m4"}))


TEXTS = st.text("abcdé 0123.\u200b", min_size=0, max_size=120)


class TestLaws:
    @given(TEXTS, TEXTS, st.integers(0, 1_000_000))
    def test_the_order_of_a_pair_does_not_matter(self, one, other, cosine):
        first, second = wording(one), wording(other)
        assert compare(first, second, SEED_V4, lambda *_: cosine) == compare(second, first, SEED_V4, lambda *_: cosine)

    @given(TEXTS, st.sampled_from([str.upper, str.title, "\u200b".join, lambda text: f"  {text}\n"]))
    def test_a_text_is_no_second_witness_to_itself_in_any_spelling(self, text, respell):
        found = compare(wording(text), wording(respell(text)), SEED_V4, never)
        assert found.result in {"dependent", "unknown"}

    @given(st.dictionaries(st.text("abc", max_size=3), st.text(max_size=40), max_size=4))
    def test_an_equal_record_is_structured_in_any_spelling(self, record):
        spelt = [json.dumps(record), json.dumps(dict(reversed(record.items())), indent=1, ensure_ascii=False)]
        assert compare(*map(wording, spelt), SEED_V4, never).result == "structured"

    @given(TEXTS, TEXTS, st.integers(0, 1_000_000), st.integers(0, 1_000_000), st.integers(0, 1_000_000))
    def test_a_lower_threshold_never_makes_a_pair_independent(self, one, other, cosine, lower, higher):
        lower, higher = sorted((lower, higher))
        results = [
            compare(
                wording(one),
                wording(other),
                SEED_V4.model_copy(update={"cosine_ppm": at, "jaccard_ppm": at, "minimum_shingles": 1}),
                lambda *_: cosine,
            ).result
            for at in (lower, higher)
        ]
        assert (results[0] == "independent") <= (results[1] == "independent")


def test_a_verdict_completes_a_pair_with_everyone_else_who_may_count():
    book = Book()
    target, akin = book.seal("a.example"), book.seal("www.a.example")
    one, two, three = (book.seal(f"{name}.example") for name in "bcd")
    for member in (akin, one, two, three):
        book.verdict(target, member, recipe="other")
    book.assess(one, three)
    index = index_statements(book.statements, SEED_V4_CLUSTERS)

    def completed(candidate, verdict="contradict"):
        filed = VerdictFiledBody.make(
            candidate=candidate, recipe="oracle", stage_a=None, stage_b=None, target=target, verdict=verdict
        )
        return pairs_completed(filed, index, who_testifies(index))

    assert completed(two) == tuple(sorted([tuple(sorted((one, two))), tuple(sorted((two, three)))]))
    assert completed(one) == (tuple(sorted((one, two))),)
    assert completed(akin) == ()
    assert completed(two, "undecided") == completed(two, "support") == ()


def test_pairs_come_sorted():
    book = Book()
    target, *others = (book.seal(f"{name}.example") for name in "tabcdef")
    for other in others[1:]:
        book.verdict(target, other)
    index = index_statements(book.statements, SEED_V4)
    body = VerdictFiledBody.make(
        candidate=others[0], recipe="r", stage_a=None, stage_b=None, target=target, verdict="contradict"
    )
    expected = sorted((min(others[0], other), max(others[0], other)) for other in others[1:])
    assert pairs_completed(body, index, who_testifies(index)) == tuple(expected)
