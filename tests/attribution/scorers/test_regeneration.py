from __future__ import annotations

import json
import math
import ssl
from collections.abc import Iterator

import numpy as np
import pytest

from attribution.decision import Floor, RuleConfig, Undefined
from attribution.errors import BlockError, InputError, ScoringServerError
from attribution.scorers.regeneration import FLAGS, Part, RegenerationGame, asserts_value, measure_regenerated
from evals.matcher import Expected, ValueKind, match
from evals.trials import Outcome
from ledger_core.providers import Message, OpenAiLlm
from ledger_core.providers.fake import FakeLlm
from tests.ledger_core.providers.local_server import Server, chat

FLOOR = Floor(tau=0.5, tau_total=0.5, n=199, status="shipped")
PARTS = (
    Part("system", "Answer from the notes."),
    Part("user", "The depot of Brenk opens at 7.", 0, "The depot of Brenk opens at 4."),
    Part("user", "The museum has a blue door.", 1, "The museum has no blue door."),
    Part("user", "The ferry takes vans.", 2, "The ferry takes no vans."),
    Part("user", "When does the depot of Brenk open?"),
)


@pytest.fixture(autouse=True)
def no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them takes longer than most of these tests, and none speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda *_, **__: context)


def answers_from_the_notes(messages) -> str:
    """What the notes say about the depot, and nothing where they are silent."""
    told = [message.content for message in messages if "opens at" in message.content]
    return f"It opens at {told[0].split()[-1]}" if told else "The notes do not say."


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    running.rule = lambda request: chat(
        answers_from_the_notes([Message(one["role"], one["content"]) for one in request.body["messages"]])
    )
    yield running
    running.close()


def game(provider, *, samples: int = 3, compare=None, parts=PARTS) -> RegenerationGame:
    return RegenerationGame(parts, provider, compare or asserts_value("7", ["4"]), samples=samples)


def test_a_chat_interface_is_asked_anew_under_every_mask(server):
    provider = OpenAiLlm(server.connection(), "m", temperature=None, seed=None)
    states = np.array([[1, 1, 1], [0, 1, 1], [2, 1, 1], [1, 0, 2]], dtype=np.uint8)
    odds = game(provider, samples=2).values(states)
    assert odds.tolist() == pytest.approx([math.log(5), -math.log(5), -math.log(5), math.log(5)])
    sent = [[one["content"] for one in request.body["messages"]] for request in server.requests[::2]]
    texts = [part.text for part in PARTS]
    assert sent == [
        texts,
        [texts[0], *texts[2:]],
        [texts[0], PARTS[1].swap, *texts[2:]],
        [*texts[:2], PARTS[3].swap, texts[4]],
    ]
    assert len(server.requests) == 8


def test_the_rule_finds_the_source_and_says_which_tier_it_is(server):
    found = measure_regenerated(game(OpenAiLlm(server.connection(), "m")), FLOOR)
    assert found.decision.result == "grounded"
    assert found.decision.edges == {0}
    assert found.tier == "regenerated"
    assert set(FLAGS) <= set(found.flags)
    assert "proxy-scored" in found.flags


def test_such_a_measurement_never_lowers_what_was_declared():
    """The flag that the ledger heeds, on a generation whose own weights were asked."""
    from ledger_core.belief.edges import may_lower
    from tests.ledger_core.belief.book import Book

    book = Book()
    seal = book.seal("a.example", "hello")
    generation = book.generation([seal])
    claim = book.claim(generation, [seal], text="hello")
    del claim
    statements = {statement.event_id: statement for statement in book.statements}
    found = measure_regenerated(game(FakeLlm(answers_from_the_notes)), FLOOR)

    class Measured:
        class body:  # noqa: N801 - stands in for a record
            scorer_weights_digest = statements[generation].body.weights_digest
            flags = ()

    recorded = statements[generation]
    exact = recorded.model_copy(update={"body": recorded.body.model_copy(update={"attestation": "boundary"})})
    Measured.body.flags = found.flags
    assert not may_lower(Measured, exact)


