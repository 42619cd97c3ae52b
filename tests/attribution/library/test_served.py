"""The two scorers out of process through `attribute`: a server with the model's log-probabilities, a chat model's answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest

from attribution import Completions, Regenerate, attribute
from attribution.decision import Floor
from attribution.errors import BudgetError, InputError, ScoringServerError
from attribution.foils import claim_value
from attribution.scorers.rationed import RationedConnection
from ledger_core.providers import OpenAiLlm
from tests.attribution.library.floors import floors
from tests.attribution.scorers.completions_server import MODEL, CompletionsServer
from tests.ledger_core.providers.local_server import KEY, Server, chat

SOURCES = ["The gate closes at 17.", "The museum opens at nine."]
RESPONSE = "It closes at 17."


pytestmark = pytest.mark.usefixtures("no_certificates")


@pytest.fixture
def talkative() -> Iterator[Server]:
    """A chat model that repeats when the gate closes, where it was told, and else does not know."""
    running = Server()

    def answer(request):
        told = [one["content"] for one in request.body["messages"] if "gate closes" in one["content"]]
        return chat(f"It closes at {told[0].split()[-1]}" if told else "I do not know.")

    running.rule = answer
    yield running
    running.close()


def completions(served: CompletionsServer, **options) -> Completions:
    return Completions(served.server.connection(), MODEL, "float32", **options)


def test_a_server_gives_the_verdicts_that_the_model_here_gives(tiny, served):
    here = attribute(SOURCES, "When?", RESPONSE, model=tiny, floors=floors(tiny))
    there = attribute(
        SOURCES, "When?", RESPONSE, model=tiny.files.path, floors=floors(tiny), scorer=completions(served)
    )
    (mine,), (theirs,) = here.claims, there.claims
    assert [v.verdict for v in theirs.verdicts] == [v.verdict for v in mine.verdicts]
    for ours, found in zip(mine.verdicts, theirs.verdicts, strict=True):
        assert found.effect_nats == pytest.approx(ours.effect_nats, abs=1e-3)
    assert (theirs.tier, there.generated) == ("scored", False)
    assert there.model == f"{tiny.files.name} {tiny.files.weights_digest[:12]} float32"
    assert there.model == here.model


def test_a_tokenizer_alone_does_and_its_weights_have_no_floor(tiny, served, tmp_path):
    for name in ("tokenizer.json", "config.json"):
        shutil.copy(tiny.files.path / name, tmp_path / name)
    found = attribute(SOURCES, "When?", RESPONSE, model=tmp_path, floors=floors(tiny), scorer=completions(served))
    (claim,) = found.claims
    assert "no floor" in claim.reason
    assert all(verdict.effect_nats is not None for verdict in claim.verdicts)
    assert " unknown " in found.model


def test_a_server_with_another_model_is_refused(tiny, served):
    served.change = lambda body: body.update(model="another")
    with pytest.raises(ScoringServerError, match="answered as 'another'"):
        attribute(SOURCES, "When?", RESPONSE, model=tiny, scorer=completions(served))


def test_a_ration_ends_the_asking_and_what_was_scored_is_kept(tiny, served, tmp_path):
    rationed = RationedConnection(served.server.url, KEY, max_requests=1)
    scorer = replace(completions(served), connection=rationed)
    with pytest.raises(BudgetError, match=r"the 1 requests to .* that were granted are made"):
        attribute(SOURCES, "When?", RESPONSE, model=tiny, scorer=scorer, scores=tmp_path)
    assert rationed.asked == len(served.server.requests) == 1
    attribute(SOURCES, "When?", RESPONSE, model=tiny, scorer=completions(served), scores=tmp_path)
    before = len(served.server.requests)
    attribute(SOURCES, "When?", RESPONSE, model=tiny, scorer=completions(served), scores=tmp_path)
    assert len(served.server.requests) == before + 1  # the trial alone


def test_a_chat_model_is_asked_anew_and_every_output_says_so(talkative, capsys):
    scorer = Regenerate(OpenAiLlm(talkative.connection(), "m"))
    found = attribute(SOURCES, "When does the gate close?", RESPONSE, scorer=scorer)
    (claim,) = found.claims
    assert (claim.tier, claim.result, claim.passes) == ("regenerated", "undetermined", 4)
    assert claim.reason == "no floor is known for answers of m; effects alone are shown"
    gate, museum = claim.verdicts
    assert gate.effect_nats == pytest.approx(2.1972, abs=1e-4)  # from log(0.5 / 1.5) to log(1.5 / 0.5)
    assert museum.effect_nats == 0.0
    assert {row["tier"] for row in found.rows()} == {"regenerated"}
    assert found.to_polars()["tier"].to_list() == ["regenerated"] * 2
    assert "the lower tier" in found.to_html()
    found.show()
    assert "the lower tier" in capsys.readouterr().out


def test_with_a_floor_of_answers_a_chat_models_claims_are_decided(talkative):
    scorer = Regenerate(OpenAiLlm(talkative.connection(), "m"), floor=Floor(0.5, 0.5, 199, "shipped"))
    found = attribute(SOURCES, "When does the gate close?", RESPONSE, scorer=scorer)
    assert [edge.source.text for edge in found.edges] == [SOURCES[0]]
    assert found.claims[0].result == "grounded"


def test_claims_share_answers_and_a_chat_model_may_write_the_response(talkative):
    scorer = Regenerate(OpenAiLlm(talkative.connection(), "m"))
    found = attribute(SOURCES, "When does the gate close?", scorer=scorer)
    assert (found.response, found.generated) == (RESPONSE, True)
    assert len(talkative.requests) == 4
    (span,) = attribute(SOURCES, "When does the gate close?", scorer=scorer, start=13, stop=15).claims
    assert (span.text, len(talkative.requests)) == ("17", 8)
    two = attribute(SOURCES, "When does the gate close?", f"{RESPONSE} It closes at 17, too.", scorer=scorer)
    assert len(two.claims) == 2
    assert len(talkative.requests) == 12


def test_a_claim_without_a_value_is_not_asked_about(talkative):
    scorer = Regenerate(OpenAiLlm(talkative.connection(), "m"))
    (claim,) = attribute(SOURCES, "When?", "it closes early.", scorer=scorer).claims
    assert "say which value an answer must name" in claim.reason
    assert talkative.requests == []
    (named,) = attribute(SOURCES, "When?", "it closes early.", scorer=replace(scorer, value="17")).claims
    assert named.verdicts[0].effect_nats > 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"prompt": "{context} {query}"}, "leave prompt, words and scores out"),
        ({"parts": "word"}, "leave prompt, words and scores out"),
    ],
)
def test_what_a_chat_model_cannot_be_given_is_refused(talkative, options, says):
    with pytest.raises(InputError, match=says):
        attribute("The gate.", "When?", RESPONSE, scorer=Regenerate(OpenAiLlm(talkative.connection(), "m")), **options)


def test_a_server_writes_no_response_and_a_model_in_memory_has_no_name(served):
    with pytest.raises(InputError, match="writes none here"):
        attribute(SOURCES, "When?", scorer=completions(served))
    with pytest.raises(InputError, match="give the name or path of the model it serves"):
        attribute(SOURCES, "When?", RESPONSE, model=(1, 2), scorer=completions(served))


@pytest.mark.parametrize(
    ("claim", "value"),
    [("It closes at 17.", "17"), ("It was steered by Dora.", "Dora"), ("It closes early.", None)],
)
def test_a_claims_value_is_what_its_foils_exchange(claim, value):
    assert claim_value(claim) == value
