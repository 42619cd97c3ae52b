"""The client against a real server: what is sent, what is tried again, and what every failure says."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from ledger_core.kernel.errors import (
    ProviderAnswerError,
    ProviderError,
    ProviderRefusedError,
    ProviderUnavailableError,
    ProviderUnreachableError,
)
from ledger_core.providers import Completion, Message, OpenAiConnection, OpenAiEmbedder, OpenAiLlm, RetryPolicy
from tests.ledger_core.providers.local_server import KEY, Reply, chat, error, vectors

ASK = [Message("system", "be brief"), Message("user", "is it?")]


def ask(server, *replies, model=None, **options):
    server.replies = list(replies)
    with server.connection(**options) as connection:
        return (model or OpenAiLlm)(connection, "m").complete(ASK, max_tokens=7)


def test_what_is_sent_and_what_comes_back(server):
    assert ask(server, chat("yes")) == Completion("yes", "stop", "m-2026")
    (request,) = server.requests
    assert (request.path, request.key) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert request.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "is it?"}],
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 7,
    }


def test_newer_models_are_asked_in_their_spelling(server):
    def newer(connection, name):
        return OpenAiLlm(connection, name, temperature=None, seed=None, limit="max_completion_tokens")

    ask(server, chat(), model=newer)
    assert server.requests[0].body.keys() == {"model", "messages", "max_completion_tokens"}


def test_the_environment_adds_no_organisation(server, monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "from-the-environment")
    ask(server, chat())
    assert "from-the-environment" not in repr(server.requests)


def test_a_transport_of_ones_own_is_used(server):
    import openai

    client = openai.DefaultHttpxClient(headers={"x-through": "a proxy"})
    assert ask(server, chat("yes"), http_client=client).text == "yes"
    assert server.requests[0].headers["x-through"] == "a proxy"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (chat("half of i", "length"), Completion("half of i", "length", "m-2026")),
        (chat(None, "content_filter"), Completion("", "other", "m-2026")),
        (chat("yes", "stop", usage={"total_tokens": 3}, service_tier="x"), Completion("yes", "stop", "m-2026")),
    ],
)
def test_answers_that_are_not_whole_say_so(server, reply, expected):
    assert ask(server, reply) == expected


class TestRetries:
    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_what_passes_is_tried_again(self, server, status):
        assert ask(server, error(status), error(status), chat("at last")).text == "at last"
        assert server.waits == [0.5, 1.0]
        assert len(server.requests) == 3

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_but_not_for_ever(self, server, status):
        with pytest.raises(ProviderUnavailableError, match=f"answered {status} to each of 4 attempts; try again later"):
            ask(server, *[error(status)] * 4)
        assert server.waits == [0.5, 1.0, 2.0]

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 500, 501])
    def test_what_stays_is_not(self, server, status):
        with pytest.raises(ProviderError, match=str(status)):
            ask(server, error(status, x_should_retry="true"))
        assert (server.waits, len(server.requests)) == ([], 1)

    @pytest.mark.parametrize(
        ("header", "waited"),
        [
            ("7", 7.0),
            ("0", 0.0),
            (" 30 ", 30.0),
            ("Sun, 09 Sep 2001 01:46:52 GMT", 12.0),
            ("Sun, 09 Sep 2001 01:46:30 GMT", 0.0),
            ("Sun, 09 Sep 2001 01:46:52 -0000", 12.0),
            ("soon", 0.5),
            ("-5", 0.5),
            ("1e1", 0.5),
            ("²", 0.5),
        ],
    )
    def test_the_server_says_when(self, server, header, waited):
        ask(server, error(429, retry_after=header.encode().decode("latin-1")), chat())
        assert server.waits == [waited]

    @pytest.mark.parametrize("header", ["31", "9" * 400, "Sun, 09 Sep 2001 02:46:40 GMT"])
    def test_but_nobody_waits_an_hour(self, server, header):
        with pytest.raises(ProviderUnavailableError, match="longer than the 30 s this client waits; try again after"):
            ask(server, error(503, retry_after=header))
        assert (server.waits, len(server.requests)) == ([], 1)

    def test_an_empty_purse_is_not_a_queue(self, server):
        with pytest.raises(ProviderUnavailableError, match=r"quota.*used up; raise it"):
            ask(server, error(429, "insufficient_quota"))
        assert server.waits == []

    def test_a_dropped_connection_and_a_cut_answer_are_tried_again(self, server):
        assert ask(server, Reply(drop=True), Reply(body={}, cut=True), chat("at last")).text == "at last"
        assert server.waits == [0.5, 1.0]

    def test_one_attempt_is_one_attempt(self, server):
        with pytest.raises(ProviderUnavailableError):
            ask(server, error(503), retry=RetryPolicy(attempts=1))
        assert server.waits == []

    def test_waits_double_up_to_the_longest_and_jitter_takes_up_to_half(self):
        policy = RetryPolicy(first_wait=1.0, longest_wait=5.0)
        assert [policy.backoff(attempt, 0.0) for attempt in (1, 2, 3, 4, 2000)] == [1.0, 2.0, 4.0, 5.0, 5.0]
        assert policy.backoff(2, 0.5) == 1.5

    @pytest.mark.parametrize("numbers", [{"attempts": 0}, {"first_wait": -1.0}, {"longest_wait": -1.0}])
    def test_a_policy_that_sends_nothing_is_refused(self, numbers):
        with pytest.raises(ProviderError, match="at least one attempt"):
            RetryPolicy(**numbers)


class TestFailures:
    def test_a_server_that_is_silent(self, server):
        with pytest.raises(ProviderUnreachableError, match=r"did not answer within 0\.05 s, 2 attempts"):
            ask(server, Reply(hang=True), Reply(hang=True), timeout_seconds=0.05, retry=RetryPolicy(attempts=2))

    def test_a_server_that_never_comes_to_an_end(self, server):
        """Each byte is in time; the whole is not."""
        slow = Reply(body={"padding": "x" * 1000}, drip=0.02)
        with pytest.raises(ProviderUnreachableError, match=r"did not answer to the end, 1 attempts.*after 0\.1 s"):
            ask(server, slow, timeout_seconds=0.1, retry=RetryPolicy(attempts=1))

    def test_an_answer_without_measure(self, server, monkeypatch):
        monkeypatch.setattr("ledger_core.providers.openai_connection.MAX_ANSWER_BYTES", 1000)
        with pytest.raises(ProviderAnswerError, match="more than 1000 bytes; ask for less at once"):
            ask(server, chat("x" * 1000))
        assert len(server.requests) == 1

    def test_a_server_that_is_not_there(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
            connection = OpenAiConnection(url, KEY, retry=RetryPolicy(attempts=2, first_wait=0))
            with pytest.raises(
                ProviderUnreachableError, match=r"is not reachable, 2 attempts; check that the server runs"
            ):
                OpenAiLlm(connection, "m").complete(ASK, max_tokens=7)

    @pytest.mark.parametrize(
        ("status", "advice"),
        [
            (401, "check the API key"),
            (403, "may not use"),
            (404, "check the base URL"),
            (422, "check the model's name"),
        ],
    )
    def test_a_refusal_says_what_to_check(self, server, status, advice):
        with pytest.raises(ProviderRefusedError, match=advice):
            ask(server, error(status))

    def test_a_server_that_fails_is_told_from_a_busy_one(self, server):
        with pytest.raises(ProviderUnavailableError, match=r"failed with 500, which no retry mends.*boom"):
            ask(server, error(500, message="boom"))

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_texts_do_not_follow_a_redirect(self, server, status):
        elsewhere = f"{server.url}/elsewhere"
        with pytest.raises(ProviderRefusedError, match=r"redirects to .*/elsewhere; configure the final base URL"):
            ask(server, Reply(status, {}, {"location": elsewhere}), chat())
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        ("body", "place"),
        [
            (b"<html>hello</html>", "the body"),
            (b"", "the body"),
            (b"null", "the body"),
            ({"choices": []}, "choices"),
            ({"choices": [{"message": {"content": 7}}]}, r"choices\.0\.message\.content"),
            ({"choices": [{"text": "completions of old"}]}, r"choices\.0\.message"),
            ({"error": {"message": "an error with status 200"}}, "choices"),
        ],
    )
    def test_an_answer_of_another_form_names_the_place(self, server, body, place):
        with pytest.raises(ProviderAnswerError, match=f"interface: {place}: "):
            ask(server, Reply(body=body))

    @pytest.mark.parametrize("reply", [error(401, message=f"bad key {KEY}"), Reply(body={"echo": KEY})])
    def test_no_message_repeats_the_key(self, server, reply):
        with pytest.raises(ProviderError) as caught:
            ask(server, reply)
        assert KEY not in str(caught.value)
        assert len(str(caught.value)) < 700


class TestEmbeddings:
    def embed(self, server, texts, *replies, **options):
        server.replies = list(replies)
        with server.connection() as connection:
            return OpenAiEmbedder(connection, "e", **options).embed(texts)

    def test_unit_rows_in_the_order_of_the_texts(self, server):
        found = self.embed(server, ["a", "b"], vectors([0, 2], [3.0, 4.0], indexes=[1, 0]))
        assert np.allclose(found, [[0.6, 0.8], [0.0, 1.0]])
        assert found.dtype == np.float32
        assert server.requests[0].body == {"model": "e", "input": ["a", "b"], "encoding_format": "float"}

    def test_many_texts_are_several_requests(self, server):
        found = self.embed(server, list("abc"), vectors([1, 0], [0, 1]), vectors([1, 1]), batch=2)
        assert [request.body["input"] for request in server.requests] == [["a", "b"], ["c"]]
        assert np.allclose(found[2], [0.5**0.5] * 2)

    def test_no_texts_ask_nobody(self, server):
        assert self.embed(server, []).shape == (0, 0)
        assert server.requests == []

    @pytest.mark.parametrize(
        ("reply", "complaint"),
        [
            (vectors([1.0]), "gave 1 vectors"),
            (vectors([1.0], [1.0], [1.0]), "gave 3 vectors"),
            (vectors([1.0], [1.0], indexes=[0, 0]), "each text needs exactly one"),
            (vectors([1.0], [1.0, 2.0]), "different lengths"),
            (vectors([0.0], [1.0]), "no direction"),
            (Reply(body=b'{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}'), "no direction"),
            (vectors([], [1.0]), r"data\.0\.embedding"),
            (Reply(body={"data": [{"index": 0, "embedding": "AACAPw=="}]}), r"data\.0\.embedding"),
        ],
    )
    def test_vectors_that_are_none_are_refused(self, server, reply, complaint):
        with pytest.raises(ProviderAnswerError, match=complaint):
            self.embed(server, ["a", "b"], reply)

    def test_failures_are_those_of_the_connection(self, server):
        with pytest.raises(ProviderRefusedError, match="404"):
            self.embed(server, ["a"], error(404))

    def test_an_empty_batch_is_refused(self, server):
        with pytest.raises(ProviderError, match="at least one text"):
            OpenAiEmbedder(server.connection(), "e", batch=0)