def test_without_a_floor_nothing_is_asked_and_nothing_decided():
    provider = FakeLlm(answers_from_the_notes)
    found = measure_regenerated(game(provider), Undefined("no null claims under regeneration"))
    assert found.decision.result == "undetermined"
    assert not found.decision.edges
    assert provider.asked == []


def test_a_unit_without_matched_text_is_no_edge():
    parts = (*PARTS[:1], Part("user", PARTS[1].text, 0), *PARTS[2:])
    found = measure_regenerated(game(FakeLlm(answers_from_the_notes), parts=parts), FLOOR)
    assert not found.decision.edges
    with pytest.raises(BlockError, match="unit 0 is to be swapped but has no matched text"):
        game(FakeLlm(answers_from_the_notes), parts=parts).values(np.array([[2, 1, 1]], dtype=np.uint8))


def test_the_typed_matcher_of_the_evaluation_can_be_injected():
    expected = Expected(ValueKind.NUMBER, "7", false="4")
    typed = game(
        FakeLlm(lambda messages: f"Not at 4: {answers_from_the_notes(messages)}"),
        compare=lambda answer: match(expected, answer) is Outcome.ASSERTS_TRUE,
        samples=1,
    )
    odds = typed.values(np.array([[1, 1, 1], [2, 1, 1]], dtype=np.uint8))
    assert odds.tolist() == pytest.approx([math.log(3), -math.log(3)])


def test_answers_that_differ_are_counted():
    said = iter(["at 7", "at 7", "at 4", "at 7"])
    odds = game(FakeLlm(lambda _: next(said)), samples=4).values(np.array([[1, 1, 1]], dtype=np.uint8))
    assert odds[0] == pytest.approx(math.log(3.5 / 1.5))


def test_an_answer_that_was_held_back_is_no_score():
    with pytest.raises(ScoringServerError, match="fake-llm ended an answer for a reason of its own"):
        game(FakeLlm(lambda _: "", finish="other")).values(np.array([[1, 1, 1]], dtype=np.uint8))


def test_the_recipe_names_tier_model_and_samples():
    recipe = game(FakeLlm(answers_from_the_notes)).recipe()
    assert json.loads(json.dumps(recipe)) == {
        "scorer": "regenerate-v1",
        "tier": "regenerated",
        "model": "fake-llm",
        "samples": 3,
    }


@pytest.mark.parametrize(
    ("value", "answer", "made"),
    [
        ("7", "at 7.", True),
        ("7", "at 17", False),
        ("7", "at 7.5", False),
        ("7", "at 7 o'clock", True),
        ("1200", "it costs 1,200 crowns", True),
        ("1,200", "1200.0", True),
        ("-3", "-3 degrees", True),
        ("Corvo", "To CORVO, they say", True),
        ("Corvo", "Corvonia", False),
        ("São Tomé", "sa\u0303o tome\u0301!", True),
        ("7", "7, no, 4", False),
        ("7", "", False),
    ],
)
def test_a_plain_comparer_reads_numbers_as_numbers_and_names_as_words(value, answer, made):
    others = ["4"] if value == "7" else []
    assert asserts_value(value, others)(answer) is made


def test_what_cannot_be_compared_or_asked_is_refused():
    with pytest.raises(InputError, match="empty"):
        asserts_value(" ")
    with pytest.raises(InputError, match="'7' is among the values"):
        asserts_value("7", ["7.0"])
    with pytest.raises(InputError, match=r"units \[1\] of 1 parts"):
        RegenerationGame([Part("user", "a", 1)], FakeLlm(answers_from_the_notes), asserts_value("7"))
    with pytest.raises(InputError, match="0 parts"):
        RegenerationGame([], FakeLlm(answers_from_the_notes), asserts_value("7"))
    with pytest.raises(InputError, match="0 answers a mask"):
        game(FakeLlm(answers_from_the_notes), samples=0)
    assert RuleConfig() is not None
