"""Recipes and receipts: what names a verdict's making, and what it cites."""

from __future__ import annotations

import json

import pytest

from ledger_core.kernel import jcs
from ledger_core.kernel.errors import ProviderUnavailableError, StatementError
from ledger_core.providers.fake import FakeEmbedder, FakeLlm
from ledger_core.verification import Settings, Verifier, recomputed
from ledger_core.verification.prompt import TEMPLATE
from tests.ledger_core.verification.fakes import always, says, scripted, text

TARGET, CANDIDATE = text("Die Lampe kostet 400 €.", "aa"), text("Laut Händler kostet die Lampe 350 €.", "bb")


def verifier(llm, **numbers):
    return Verifier(llm, FakeEmbedder(), Settings(**numbers))


def judged(llm):
    judge = verifier(llm)
    (screening,) = judge.screen(TARGET, [CANDIDATE])
    return judge, judge.judge(screening)


class TestRecipe:
    def test_the_same_models_words_and_numbers_are_the_same_recipe_for_ever(self):
        assert verifier(always("neither")).recipe == "two-stage-v1.e7716823b2ccfc59"

    @pytest.mark.parametrize(
        "other",
        [
            Verifier(always("neither"), FakeEmbedder(), Settings(minimum_cosine_ppm=450_001)),
            Verifier(always("neither"), FakeEmbedder(), Settings(answer_tokens=601)),
            Verifier(always("neither"), FakeEmbedder(model="another")),
            Verifier(FakeLlm(lambda _: "", model="another"), FakeEmbedder()),
        ],
    )
    def test_another_model_or_number_is_another_recipe(self, other):
        assert other.recipe != verifier(always("neither")).recipe

    def test_what_the_model_would_say_is_no_part_of_it(self):
        assert verifier(always("support")).recipe == verifier(always("contradict")).recipe


class TestReceipts:
    def test_stage_a_says_what_was_measured_under_which_numbers(self):
        judge, finding = judged(always("contradict"))
        assert finding.stage_a == jcs.encode(jcs.parse(finding.stage_a))
        found = json.loads(finding.stage_a)
        assert found["recipe"] == judge.recipe
        assert (found["stage"], found["embedder"]) == ("A", "fake-embedder")
        assert (found["target"]["entry"], found["candidate"]["entry"]) == (TARGET.entry, CANDIDATE.entry)
        assert found["candidate"]["content"] == CANDIDATE.digest
        assert found["target"]["passages"] == [[0, 23]]
        assert found["overlap_ppm"] == 750_000
        assert found["settings"]["minimum_overlap_ppm"] == 250_000

    def test_stage_b_holds_both_answers_and_where_their_quotes_stand(self):
        said = lambda a, b: says("contradict", a[-6:-1], b[-6:-1])  # noqa: E731 - the rule of this test's model
        judge, finding = judged(scripted(said, said))
        found = json.loads(finding.stage_b)
        assert (found["verdict"], found["ground"], found["template"]) == ("contradict", "agreed", TEMPLATE)
        first, second = found["turns"]
        assert (first["target_first"], second["target_first"]) == (True, False)
        assert first["answer"] == says("contradict", "400 €", "350 €")
        assert second["answer"] == says("contradict", "350 €", "400 €")
        for turn in (first, second):
            start, stop = turn["target_quote"]
            assert TARGET.text.encode()[start:stop].decode() == "400 €"
            start, stop = turn["candidate_quote"]
            assert CANDIDATE.text.encode()[start:stop].decode() == "350 €"
        assert judge.recipe == found["recipe"]

    @pytest.mark.parametrize(
        "llm",
        [
            always("contradict"),
            always("support"),
            always("neither"),
            scripted("no JSON"),
            scripted(says("contradict", "never said", "350")),
            scripted(says("support", "400", "350"), says("contradict", "350", "400")),
            scripted(says("support", "400", "350"), finish="length"),
        ],
    )
    def test_the_verdict_follows_from_the_recorded_words(self, llm):
        _, finding = judged(llm)
        assert recomputed(finding.stage_b, TARGET.text, CANDIDATE.text) == (finding.verdict, finding.ground)

    def test_a_receipt_over_other_texts_gives_another_verdict(self):
        _, finding = judged(always("contradict"))
        assert recomputed(finding.stage_b, "Die Lampe kostet 350 €.", "ein Ofen") == ("undecided", "not_verbatim")

    @pytest.mark.parametrize("forged", [b"", b"{}", b'{"turns": [{"answer": "x"}]}', b'{"turns":[],"turns":[]}'])
    def test_what_is_no_receipt_is_refused(self, forged):
        with pytest.raises(StatementError, match="no receipt of stage B"):
            recomputed(forged, "a", "b")

    def test_a_single_agreeing_turn_is_not_both_orders(self):
        _, finding = judged(always("contradict"))
        document = json.loads(finding.stage_b)
        for turns in (document["turns"][:1], [document["turns"][0]] * 2, []):
            cut = jcs.encode(document | {"turns": turns})
            assert recomputed(cut, TARGET.text, CANDIDATE.text)[0] == "undecided"


def test_a_model_that_does_not_serve_decides_nothing():
    def fails(_):
        raise ProviderUnavailableError("busy; try again later")

    judge = verifier(FakeLlm(fails))
    (screening,) = judge.screen(TARGET, [CANDIDATE])
    with pytest.raises(ProviderUnavailableError):
        judge.judge(screening)
