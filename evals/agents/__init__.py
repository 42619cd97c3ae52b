"""Agents: who answers a scenario's question. `local` is the evidence; `scripted` serves tests only."""

from evals.agents.base import Agent, Answer, Choice, Fault
from evals.agents.local import LocalAgent

__all__ = ["Agent", "Answer", "Choice", "Fault", "LocalAgent"]
