"""A check from end to end: candidates of the ledger, two stages, verdicts with their receipts, and what follows."""

from __future__ import annotations

import json

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.harness.checking import Checker
from ledger_core.harness.verdicts import VerdictDesk, reverse_verdict
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import BlobError, ProviderUnavailableError, UnknownReferenceError
from ledger_core.providers.fake import FakeEmbedder, FakeLlm
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.verify import verify
from ledger_core.verification import Settings, Verifier, recomputed
from tests.ledger_core.belief.book import SCOPE, Book
from tests.ledger_core.verification.fakes import always, records, says, scripted

NOW = "2026-01-02T00:00:00.000000000Z"


class World:
    """A claim about a lamp's price, and what four origins, a note and a given say about it."""

    def __init__(self) -> None:
        self.book = Book()
        self.premise = self.book.seal("false.example", "The lamp costs 400 euros.")
        self.claim = self.book.claim(
            self.book.generation([self.premise]), [self.premise], text="So the lamp costs 400 euros."
        )
        self.right = self.book.seal("a.example", "The lamp costs 350 euros.")
        self.also = self.book.seal("b.example", "In our shop the lamp costs 350 euros, as it always did.")
        self.rain = self.book.seal("c.example", "Rain is expected tomorrow in Bergen.")
        self.mirror = self.book.seal("www.false.example", "The lamp costs 400 euros, really.")
        self.note = self.book.local(text="Note to myself: the lamp costs 350 euros.")
        self.given = self.book.given(text="What does the lamp cost?")
        self.ledger = Ledger.in_memory(SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)
        self.append()

    def append(self) -> None:
        for data in self.book.blobs.values():
            self.ledger.put_blob(data, TEXT)
        self.ledger.append(self.book.statements, role="recorder")

    def checker(self, llm, **numbers):
        return Checker(self.ledger, Verifier(llm, FakeEmbedder(), Settings(**numbers)), VerdictDesk(self.ledger))

    def log(self):
        return [event.statement for event in self.ledger.events()]


@pytest.fixture
def world():
    return World()


def outcomes(checked):
    return {each.candidate: each.outcome for each in checked}


@pytest.mark.invariant("§2.5")
def test_two_origins_that_contradict_retract_and_the_claim_falls(world):
    checked = world.checker(always("contradict")).check(world.premise)
    assert outcomes(checked) == {world.right: "filed", world.also: "filed", world.rain: "screened_out"}
    assert [each.candidate for each in checked] == [world.right, world.also, world.rain]
    assert [each.filed.fired for each in checked if each.filed] == [False, True]
    state = fold(world.log(), SEED_V4_CLUSTERS)
    assert state.entries[world.premise].retracted
    assert state.entries[world.claim].attenuation == 50_000_000
    assert verify(world.ledger).first_divergence is None


def test_a_claim_may_be_checked_and_its_parents_origin_may_testify_on_it(world):
    checked = world.checker(always("support")).check(world.claim)
    assert outcomes(checked)[world.premise] == "filed"
    assert outcomes(checked)[world.mirror] == "filed"
    assert [each.filed.value for each in checked if each.filed] == ["support"] * 4


def test_every_verdict_cites_both_receipts_and_they_give_it(world):
    (checked, *_) = world.checker(always("contradict")).check(world.premise, [world.right])
    statement = world.ledger.statement(checked.filed.verdict)
    stage_a, stage_b = (world.ledger.read_blob(ref) for ref in (statement.body.stage_a, statement.body.stage_b))
    assert json.loads(stage_a)["cosine_ppm"] == checked.screening.cosine_ppm > 450_000
    texts = ("The lamp costs 400 euros.", "The lamp costs 350 euros.")
    assert recomputed(stage_b, *texts) == ("contradict", "agreed")
    assert statement.body.recipe == json.loads(stage_b)["recipe"] == json.loads(stage_a)["recipe"]


def test_an_erasure_of_either_entry_finds_the_verdict(world):
    (checked,) = world.checker(always("contradict")).check(world.premise, [world.right])
    scopes = world.ledger.statement(checked.filed.verdict).erasure_scopes
    facts = {world.ledger.statement(entry).source_fact_id for entry in (world.premise, world.right)}
    assert {scope.target_digest for scope in scopes} == facts
    assert {scope.kind for scope in scopes} == {"source_fact"}


