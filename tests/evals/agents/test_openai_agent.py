"""The agent behind a server, against a real HTTP server on loopback: outcomes, the cache, what is asked and what it costs."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.agents import Account, Answer, ChatSettings, Choice, Fault, OpenAiAgent, Pace, Prices
from evals.agents.answer_cache import AnswerCache
from evals.agents.text_prompt import BEGIN, TextTokenizer, asked
from evals.arms import arm
from evals.errors import AgentError
from evals.prompts import AssembledPrompt, Line, assemble, context_segments, question_segments
from evals.recorder import ScenarioRecorder
from evals.scenarios import generate
from evals.trial_runner import ScenarioLog, run_trial
from evals.trials import Outcome
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.providers import Completion, Message, RetryPolicy, Usage
from tests.evals.byte_model import byte_model, open_memory
from tests.ledger_core.providers.local_server import KEY, chat, error

CHAT = ChatSettings(model="small-1")
USAGE = {"usage": {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}}


def prompt(text: str = "The bell is red.", question: str = "Colour?", stem: str = "It is") -> AssembledPrompt:
    return assemble((*context_segments([Line("x", text)]), *question_segments(question, stem)), TextTokenizer())


def agent_of(server, chosen: ChatSettings = CHAT, **more) -> OpenAiAgent:
    return OpenAiAgent(server.connection(), chosen, **more)


class TestPrompts:
    def test_a_prompt_is_the_notes_the_question_and_how_the_answer_begins(self):
        found = asked(prompt())
        assert found.messages == (
            Message("system", "You answer questions from the notes."),
            Message("user", f"Notes:\nThe bell is red.\nQuestion: Colour?\n{BEGIN.format(stem='It is')}"),
        )
        assert found.stem == "It is"

    @given(text=st.text(max_size=40), stem=st.text(max_size=12))
    @settings(max_examples=60)
    def test_every_text_comes_back_as_it_was(self, text, stem):
        found = asked(prompt(text=text, stem=stem))
        told = text.encode("utf-8", "replace").decode()
        assert found.messages[1].content.startswith(f"Notes:\n{told}\nQuestion: Colour?")
        assert found.stem == stem.encode("utf-8", "replace").decode().strip()

    @pytest.mark.parametrize("ids", [(), (65,), (257, 300), (257, 65, 256, 65), (257, 65, 256, 259), (258, 65, 256)])
    def test_ids_of_another_tokenizer_are_refused(self, ids):
        with pytest.raises(AgentError):
            asked(AssembledPrompt(ids, ()))

    def test_a_role_that_no_chat_has_is_refused(self):
        with pytest.raises(AgentError, match="no role 'tool'"):
            TextTokenizer.chat_template_pieces.opening("tool")


class TestAnswers:
    @pytest.mark.parametrize(
        ("said", "text"),
        [
            ("It is red.", "red."),
            ("it is red. I am sure.", "red."),
            ("Red.", "Red."),
            ("“It is red.”", "red.”"),
            ("<think>It is blue? No.\n</think>\n\nIt is red.", "red."),
            ("It is\nred.", "red."),
            ("<think>for ever", ""),
            ("", ""),
            (None, ""),
        ],
    )
    def test_an_answer_is_one_sentence_without_the_stem(self, server, said, text):
        server.replies = [chat(said)]
        assert agent_of(server).answer(prompt()) == Answer(text, (), 1)

    def test_what_is_asked_is_greedy_seeded_and_bounded(self, server):
        server.replies = [chat("It is red."), chat("The bell is red.")]
        agent = agent_of(server)
        agent.answer(prompt())
        agent.summarise(prompt())
        answer, summary = (request.body for request in server.requests)
        assert {name: answer[name] for name in ("model", "temperature", "seed", "max_tokens")} == {
            "model": "small-1",
            "temperature": 0.0,
            "seed": 0,
            "max_tokens": 64,
        }
        assert summary["max_tokens"] == 160
        assert agent.name == f"openai small-1 at {server.url}, temperature 0, seed 0, 64 tokens"

    def test_models_that_refuse_parameters_are_not_sent_them(self, server):
        chosen = ChatSettings(model="o", temperature=None, seed=None, limit="max_completion_tokens")
        server.replies = [chat("red")]
        agent = agent_of(server, chosen)
        agent.answer(prompt())
        assert server.requests[0].body.keys() == {"model", "messages", "max_completion_tokens"}
        assert "temperature unset, seed unset" in agent.name

    def test_a_summary_is_one_line(self, server):
        server.replies = [chat("The bell\nis red. So is the door.")]
        assert agent_of(server).summarise(prompt()) == Answer("The bell is red. So is the door.", ())

    def test_no_server_says_how_likely_a_value_is(self, server):
        choice = agent_of(server).forced_choice(prompt(), "", {"true": ["red"]})
        assert not isinstance(choice, Choice)
        assert server.requests == []


class TestFaults:
    @pytest.mark.parametrize(
        ("replies", "words", "attempts"),
        [
            ([error(400, message="no such\nmodel")], "ProviderRefusedError", 1),
            ([error(401)], "ProviderRefusedError", 1),
            ([error(500)] * 1, "ProviderUnavailableError", 1),
            ([error(503)] * 4, "ProviderUnavailableError", 4),
            ([error(429, retry_after="1")] * 4, "ProviderUnavailableError", 4),
            ([error(429, code="insufficient_quota")], "ProviderUnavailableError", 1),
        ],
    )
    def test_a_failure_is_a_fault_of_one_line_with_its_attempts(self, server, replies, words, attempts):
        server.replies = list(replies)
        fault = agent_of(server).answer(prompt())
        assert isinstance(fault, Fault)
        assert fault.reason.startswith(f"{words}: ")
        assert fault.attempts == attempts
        assert "\n" not in fault.reason
        assert KEY not in fault.reason

    def test_what_a_server_says_that_is_no_answer_is_a_fault(self, server):
        server.replies = [chat() for _ in range(3)]
        for reply, body in zip(server.replies, ([], {"choices": []}, b"<html>"), strict=True):
            reply.body = body
        agent = agent_of(server)
        assert [type(agent.answer(prompt(str(n)))) for n in range(3)] == [Fault] * 3
        assert agent.account.faults == {"ProviderAnswerError": 3}

    def test_a_retry_is_visible_and_counted(self, server):
        server.replies = [error(429, retry_after="2"), error(503), chat("It is red.")]
        agent = agent_of(server)
        assert agent.answer(prompt()) == Answer("red.", (), 3)
        assert agent.account.retries == 2
        assert server.waits[0] == 2.0
        # So is it of an answer that is read again.
        assert agent.answer(prompt()) == Answer("red.", (), 3)

    def test_a_server_that_goes_away_midway_costs_the_rest_and_nothing_that_is_there(self, server):
        agent = OpenAiAgent(
            server.connection(retry=RetryPolicy(attempts=1), timeout_seconds=5.0), CHAT, cache=AnswerCache()
        )
        server.replies = [chat("It is red."), chat("It is blue.")]
        first = [agent.answer(prompt(name)) for name in ("a", "b")]
        server.close()
        assert [type(agent.answer(prompt(name))) for name in ("c", "d")] == [Fault, Fault]
        assert [agent.answer(prompt(name)) for name in ("a", "b")] == first
        assert agent.account.faults == {"ProviderUnreachableError": 2}
        assert (agent.account.answered, agent.account.from_cache) == (2, 2)

    def test_names_and_passwords_in_an_address_are_in_no_name_and_no_reason(self, server):
        server.replies = [error(400)]
        connection = server.connection()
        connection.base_url = server.url.replace("http://", "http://ann:secret@")
        agent = OpenAiAgent(connection, CHAT)
        fault = agent.answer(prompt())
        assert isinstance(fault, Fault)
        assert "secret" not in agent.name + fault.reason + agent.key("answer", (), 1)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda _: ChatSettings(model=""), "needs the model's name"),
            (lambda _: ChatSettings(model="m", max_answer_tokens=0), "at least one token"),
            (lambda _: ChatSettings(model="m", limit="tokens"), "not 'tokens'"),
            (lambda server: agent_of(server, repeat=-1), "repeat -1 is negative"),
            (lambda server: agent_of(server, ChatSettings(model="m" * 250)), "longer than the 256 bytes"),
            (lambda _: Prices(Decimal(-1), Decimal(0)), "a price of -1"),
            (lambda _: Prices(Decimal(0), Decimal("NaN")), "a price of NaN"),
            (lambda _: Pace(requests_per_minute=0), "0 requests a minute"),
            (lambda _: Pace(tokens_per_minute=float("nan")), "nan tokens a minute"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_asked(self, server, make, words):
        with pytest.raises(AgentError, match=words):
            make(server)
        assert server.requests == []


class TestCache:
    def test_what_was_answered_is_asked_for_once_even_by_another_process(self, server, tmp_path):
        server.replies = [chat("It is red.", **USAGE)]
        first = agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt())
        again = agent_of(server, cache=AnswerCache(tmp_path))
        assert again.answer(prompt()) == first
        assert len(server.requests) == 1
        assert (again.account.answered, again.account.from_cache, again.account.prompt_tokens) == (0, 1, 0)

    @pytest.mark.parametrize("said", ["", "<think>", "no value here", None])
    def test_a_bad_answer_stands_and_only_failures_are_asked_again(self, server, tmp_path, said):
        server.replies = [chat(said, finish="length"), error(400)]
        agent = agent_of(server, cache=AnswerCache(tmp_path))
        bad, failed = agent.answer(prompt("a")), agent.answer(prompt("b"))
        assert isinstance(failed, Fault)
        server.replies = [chat("It is blue.")]
        resumed = agent_of(server, cache=AnswerCache(tmp_path))
        assert resumed.answer(prompt("a")) == bad
        # That it failed before stays visible: only failures get another try, and which ones those were can be seen.
        assert resumed.answer(prompt("b")) == Answer("blue.", (), 2)
        assert len(server.requests) == 3

    def test_attempts_add_up_over_every_resume(self, server, tmp_path):
        for replies in ([error(503)] * 4, [error(400)]):
            server.replies = list(replies)
            failed = agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt())
        assert isinstance(failed, Fault)
        assert failed.attempts == 5
        server.replies = [error(429), chat("It is red.")]
        assert agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt()) == Answer("red.", (), 7)
        assert agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt()) == Answer("red.", (), 7)

    def test_everything_that_decides_an_answer_is_in_its_key(self, server):
        def key(chosen=CHAT, repeat=0, url=None, purpose="answer", tokens=64, **asked_for):
            connection = server.connection()
            connection.base_url = url or connection.base_url
            return OpenAiAgent(connection, chosen, repeat=repeat).key(
                purpose, asked(prompt(**asked_for)).messages, tokens
            )

        others = [
            key(ChatSettings(model="small-2")),
            key(ChatSettings(model="small-1", temperature=0.5)),
            key(ChatSettings(model="small-1", temperature=None)),
            key(ChatSettings(model="small-1", seed=1)),
            key(ChatSettings(model="small-1", seed=None)),
            key(ChatSettings(model="small-1", limit="max_completion_tokens")),
            key(repeat=1),
            key(url="http://127.0.0.1:1/v1"),
            key(purpose="summary"),
            key(tokens=65),
            key(text="The bell is blue."),
            key(question="Size?"),
            key(stem="It was"),
        ]
        assert len({key(), *others}) == len(others) + 1
        assert key() == key()

    def test_the_key_frames_its_parts(self, server):
        agent = agent_of(server)
        one = agent.key("answer", (Message("user", "ab"), Message("user", "c")), 64)
        assert one != agent.key("answer", (Message("user", "a"), Message("user", "bc")), 64)

    def test_repeats_share_counts_and_no_answers(self, server):
        server.replies = [chat("It is red."), chat("It is blue.")]
        agent = agent_of(server)
        second = agent.of_repeat(1)
        assert (agent.answer(prompt()), second.answer(prompt())) == (Answer("red.", ()), Answer("blue.", ()))
        assert [request.body["seed"] for request in server.requests] == [0, 1]
        assert agent.account is second.account
        assert agent.account.answered == 2
        assert agent.name == second.name

    @pytest.mark.parametrize("kept", ["{", "[]", '{"text": 1, "model": "m", "attempts": 1}', '{"text": "x"}'])
    def test_a_kept_answer_that_is_damaged_counts_as_none(self, server, tmp_path, kept):
        server.replies = [chat("It is red."), chat("It is red.")]
        agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt())
        (file,) = tmp_path.rglob("*.json")
        file.write_text(kept)
        assert agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt()) == Answer("red.", ())
        assert len(server.requests) == 2

    def test_the_key_that_opens_the_server_is_nowhere_on_disk(self, server, tmp_path):
        server.replies = [chat("It is red.")]
        agent_of(server, cache=AnswerCache(tmp_path)).answer(prompt())
        kept = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert kept
        assert all(KEY not in path.read_text() + str(path) for path in kept)
        assert KEY in (server.requests[0].key or "")


class TestAccount:
    def test_tokens_and_money_at_the_users_prices(self, server):
        server.replies = [chat("It is red.", **USAGE), chat("It is blue.", **USAGE), chat("")]
        agent = agent_of(server, account=Account(Prices(Decimal("0.15"), Decimal("0.60"), "EUR")))
        for name in "abc":
            agent.answer(prompt(name))
        assert agent.account.document() == {
            "answered": 3,
            "from_cache": 0,
            "empty": 1,
            "faults": {},
            "retries": 0,
            "prompt_tokens": 80,
            "completion_tokens": 16,
            "unreported": 1,
            "models": {"m-2026": 3},
            # (80 · 0.15 + 16 · 0.60) / 10⁶
            "cost": "0.0000216",
            "currency": "EUR",
        }

    def test_no_price_no_cost(self, server):
        server.replies = [chat("It is red.", **USAGE)]
        agent = agent_of(server)
        agent.answer(prompt())
        assert (agent.account.cost, agent.account.document()["currency"]) == (None, None)

    def test_nothing_reported_no_cost(self, server):
        server.replies = [chat("It is red.", usage={"prompt_tokens": "many", "completion_tokens": 3})]
        agent = agent_of(server, account=Account(Prices(Decimal(1), Decimal(1))))
        assert isinstance(agent.answer(prompt()), Answer)
        assert (agent.account.unreported, agent.account.cost) == (1, None)

    def test_a_model_that_changes_under_way_is_seen(self, server):
        server.replies = [chat("red"), chat("red")]
        server.replies[1].body["model"] = "m-2027"
        agent = agent_of(server)
        for name in "ab":
            agent.answer(prompt(name))
        assert agent.account.models == {"m-2026": 1, "m-2027": 1}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def spent(tokens: int) -> Completion:
    return Completion("x", "stop", "m", Usage(tokens, 0))


class TestPace:
    def test_requests_are_spread_over_the_minute(self):
        clock = Clock()
        pace = Pace(requests_per_minute=30, clock=lambda: clock.now, sleep=clock.sleep)
        for _ in range(3):
            pace.wait()
        assert clock.waits == [2.0, 2.0]

    def test_tokens_of_the_last_minute_stay_below_the_limit(self):
        clock = Clock()
        pace = Pace(tokens_per_minute=100, clock=lambda: clock.now, sleep=clock.sleep)
        for tokens in (60, 30):
            pace.wait()
            pace.took(spent(tokens))
            clock.now += 10
        pace.wait()
        assert clock.waits == []
        pace.took(spent(30))
        pace.wait()
        # 120 were spent; the first 60 are a minute old after 40 more seconds.
        assert clock.waits == [40.0]
        assert clock.now == 1060.0

    def test_without_limits_nobody_waits(self):
        clock = Clock()
        pace = Pace(clock=lambda: clock.now, sleep=clock.sleep)
        for _ in range(100):
            pace.wait()
            pace.took(spent(10**9))
        assert clock.waits == []

    @given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 30)), min_size=1, max_size=25), st.integers(50, 300))
    @settings(max_examples=40)
    def test_no_request_is_sent_while_the_last_minute_is_full(self, steps, limit):
        clock = Clock()
        pace = Pace(tokens_per_minute=limit, clock=lambda: clock.now, sleep=clock.sleep)
        history: list[tuple[float, int]] = []
        for tokens, idle in steps:
            pace.wait()
            recent = sum(count for at, count in history if at > clock.now - 60)
            assert recent < limit
            pace.took(spent(tokens))
            history.append((clock.now, tokens))
            clock.now += idle


class TestTrials:
    def test_scenarios_run_through_arms_with_every_kind_of_outcome(self, server, tmp_path):
        """An answer that holds both values, none, the true one, and a server that fails: four outcomes and no exception."""
        (scenario,) = generate("planted-premise", 1, 0)
        question = scenario.question
        ledger = open_memory()
        parts = ScenarioRecorder(ledger, byte_model(tmp_path)).record(scenario)
        keys = {part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")}
        log = ScenarioLog(scenario, tuple(event.statement for event in ledger.events()), keys)
        agent = agent_of(server)
        server.replies = [
            chat(f"{question.stem} {question.false} or {question.true}."),
            chat(""),
            chat(f"{question.stem} {question.true}."),
            error(400),
        ]
        outcomes = [
            run_trial(log, arm(name), agent, agent.tokenizer, SEED_V4_CLUSTERS).record
            for name in ("1", "2", "2k", "1o")
        ]
        assert [record.outcome for record in outcomes] == [
            Outcome.ASSERTS_BOTH,
            Outcome.UNSCORED,
            Outcome.ASSERTS_TRUE,
            Outcome.ERROR,
        ]
        assert outcomes[3].fault is not None
        assert outcomes[3].fault.startswith("ProviderRefusedError")
        assert all(record.forced_choice is None for record in outcomes)
        shown = json.dumps(server.requests[0].body, ensure_ascii=False)
        assert scenario.entry("premise").text in shown
        assert question.text in shown
        assert scenario.entry("premise").text not in json.dumps(server.requests[1].body, ensure_ascii=False)
