"""From messages to token ids and regions: the prompt exactly as the model reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from attribution.errors import InputError
from attribution.library.inputs import Message
from attribution.trajectory import ContextItem

if TYPE_CHECKING:
    from attribution.library.served import ServedModel
    from attribution.models import ChatPieces, LanguageModel

IN_PLACE = "chatml-in-place-v1"
"""Name of the layout in which several sources share a message; floors of the one for separate messages do not hold for it."""

_TEMPLATE = ContextItem(None, "template", "system", "", None)


def place(
    messages: Sequence[Message], language: LanguageModel | ServedModel, chat: ChatPieces
) -> tuple[tuple[ContextItem, ...], tuple[int, ...]]:
    """The context with token bounds, and the prompt's ids up to where the assistant speaks.

    A message is tokenised whole, and a token belongs to the part that holds its last byte: the ids are those that the model
    would see of the same text written in one piece.

    Raises:
        InputError: a source that lies inside one token.
    """
    ids: list[int] = []
    placed: list[ContextItem] = []

    def add(item: ContextItem, tokens: Sequence[int]) -> None:
        placed.append(replace(item, token_start=len(ids), token_stop=len(ids) + len(tokens)))
        ids.extend(tokens)

    for message in messages:
        add(_TEMPLATE, chat.opening(message.role))
        for item, tokens in _divided(message.parts, language.tokenize, language.token_bytes):
            add(item, tokens)
        add(_TEMPLATE, chat.closing)
    add(_TEMPLATE, chat.opening("assistant"))
    return tuple(placed), tuple(ids)


def _divided(
    parts: Sequence[ContextItem], tokenize: Callable[[str], tuple[int, ...]], token_bytes: Callable[[int], bytes]
) -> Iterator[tuple[ContextItem, tuple[int, ...]]]:
    """Each part with its tokens; its text becomes what these tokens spell, so that a swap keeps the space before a word."""
    tokens = tokenize("".join(part.text for part in parts))
    ends = list(accumulate(len(token_bytes(token)) for token in tokens))
    read, stop = 0, 0
    for part in parts:
        stop += len(part.text.encode())
        own = read
        while own < len(ends) and ends[own] <= stop:
            own += 1
        mine = tokens[read:own]
        if part.text and not mine and part.entry is not None:
            raise InputError(f"the source {part.text[:60]!r} lies inside one token; take the context apart at words")
        spelled = b"".join(token_bytes(token) for token in mine)
        yield replace(part, text=spelled.decode("utf-8", "replace")), mine
        read = own
