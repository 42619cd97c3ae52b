"""A verifier's requests are counted like an agent's: answers, failures, retries, money."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evals.agents.accounting import Account, AccountedLlm, Pace, Prices
from ledger_core.kernel.errors import ProviderError
from ledger_core.providers import Message, OpenAiLlm, RetryPolicy
from tests.ledger_core.providers.local_server import Reply, chat, error

MESSAGES = (Message("user", "Do they contradict?"),)


def accounted(server, pace=None, attempts=2):
    connection = server.connection(retry=RetryPolicy(attempts=attempts, first_wait=0.0))
    account = Account(Prices(Decimal("0.15"), Decimal("0.60"), "EUR"))
    return AccountedLlm(OpenAiLlm(connection, "judge"), connection, account, pace)


def test_answers_retries_and_failures_are_counted_and_a_failure_is_raised(server):
    llm = accounted(server)
    server.replies = [error(503), chat("yes"), error(503), error(503)]
    assert llm.complete(MESSAGES, max_tokens=4).text == "yes"
    with pytest.raises(ProviderError):
        llm.complete(MESSAGES, max_tokens=4)
    found = llm.account.document()
    assert (found["answered"], found["retries"], sum(found["faults"].values())) == (1, 2, 1)
    assert found["currency"] == "EUR"
    assert llm.model == "judge"


def test_what_servers_report_is_priced(server):
    llm = accounted(server)
    body = chat("no").body | {
        "usage": {"prompt_tokens": 2_000_000, "completion_tokens": 500_000, "total_tokens": 2_500_000}
    }
    server.replies = [Reply(body=body)]
    llm.complete(MESSAGES, max_tokens=4)
    assert llm.account.document()["cost"] == "0.6"


def test_requests_wait_for_their_turn(server):
    waited = []
    llm = accounted(server, Pace(requests_per_minute=30.0, clock=lambda: sum(waited), sleep=waited.append))
    server.rule = lambda _: chat("no")
    for _ in range(3):
        llm.complete(MESSAGES, max_tokens=4)
    assert waited == [2.0, 2.0]