class TestAskingAgain:
    def test_the_model_is_not_asked_twice_about_a_pair(self, world):
        undecided = always("neither")
        world.checker(undecided).check(world.premise)
        head = world.ledger.head()
        eager = always("contradict")
        again = world.checker(eager).check(world.premise)
        assert outcomes(again) == {world.right: "replayed", world.also: "replayed", world.rain: "screened_out"}
        assert [each.filed.value for each in again if each.filed] == ["undecided"] * 2
        assert (eager.asked, world.ledger.head()) == ([], head)

    def test_a_reversed_answer_is_not_asked_for_again(self, world):
        (checked,) = world.checker(always("contradict")).check(world.premise, [world.right])
        reverse_verdict(world.ledger, checked.filed.verdict, "verifier_error")
        eager = always("support")
        (again,) = world.checker(eager).check(world.premise, [world.right])
        assert (again.outcome, again.filed.value, eager.asked) == ("replayed", "contradict", [])

    def test_new_evidence_is_asked_about_and_old_is_not(self, world):
        llm = always("contradict")
        checker = world.checker(llm)
        checker.check(world.premise)
        asked = len(llm.asked)
        late = world.book.seal("d.example", "The lamp costs 300 euros.")
        world.append()
        assert outcomes(checker.check(world.premise))[late] == "filed"
        assert len(llm.asked) == asked + 2

    def test_another_verifier_that_was_faster_stands(self, world):
        rival = world.checker(always("support"))

        def slow(a, b):
            if not any(s.kind == "verdict.filed" for s in world.log()):
                rival.check(world.premise, [world.right])
            return says("contradict", a, b)

        (checked,) = world.checker(scripted(slow, slow)).check(world.premise, [world.right])
        assert (checked.outcome, checked.filed.value) == ("replayed", "support")
        assert sum(s.kind == "verdict.filed" for s in world.log()) == 1

    def test_other_numbers_are_another_verifier_and_two_filings_of_a_pair_are_one(self, world):
        world.checker(always("contradict")).check(world.premise, [world.right])
        checked = world.checker(always("contradict"), answer_tokens=601).check(world.premise, [world.right])
        assert outcomes(checked) == {world.right: "filed"}
        assert not fold(world.log(), SEED_V4_CLUSTERS).retractions


class TestCandidates:
    def test_what_could_never_count_is_not_asked_about(self, world):
        llm = always("contradict")
        named = [world.mirror, world.note, world.given, world.claim, world.premise]
        assert outcomes(world.checker(llm).check(world.premise, named)) == dict.fromkeys(named, "not_eligible")
        assert llm.asked == []

    def test_no_more_are_asked_about_than_the_settings_say_and_the_nearest_first(self, world):
        llm = always("contradict")
        checked = world.checker(llm, most_asked=1).check(world.premise)
        assert outcomes(checked) == {world.right: "filed", world.also: "not_asked", world.rain: "screened_out"}
        assert len(llm.asked) == 2
        again = world.checker(llm, most_asked=1).check(world.premise)
        assert outcomes(again)[world.right] == "replayed"

    def test_content_that_is_gone_or_no_text_is_passed_over(self, world):
        gone = world.ledger.statement(world.right).body.content
        world.ledger.blobs.erase(gone.digest)
        assert outcomes(world.checker(always("contradict")).check(world.premise))[world.right] == "unreadable"

    def test_a_target_that_is_gone_is_an_error(self, world):
        world.ledger.blobs.erase(world.ledger.statement(world.premise).body.content.digest)
        with pytest.raises(BlobError, match="nothing to compare with"):
            world.checker(always("contradict")).check(world.premise)

    @pytest.mark.parametrize("candidates", [None, ["ee" * 32]])
    def test_unknown_ids_are_refused_by_name(self, world, candidates):
        target = "dd" * 32 if candidates is None else world.premise
        with pytest.raises(UnknownReferenceError, match=(candidates or [target])[0]):
            world.checker(always("contradict")).check(target, candidates)

    def test_one_candidate_named_twice_is_asked_about_once(self, world):
        llm = always("contradict")
        assert len(world.checker(llm).check(world.premise, [world.right, world.right])) == 1
        assert len(llm.asked) == 2


def test_a_model_that_fails_midway_leaves_what_was_filed_and_can_be_asked_again(world):
    def failing(messages):
        if any("350 euros, as it always" in record for record in records(messages)):
            raise ProviderUnavailableError("busy; try again later")
        return says("contradict", *records(messages))

    with pytest.raises(ProviderUnavailableError):
        world.checker(FakeLlm(failing)).check(world.premise)
    assert [s.body.candidate for s in world.log() if s.kind == "verdict.filed"] == [world.right]
    assert outcomes(world.checker(always("contradict")).check(world.premise))[world.also] == "filed"


def test_text_that_stands_behind_what_is_read_is_not_compared(world):
    llm = always("contradict")
    assert world.checker(llm, read_characters=8).check(world.premise, [world.right])[0].outcome == "filed"
    assert records(llm.asked[0]) == ("The lamp", "The lamp")
