"""Prompts for agents that take text: ids that stand for bytes, from which the messages are read back.

A server has a tokenizer of its own, so exact ids of another model would mean nothing to it. These ids mean the text
exactly: equal digests of two prompts still mean equal inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from evals.errors import AgentError
from evals.prompts import AssembledPrompt
from ledger_core.providers import Message

BEGIN = "Answer in one short sentence that begins with these words: {stem}"
"""How a chat model, which cannot be made to continue a sentence, is asked for one with a given beginning."""

_BYTES = 256
_CLOSE = _BYTES
_ROLES = ("system", "user", "assistant")
_OPEN = {role: _BYTES + 1 + place for place, role in enumerate(_ROLES)}


@dataclass(frozen=True, slots=True)
class TextFrame:
    """Ids around one message: one for each role, one for the end."""

    @property
    def closing(self) -> tuple[int, ...]:
        """The id after a message's text."""
        return (_CLOSE,)

    def opening(self, role: str) -> tuple[int, ...]:
        """The id before the text of a message of ``role``.

        Raises:
            AgentError: a role that a chat does not have.
        """
        if role not in _OPEN:
            raise AgentError(f"a chat has no role {role!r}; it has {', '.join(_ROLES)}")
        return (_OPEN[role],)


class TextTokenizer:
    """One id a byte of UTF-8, and the frame; a :class:`~evals.prompts.Tokenizer`."""

    chat_template_pieces = TextFrame()

    def tokenize(self, text: str, /) -> tuple[int, ...]:
        """The bytes of ``text``."""
        return tuple(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt as a chat takes it."""

    messages: tuple[Message, ...]
    stem: str
    """The words that the answer was to begin with; the last message asks for them."""


def asked(prompt: AssembledPrompt) -> Asked:
    """The messages of a prompt that was assembled with :class:`TextTokenizer`; an open last message becomes a request.

    Raises:
        AgentError: ids of another tokenizer, or a prompt that does not end in an open message of the assistant.
    """
    parts: list[tuple[str, bytearray, bool]] = []
    roles = {opening: role for role, opening in _OPEN.items()}
    for token in prompt.ids:
        if token in roles:
            parts.append((roles[token], bytearray(), False))
        elif parts and token == _CLOSE:
            role, text, _ = parts[-1]
            parts[-1] = (role, text, True)
        elif parts and 0 <= token < _BYTES and not parts[-1][2]:
            parts[-1][1].append(token)
        else:
            raise AgentError("the prompt holds ids of another tokenizer; assemble it with this agent's own")
    if len(parts) < 2 or parts[-1][0] != "assistant" or parts[-1][2] or parts[-2][0] != "user":  # noqa: PLR2004
        raise AgentError("the prompt does not end in a question and the beginning of its answer")
    *before, (_, stem_bytes, _) = parts
    stem = stem_bytes.decode("utf-8", "replace").strip()
    messages = [Message(role, text.decode("utf-8", "replace")) for role, text, _ in before]  # type: ignore[arg-type]
    if stem:
        messages[-1] = Message("user", f"{messages[-1].content}\n{BEGIN.format(stem=stem)}")
    return Asked(tuple(messages), stem)


def without_stem(text: str, stem: str) -> str:
    """``text`` without the words it was to begin with, if it does: what a continuation would have been."""
    said = text.lstrip().lstrip("\"“'")
    return said[len(stem) :] if stem and said.casefold().startswith(stem.casefold()) else text
