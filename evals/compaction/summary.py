"""A neutral summary by the agent itself: it is asked to sum up its notes, and told nothing of what matters in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from evals.agents.base import Answer, Fault
from evals.errors import AgentError
from evals.prompts import AssembledPrompt, Line, Tokenizer, assemble, context_segments, question_segments

INSTRUCTION = "You keep notes short."
REQUEST = "Sum up these notes in a few sentences."
STEM = "In short, the notes say that"
"""The summary begins in the middle of a sentence: after a whole one the small model has nothing more to say."""


@runtime_checkable
class Summariser(Protocol):
    """An agent that can sum up notes; equal prompts get equal summaries."""

    def summarise(self, prompt: AssembledPrompt) -> Answer | Fault:
        """The continuation of ``prompt``: a few sentences on one line."""
        ...


class SummaryError(AgentError):
    """The agent gave no summary: the trial's outcome is an error, and the run goes on."""

    def __init__(self, reason: str, prompt: AssembledPrompt) -> None:
        """Of ``prompt``, whose digest the trial record holds."""
        super().__init__(reason)
        self.prompt = prompt


def summary_of(lines: Sequence[Line], agent: object, tokenizer: Tokenizer) -> Line:
    """The agent's summary of ``lines``, with the words it was made to begin with, as one line that names no entry.

    Raises:
        SummaryError: the agent failed, said nothing, or cannot sum up.
    """
    segments = (*context_segments(lines, INSTRUCTION), *question_segments(REQUEST, STEM))
    prompt = assemble(segments, tokenizer)
    if not isinstance(agent, Summariser):
        raise SummaryError("this agent cannot sum up notes; leave out the arms whose compaction is `summary`", prompt)
    said = agent.summarise(prompt)
    if isinstance(said, Fault):
        raise SummaryError(said.reason, prompt)
    text = " ".join(said.text.split())
    if not text:
        raise SummaryError("the summary is empty", prompt)
    return Line(None, f"{STEM} {text}")
