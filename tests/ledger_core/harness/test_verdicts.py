"""Filing verdicts through a ledger: assessments, receipts, replay, reversal."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.belief.receipts import check_receipts
from ledger_core.harness.verdicts import VerdictDesk, file_verdict, reverse_verdict
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import CollisionError, PolicyError, StatementError, UnknownReferenceError
from ledger_core.stores.ledger import Ledger
from tests.ledger_core.belief.book import SCOPE, Book

NOW = "2026-01-02T00:00:00.000000000Z"


def open_ledger(book, policy=SEED_V4_CLUSTERS):
    ledger = Ledger.in_memory(SCOPE, now=NOW, policy=policy, policy_name=SEED_V4_CLUSTERS_NAME)
    put(ledger, book)
    return ledger


def put(ledger, book):
    for data in book.blobs.values():
        ledger.put_blob(data, TEXT)
    ledger.append(book.statements, role="recorder")


def log(ledger):
    return [event.statement for event in ledger.events()]


def contradict(ledger, target, candidate, **fields):
    return file_verdict(
        ledger,
        target=target,
        candidate=candidate,
        verdict="contradict",
        recipe=fields.pop("recipe", "oracle-v1"),
        **fields,
    )


def receipts(ledger, filed):
    return [ledger.statement(key).body for key in filed.receipts]


@pytest.fixture
def story():
    """A premise, two claims on it, three other origins and a copy of the first."""
    book = Book()
    ids = {"premise": book.seal("false.example")}
    ids["first"] = book.claim(book.generation([ids["premise"]]), [ids["premise"]])
    ids["second"] = book.claim(book.generation([ids["first"]]), {ids["first"]: 500_000})
    for name in "abc":
        ids[name] = book.seal(f"{name}.example", family="price")
    ids["copy"] = book.seal("www.a.example", family="price")
    return open_ledger(book), ids


def test_the_first_contradiction_is_refused_as_too_few(story):
    ledger, ids = story
    filed = contradict(ledger, ids["premise"], ids["a"])
    assert (filed.fired, filed.replayed, filed.assessments) == (False, False, ())
    (receipt,) = receipts(ledger, filed)
    assert (receipt.reason, receipt.eligible, receipt.largest_independent) == ("too_few", 1, 1)
    assert (receipt.target, receipt.verdict) == (ids["premise"], filed.verdict)


def test_a_copy_of_the_same_origin_is_refused_as_not_independent(story):
    ledger, ids = story
    contradict(ledger, ids["premise"], ids["a"])
    filed = contradict(ledger, ids["premise"], ids["copy"])
    (assessed,) = (ledger.statement(key).body for key in filed.assessments)
    assert (assessed.result, assessed.recipe) == ("dependent", "cluster-v1")
    assert (assessed.first, assessed.second) == tuple(sorted((ids["a"], ids["copy"])))
    (receipt,) = receipts(ledger, filed)
    assert (receipt.reason, receipt.eligible, receipt.largest_independent) == ("not_independent", 2, 1)


@pytest.mark.invariant("§2.5")
def test_the_completing_contradiction_fires_with_its_receipts_in_one_transaction(story):
    ledger, ids = story
    contradict(ledger, ids["premise"], ids["a"])
    filed = contradict(ledger, ids["premise"], ids["b"])
    assert filed.fired
    tail = [statement.kind for statement in log(ledger)[-6:]]
    assert tail == [
        "verdict.filed",
        "independence.assessed",
        "cascade.fired",
        "reputation.adjusted",
        "reputation.adjusted",
        "reputation.adjusted",
    ]
    fired, *adjusted = receipts(ledger, filed)
    assert fired.members == tuple(sorted((ids["a"], ids["b"])))
    assert {entry.entry: entry.attenuation for entry in fired.attenuated} == {
        ids["premise"]: 50_000_000,
        ids["first"]: 50_000_000,
        ids["second"]: 525_000_000,
    }
    assert [(body.cluster, body.family, body.successes, body.failures) for body in adjusted] == [
        ("a.example", "price", 1, 0),
        ("b.example", "price", 1, 0),
        ("false.example", "*", 0, 1),
    ]
    assert check_receipts(log(ledger), SEED_V4_CLUSTERS) == []


def test_a_third_origin_is_credited_and_does_not_fire_again(story):
    ledger, ids = story
    for name in "ab":
        contradict(ledger, ids["premise"], ids[name])
    filed = contradict(ledger, ids["premise"], ids["c"])
    assert not filed.fired
    assert len(filed.assessments) == 2
    refused, credited = receipts(ledger, filed)
    assert (refused.reason, refused.eligible, refused.largest_independent) == ("already_retracted", 3, 3)
    assert (credited.cluster, credited.successes, credited.failures) == ("c.example", 1, 0)


def test_an_ineligible_candidate_is_refused_and_paired_with_nobody(story):
    ledger, ids = story
    contradict(ledger, ids["premise"], ids["a"])
    filed = contradict(ledger, ids["premise"], ids["first"])
    assert filed.assessments == ()
    (receipt,) = receipts(ledger, filed)
    assert (receipt.reason, receipt.eligible) == ("not_eligible", 1)


def test_support_completes_pairs_and_has_no_receipt(story):
    ledger, ids = story
    for name in "ab":
        filed = file_verdict(ledger, target=ids["premise"], candidate=ids[name], verdict="support", recipe="oracle-v1")
    assert (len(filed.assessments), filed.receipts) == (1, ())
    undecided = file_verdict(ledger, target=ids["premise"], candidate=ids["c"], verdict="undecided", recipe="oracle-v1")
    assert (undecided.assessments, undecided.receipts) == ((), ())


def test_supporters_outnumber_under_a_majority_policy():
    book = Book()
    target, one, two, friend = (book.seal(f"{name}.example") for name in ("t", "x", "y", "z"))
    ledger = open_ledger(book, SEED_V4_CLUSTERS.model_copy(update={"require_majority": True}))
    file_verdict(ledger, target=target, candidate=friend, verdict="support", recipe="oracle-v1")
    contradict(ledger, target, one)
    (receipt,) = receipts(ledger, contradict(ledger, target, two))
    assert receipt.reason == "outnumbered"
    assert check_receipts(log(ledger), ledger.policy()) == []


def test_the_same_filing_again_writes_nothing_and_names_what_was_written(story):
    ledger, ids = story
    contradict(ledger, ids["premise"], ids["a"])
    filed = contradict(ledger, ids["premise"], ids["b"])
    head = ledger.head()
    refused = contradict(ledger, ids["premise"], ids["a"])
    assert (refused.fired, refused.replayed, len(refused.receipts)) == (False, True, 1)
    again = contradict(ledger, ids["premise"], ids["b"])
    assert (again.verdict, again.assessments, again.receipts) == (filed.verdict, filed.assessments, filed.receipts)
    assert (again.fired, again.replayed) == (True, True)
    assert ledger.head() == head


def test_one_recipe_answers_once(story):
    ledger, ids = story
    contradict(ledger, ids["premise"], ids["a"])
    with pytest.raises(CollisionError):
        file_verdict(ledger, target=ids["premise"], candidate=ids["a"], verdict="support", recipe="oracle-v1")


def test_a_recorded_pair_is_not_assessed_again_for_another_target(story):
    ledger, ids = story
    for target in ("premise", "first"):
        for name in "ab":
            filed = contradict(ledger, ids[target], ids[name])
    assert filed.fired
    assert filed.assessments == ()
    assert sum(statement.kind == "independence.assessed" for statement in log(ledger)) == 1


def test_a_suspended_candidate_is_paired_for_the_day_its_suspension_is_lifted():
    book = Book()
    target, one, two = (book.seal(f"{name}.example") for name in ("t", "a", "b"))
    mismatch = book.audit(two, "mismatch")
    ledger = open_ledger(book)
    contradict(ledger, target, one)
    filed = contradict(ledger, target, two)
    assert len(filed.assessments) == 1
    assert receipts(ledger, filed)[0].reason == "not_eligible"
    lifted = Book()
    lifted.statements = list(book.statements)
    lifted.audit(two, "match", predecessor=mismatch)
    ledger.append(lifted.statements[-1:], role="sealer")
    assert target in fold(log(ledger), SEED_V4_CLUSTERS).retractions


def test_bad_input_is_refused_by_name_and_writes_nothing(story):
    ledger, ids = story
    head = ledger.head()
    with pytest.raises(UnknownReferenceError, match="dd" * 32):
        contradict(ledger, "dd" * 32, ids["a"])
    with pytest.raises(UnknownReferenceError, match="ee" * 32):
        contradict(ledger, ids["premise"], "ee" * 32)
    with pytest.raises(StatementError, match="candidate"):
        contradict(ledger, ids["premise"], "nonsense")
    with pytest.raises(StatementError, match="itself"):
        contradict(ledger, ids["a"], ids["a"])
    assert ledger.head() == head


def test_an_unknown_independence_recipe_is_refused():
    book = Book()
    target, one, two = (book.seal(f"{name}.example") for name in ("t", "a", "b"))
    ledger = open_ledger(book, SEED_V4_CLUSTERS.model_copy(update={"independence_recipe": "near-duplicates-v9"}))
    contradict(ledger, target, one)
    with pytest.raises(PolicyError, match=r"near-duplicates-v9.*cluster-v1"):
        contradict(ledger, target, two)


@pytest.mark.invariant("§2.4")
def test_reversal_restores_every_belief_to_the_bit(story):
    ledger, ids = story
    contradict(ledger, ids["premise"], ids["a"])
    before = fold(log(ledger), SEED_V4_CLUSTERS)
    filed = contradict(ledger, ids["premise"], ids["b"])
    assert fold(log(ledger), SEED_V4_CLUSTERS) != before
    reversal = reverse_verdict(ledger, filed.verdict, "verifier_error")
    assert fold(log(ledger), SEED_V4_CLUSTERS) == before
    assert reverse_verdict(ledger, filed.verdict, "verifier_error") == reversal
    with pytest.raises(CollisionError):
        reverse_verdict(ledger, filed.verdict, "operator_decision")
    with pytest.raises(UnknownReferenceError):
        reverse_verdict(ledger, ids["a"], "verifier_error")


def test_a_desk_files_what_single_filings_would(story):
    ledger, ids = story
    twin = Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
    entries = [event.statement for event in ledger.events()]
    for event in ledger.events():
        for statement in (event.statement,):
            body = statement.body
            for name in ("args", "result", "content", "prompt_tokens", "response", "response_tokens"):
                ref = getattr(body, name, None)
                if ref is not None:
                    twin.put_blob(ledger.read_blob(ref), TEXT)
    twin.append(entries, role="recorder")
    desk = VerdictDesk(twin)
    for target, name in (("premise", "a"), ("first", "a"), ("premise", "b"), ("first", "b"), ("premise", "b")):
        single = contradict(ledger, ids[target], ids[name])
        assert desk.file(target=ids[target], candidate=ids[name], verdict="contradict", recipe="oracle-v1") == single
    assert twin.head() == ledger.head()


@pytest.mark.invariant("§2.6")
class TestCheckReceipts:
    def fired(self, story):
        ledger, ids = story
        for name in "ab":
            contradict(ledger, ids["premise"], ids[name])
        return log(ledger)

    def test_a_missing_receipt_is_named(self, story):
        statements = [s for s in self.fired(story) if s.kind != "cascade.fired"]
        (mismatch,) = check_receipts(statements, SEED_V4_CLUSTERS)
        assert len(mismatch.expected) == 4
        assert len(mismatch.found) == 3
        assert mismatch.verdict == [s for s in statements if s.kind == "verdict.filed"][1].event_id

    def test_a_receipt_that_says_something_else_is_named(self, story):
        statements = self.fired(story)
        place = next(n for n, s in enumerate(statements) if s.kind == "cascade.fired")
        forged = statements[place].body.model_copy(update={"attenuated": ()})
        statements[place] = statements[place].model_copy(update={"body": forged})
        (mismatch,) = check_receipts(statements, SEED_V4_CLUSTERS)
        assert mismatch.found[0].attenuated == ()
        assert len(mismatch.expected[0].attenuated) == 3

    def test_receipts_of_no_verdict_are_named(self, story):
        statements = self.fired(story)
        (mismatch,) = check_receipts([s for s in statements if s.kind == "cascade.fired"], SEED_V4_CLUSTERS)
        assert (mismatch.verdict, mismatch.expected, len(mismatch.found)) == (None, (), 1)

    def test_receipts_are_judged_by_the_policy_they_were_written_under(self, story):
        statements = self.fired(story)
        first, second = (s.event_id for s in statements if s.kind == "verdict.filed")
        three = SEED_V4_CLUSTERS.model_copy(update={"quorum": 3})
        policies = {first: SEED_V4_CLUSTERS, second: three}
        (mismatch,) = check_receipts(statements, policies.__getitem__)
        assert (mismatch.verdict, mismatch.expected[0].reason) == (second, "too_few")


@pytest.mark.invariant("§2.2", "EVENT-03")
def test_receipts_have_no_authority(story):
    ledger, ids = story
    for name in "ab":
        contradict(ledger, ids["premise"], ids[name])
    statements = log(ledger)
    kinds = {"cascade.fired", "cascade.refused", "reputation.adjusted"}
    bare = [s for s in statements if s.kind not in kinds]
    assert len(bare) < len(statements)
    assert fold(bare, SEED_V4_CLUSTERS) == fold(statements, SEED_V4_CLUSTERS)
