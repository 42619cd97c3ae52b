"""Who answers an evaluation: the local model, or a server's. The key comes from the environment and is never written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from evals.agents.base import Agent
    from evals.prompts import Tokenizer

LOCAL = "local"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
_OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Chosen:
    """An agent other than the local model, with the tokenizer that its prompts are assembled with."""

    agent: Agent
    tokenizer: Tokenizer
    account: Callable[[], Mapping[str, object]]
    """What it was asked so far: requests, tokens, faults, cost."""


def chosen_agent(option: str, url: str | None, cache: Path) -> Chosen | None:
    """The agent that ``--agent`` names; None for the local model.

    Args:
        option: ``local``, or ``openai:MODEL`` for a server that speaks OpenAI's chat completions.
        url: its base URL, up to and including the version; None: the environment's, or OpenAI's own.
        cache: folder of answers by everything that decides them.

    Raises:
        UsageError: neither of the two, or no key in the environment.
        AgentError: a model or server that no trial could name.
    """
    if option == LOCAL:
        return None
    kind, colon, model = option.partition(":")
    make = _SERVERS.get(kind)
    if make is None or not colon or not model:
        raise UsageError(f"--agent takes local, or openai:MODEL for a server; got {option!r}")
    key = os.environ.get(KEY_VARIABLE)
    if not key:
        raise UsageError(
            f"--agent {option} needs a key in {KEY_VARIABLE}; any word does for a server that asks for none"
        )
    return make(model, url or os.environ.get(URL_VARIABLE) or _OPENAI_URL, key, cache)


def _openai(model: str, url: str, key: str, cache: Path) -> Chosen:
    from evals.agents.answer_cache import AnswerCache
    from evals.agents.openai import ChatSettings, OpenAiAgent
    from ledger_core.providers import OpenAiConnection

    agent = OpenAiAgent(OpenAiConnection(url, key), ChatSettings(model=model), cache=AnswerCache(cache))
    return Chosen(agent, agent.tokenizer, agent.account.document)


_SERVERS: Mapping[str, Callable[[str, str, str, Path], Chosen]] = MappingProxyType({"openai": _openai})
