"""Agents: who answers a scenario's question. `local` is the evidence, `openai` a server's model; `scripted` serves tests only."""

from evals.agents.accounting import Account, Pace, Prices
from evals.agents.base import Agent, Answer, Choice, Fault
from evals.agents.local import LocalAgent
from evals.agents.openai import ChatSettings, OpenAiAgent

__all__ = [
    "Account",
    "Agent",
    "Answer",
    "ChatSettings",
    "Choice",
    "Fault",
    "LocalAgent",
    "OpenAiAgent",
    "Pace",
    "Prices",
]
