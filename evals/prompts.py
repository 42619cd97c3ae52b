"""Prompts as exact tokens: an append-only transcript whose every token belongs to an entry or to the template.

Every part is tokenised by itself and concatenated, so the tokens of an entry never depend on its neighbours and a
transcript with one more line begins with exactly the tokens of the shorter one. A whole trajectory is therefore one
sequence: claims are lines of it, and the question with the stem of its answer comes last and is template.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

from evals.errors import ArmError
from ledger_core.kernel import digests
from ledger_core.kernel.digests import DigestHex, Prefix

TEMPLATE = "notes-v1"
"""Name of this prompt format, for recipes; other words need another name."""

SYSTEM = "You answer questions from the notes."
INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "plain": SYSTEM,
        "prefer-later": f"{SYSTEM} Where notes disagree, prefer later ones, and those that another note confirms.",
    }
)
"""What the system message says, by the name in an arm's row."""
HEADING = "Notes:"
ASKING = "Question: "


class ChatFrame(Protocol):
    """Token ids around one chat message."""

    def opening(self, role: str) -> tuple[int, ...]:
        """Ids before a message's text."""
        ...

    @property
    def closing(self) -> tuple[int, ...]:
        """Ids after a message's text."""
        ...


class Tokenizer(Protocol):
    """What assembling a prompt needs of a model."""

    def tokenize(self, text: str, /) -> tuple[int, ...]:
        """Ids of ``text`` and of nothing else; a special token's spelling stays text."""
        ...

    @property
    def chat_template_pieces(self) -> ChatFrame:
        """The model's chat frame."""
        ...


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a prompt: text, or the frame that opens or closes a message."""

    form: Literal["text", "open", "close"]
    text: str = ""
    """The text, or the role of the message that is opened."""
    key: str | None = None
    """The entry whose line this is; None for template."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context."""

    key: str | None
    """Its entry; None where it is of several, as a summary is, and so belongs to the template."""
    text: str


@dataclass(frozen=True, slots=True)
class PromptRegion:
    """A run of tokens, half-open: one entry's line with its line break, or template."""

    start: int
    stop: int
    key: str | None
    text_stop: int
    """Where an entry's text ends and its line break begins; equal to ``stop`` in template."""


@dataclass(frozen=True, slots=True)
class AssembledPrompt:
    """Exact ids and the regions that tile them."""

    ids: tuple[int, ...]
    regions: tuple[PromptRegion, ...]

    @property
    def digest(self) -> DigestHex:
        """Identity of the ids: equal digests mean equal inputs."""
        return digests.domain_hex(Prefix.LAYOUT, b"prompt" + struct.pack(f">{len(self.ids)}I", *self.ids))

    def region(self, key: str) -> PromptRegion:
        """The region of the entry ``key``.

        Raises:
            ArmError: the entry is not in this prompt.
        """
        for region in self.regions:
            if region.key == key:
                return region
        raise ArmError(f"entry {key!r} is not in the prompt; it holds {', '.join(filter(None, self.keys)) or 'none'}")

    @property
    def keys(self) -> tuple[str, ...]:
        """Entries in the prompt, in order."""
        return tuple(region.key for region in self.regions if region.key is not None)


def context_segments(lines: Iterable[Line], instruction: str = SYSTEM) -> tuple[Segment, ...]:
    """The transcript so far: system message, an open user message, one line an entry.

    Raises:
        ArmError: two lines of one entry.
    """
    listed = tuple(lines)
    keys = [line.key for line in listed if line.key is not None]
    if len(set(keys)) != len(keys):
        raise ArmError("an entry has two lines in one context; render each entry once")
    head = (
        Segment("open", "system"),
        Segment("text", instruction),
        Segment("close"),
        Segment("open", "user"),
        Segment("text", HEADING),
        Segment("text", "\n"),
    )
    return (*head, *(segment for line in listed for segment in _of_line(line)))


def _of_line(line: Line) -> tuple[Segment, ...]:
    """A keyed segment gets its line break when it is assembled; template says its own."""
    told = Segment("text", line.text, line.key)
    return (told,) if line.key is not None else (told, Segment("text", "\n"))


def question_segments(question: str, stem: str) -> tuple[Segment, ...]:
    """What ends a transcript: the question, and the assistant's message up to the slot of the answer."""
    return (
        Segment("text", ASKING + question),
        Segment("close"),
        Segment("open", "assistant"),
        Segment("text", stem),
    )


def assemble(segments: Sequence[Segment], tokenizer: Tokenizer) -> AssembledPrompt:
    """Tokenise every segment by itself and concatenate; neighbouring template segments form one region."""
    frame = tokenizer.chat_template_pieces
    line_break = tokenizer.tokenize("\n")
    ids: list[int] = []
    regions: list[PromptRegion] = []
    for segment in segments:
        start = len(ids)
        ids.extend(_ids_of(segment, tokenizer, frame))
        text_stop = len(ids)
        if segment.key is not None:
            ids.extend(line_break)
        elif regions and regions[-1].key is None:
            start = regions.pop().start
        regions.append(PromptRegion(start, len(ids), segment.key, text_stop))
    return AssembledPrompt(tuple(ids), tuple(regions))


def _ids_of(segment: Segment, tokenizer: Tokenizer, frame: ChatFrame) -> tuple[int, ...]:
    if segment.form == "open":
        return frame.opening(segment.text)
    return frame.closing if segment.form == "close" else tokenizer.tokenize(segment.text)
