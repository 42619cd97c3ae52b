"""Who answers an evaluation and who judges it: the local model and the scenarios, or a server's model.

A key comes from the environment and is never written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from evals.agents.accounting import Pace, Prices
    from evals.agents.base import Agent
    from evals.prompts import Tokenizer
    from ledger_core.providers import LlmProvider, OpenAiConnection

LOCAL = "local"
ORACLE = "oracle"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
_OPENAI_URL = "https://api.openai.com/v1"
_KIND = "openai"
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a server is asked. Everything is the user's own: nothing here knows a price or a limit."""

    url: str | None = None
    """Base URL, up to and including the version; None: the environment's, or OpenAI's own."""
    prices: Prices | None = None
    pace: Pace | None = None
    """One for everything that is asked under one limit."""
    attempts: int | None = None
    """Of one request, the first included; None: the connection's own number."""
    timeout_seconds: float | None = None
    """In which an answer has to be there; None: a minute."""

    def connection(self, key: str) -> OpenAiConnection:
        """The server, not yet reached.

        Raises:
            UsageError: no time to answer in.
        """
        from ledger_core.providers import OpenAiConnection, RetryPolicy

        seconds = self.timeout_seconds
        if seconds is not None and not 0 < seconds < float("inf"):
            raise UsageError(f"--timeout {seconds:g} leaves a server no time to answer; give seconds above 0")
        return OpenAiConnection(
            self.url or os.environ.get(URL_VARIABLE) or _OPENAI_URL,
            key,
            retry=None if self.attempts is None else RetryPolicy(attempts=self.attempts),
            timeout_seconds=_TIMEOUT_SECONDS if seconds is None else seconds,
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """An agent other than the local model, with the tokenizer that its prompts are assembled with."""

    agent: Agent
    tokenizer: Tokenizer
    account: Callable[[], Mapping[str, object]]
    """What it was asked so far: requests, tokens, faults, cost."""


@dataclass(frozen=True, slots=True)
class ChosenVerifier:
    """A model that says what contradicts what, in place of the scenarios."""

    llm: LlmProvider
    name: str
    """Model and server, without credentials."""
    account: Callable[[], Mapping[str, object]]


def chosen_agent(option: str, asking: Asking, cache: Path) -> Chosen | None:
    """The agent that ``--agent`` names; None for the local model.

    Args:
        option: ``local``, or ``openai:MODEL`` for a server that speaks OpenAI's chat completions.
        asking: where the server is and how it is asked.
        cache: folder of answers by everything that decides them.

    Raises:
        UsageError: neither of the two, or no key in the environment.
        AgentError: a model or server that no trial could name.
    """
    if option == LOCAL:
        return None
    model, key = _model_and_key("--agent", LOCAL, option)
    from evals.agents.accounting import Account
    from evals.agents.answer_cache import AnswerCache
    from evals.agents.openai import ChatSettings, OpenAiAgent

    agent = OpenAiAgent(
        asking.connection(key),
        ChatSettings(model=model),
        cache=AnswerCache(cache),
        account=Account(asking.prices),
        pace=asking.pace,
    )
    return Chosen(agent, agent.tokenizer, agent.account.document)


def chosen_verifier(option: str, asking: Asking) -> ChosenVerifier | None:
    """The verifier that ``--verifier`` names; None for the oracle, which is the scenarios' own word.

    Args:
        option: ``oracle``, or ``openai:MODEL`` for a server that speaks OpenAI's chat completions.
        asking: where the server is and how it is asked.

    Raises:
        UsageError: neither of the two, no key in the environment, or a name that no plan could hold.
    """
    if option == ORACLE:
        return None
    model, key = _model_and_key("--verifier", ORACLE, option)
    from evals.agents.accounting import Account, AccountedLlm
    from evals.agents.openai import address_of
    from ledger_core.kernel.text import MAX_FOREIGN_NAME_BYTES
    from ledger_core.providers import OpenAiLlm

    connection = asking.connection(key)
    name = f"{_KIND} {model} at {address_of(connection)}"
    if len(name.encode()) > MAX_FOREIGN_NAME_BYTES:
        raise UsageError(
            f"--verifier {option}: {name!r} is longer than the {MAX_FOREIGN_NAME_BYTES} bytes of a plan's name"
        )
    llm = AccountedLlm(OpenAiLlm(connection, model), connection, Account(asking.prices), asking.pace)
    return ChosenVerifier(llm, name, llm.account.document)


def _model_and_key(flag: str, own: str, option: str) -> tuple[str, str]:
    kind, colon, model = option.partition(":")
    if kind != _KIND or not colon or not model:
        raise UsageError(f"{flag} takes {own}, or openai:MODEL for a server; got {option!r}")
    key = os.environ.get(KEY_VARIABLE)
    if not key:
        raise UsageError(
            f"{flag} {option} needs a key in {KEY_VARIABLE}; any word does for a server that asks for none"
        )
    return model, key
