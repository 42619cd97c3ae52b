"""What a caller gives, as messages whose parts can be ablated: a context and a question, or a chat with tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from attribution.errors import InputError
from attribution.trajectory import ContextItem
from ledger_core.kernel.claims import split_sentences

ROLES = ("system", "user", "assistant", "tool")
Parts = Literal["sentence", "line", "word"] | Callable[[str], Sequence[str]]
"""How one text is taken apart: a name, or a function from the text to its parts in order, each of them a piece of the text."""
Asked = tuple[int | None, int | None, Sequence[tuple[int, int]] | None]
"""Start and stop of one span of the response, or several spans; none for every sentence."""
PROMPT = "Context: {context}\n\nQuery: {query}"
"""context-cite's default prompt: one user message."""
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]*\S[^\n]*")


@dataclass(frozen=True, slots=True)
class Message:
    """One message; a part without an entry is text that is never ablated."""

    role: str
    parts: tuple[ContextItem, ...]


def messages_of_context(
    context: str | Sequence[str], query: str, *, parts: Parts = "sentence", prompt: str | None = None
) -> list[Message]:
    """The question and the sources: each source a message of its own, or all of them in place in one user message.

    Args:
        context: sources; one text is taken apart by ``parts``.
        query: the question; it is never ablated.
        parts: how one text is taken apart. Words always stand in one message.
        prompt: a text with ``{context}`` once and ``{query}`` at most once: one user message that holds the sources in place.

    Raises:
        InputError: a source that is no text, a text without UTF-8, parts that are no pieces of the text, or a prompt
            without a place for the context.
    """
    _require_text(query, "query")
    if isinstance(context, str):
        _require_text(context, "context")
        spans = _spans(context, parts)
        whole = context
    else:
        sources = list(context)
        for number, source in enumerate(sources):
            _require_text(source, f"context[{number}]")
        whole, spans = _joined(sources)
    if prompt is None and parts == "word" and isinstance(context, str):
        prompt = PROMPT
    if prompt is not None:
        return [_in_place(whole, spans, query, prompt)]
    question = [Message("user", (ContextItem("query", "entry.given", "user", query, None),))] if query else []
    return [
        *question,
        *(
            Message("tool", (ContextItem(f"source-{number}", "entry.observed", "tool", whole[low:high], number),))
            for number, (low, high) in enumerate(spans)
        ),
    ]


def messages_of_chat(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Messages in OpenAI's chat form, their content a text or a list of text parts.

    A tool call and its result are one source; so is every other message, or every part of it. System messages are none, nor is
    the last question: the last user message, or its last part.

    Raises:
        InputError: no message, an unknown role, a content that is no text, or a result without its call.
    """
    if not messages:
        raise InputError("messages is empty; give at least the question as a user message")
    asked = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=None)
    units: dict[str, int] = {}
    found: list[Message] = []
    taken = 0
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        role = message.get("role")
        if role not in ROLES:
            raise InputError(f"{where} has the role {role!r}; choose one of {', '.join(ROLES)}")
        texts = _content(message.get("content"), f"{where}.content")
        owners: list[int | None]
        if role == "tool":
            call = message.get("tool_call_id")
            if call not in units:
                raise InputError(f"{where} answers the tool call {call!r}, which no earlier message makes")
            owners = [units[call]] * len(texts)
        elif role == "system":
            owners = [None] * len(texts)
        else:
            own = len(texts) - (place == asked)
            owners = [*range(taken, taken + own), *([None] if place == asked else [])]
            taken += max(own, 0)
        if texts:
            found.append(Message(role, _chat_parts(role, place, texts, owners)))
        for number, call in enumerate(message.get("tool_calls") or ()):
            identity, text = _call(call, f"{where}.tool_calls[{number}]")
            units[identity] = taken
            item = ContextItem(f"message-{place}-call-{number}", "claim", "assistant", text, taken)
            found.append(Message("assistant", (item,)))
            taken += 1
    return found


def claim_ranges(
    response: str, start: int | None = None, stop: int | None = None, spans: Sequence[tuple[int, int]] | None = None
) -> list[tuple[int, int]]:
    """UTF-8 byte ranges of the claims: the spans of characters that are asked about, else the sentences of ``response``.

    Raises:
        InputError: an empty response, only one of ``start`` and ``stop``, or a span that is empty or outside the response.
    """
    _require_text(response, "response")
    if not response.strip():
        raise InputError("the response is empty: there is no claim to attribute")
    if spans is not None and not (start is None and stop is None):
        raise InputError("give spans, or start and stop of one span, not both")
    if spans is None:
        if start is None and stop is None:
            encoded = response.encode()
            return [(low, high) for low, high in split_sentences(response) if encoded[low:high].strip()]
        if start is None or stop is None:
            missing = "start" if start is None else "stop"
            raise InputError(f"a span needs start and stop, in characters of the response; {missing} is missing")
        spans = [(start, stop)]
    if not spans:
        raise InputError("spans is empty; leave it out to attribute every sentence")
    for low, high in spans:
        if not 0 <= low < high <= len(response):
            raise InputError(f"the span [{low}, {high}) is not within a response of {len(response)} characters")
    return [(len(response[:low].encode()), len(response[:high].encode())) for low, high in spans]


def _in_place(whole: str, spans: Sequence[tuple[int, int]], query: str, prompt: str) -> Message:
    """One user message; each part takes the separator before it along, so that deleting it leaves no double one."""
    _require_text(prompt, "prompt")
    if prompt.count("{context}") != 1 or prompt.count("{query}") > 1:
        raise InputError(f"the prompt {prompt!r} needs {{context}} once and {{query}} at most once")
    before, after = prompt.split("{context}")
    # The question is filled in piece by piece: braces in a context or a query are text.
    before, after = before.replace("{query}", query), after.replace("{query}", query)
    first = spans[0][0] if spans else len(whole)
    last = spans[-1][1] if spans else len(whole)
    edges = [first, *(stop for _, stop in spans)]
    parts = [
        ContextItem(f"source-{number}", "entry.observed", "user", whole[low:high], number)
        for number, (low, high) in enumerate(pairwise(edges))
    ]
    return Message("user", (_fixed(before + whole[:first]), *parts, _fixed(whole[last:] + after)))


def _fixed(text: str) -> ContextItem:
    return ContextItem(None, "template", "user", text, None)


def _spans(text: str, parts: Parts) -> list[tuple[int, int]]:
    """Character ranges of the parts of ``text``, white space around them left out."""
    if parts == "sentence":
        encoded = text.encode()
        pieces = [encoded[low:high].decode().strip() for low, high in split_sentences(text)]
    elif parts == "line":
        pieces = [match.group().strip() for match in _LINE.finditer(text)]
    elif parts == "word":
        pieces = _WORD.findall(text)
    elif callable(parts):
        pieces = list(parts(text))
    else:
        raise InputError(f"parts is {parts!r}; choose sentence, line, word, or a function from a text to its parts")
    spans: list[tuple[int, int]] = []
    place = 0
    for number, piece in enumerate(pieces):
        _require_text(piece, f"part {number} of the context")
        start = text.find(piece, place)
        if start < 0:
            raise InputError(
                f"part {number} of the context, {piece[:60]!r}, is no piece of the text after the part before it"
            )
        place = start + len(piece)
        if piece:
            spans.append((start, place))
    return spans


def _joined(sources: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The sources as one text, a line break between them, and where each is."""
    spans: list[tuple[int, int]] = []
    place = 0
    for source in sources:
        spans.append((place, place + len(source)))
        place += len(source) + 1
    return "\n".join(sources), spans


def _content(content: Any, where: str) -> list[str]:
    """The text parts of a message's content; none where it says nothing."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        _require_text(content, where)
        return [content]
    if not isinstance(content, Sequence):
        raise InputError(f"{where} is {type(content).__name__}, neither text nor a list of text parts")
    texts = []
    for number, part in enumerate(content):
        if not isinstance(part, Mapping) or part.get("type") != "text":
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            raise InputError(f"{where}[{number}] is of type {kind!r}; only text can be attributed, leave it out")
        _require_text(part.get("text"), f"{where}[{number}].text")
        texts.append(part["text"])
    return [text for text in texts if text]


def _chat_parts(role: str, place: int, texts: Sequence[str], owners: Sequence[int | None]) -> tuple[ContextItem, ...]:
    kind = "entry.observed" if role == "tool" else "entry.given" if role != "assistant" else "claim"
    names = [f"message-{place}"] if len(texts) == 1 else [f"message-{place}-part-{n}" for n in range(len(texts))]
    return tuple(
        ContextItem(name, kind, role, text, owner) for name, text, owner in zip(names, texts, owners, strict=True)
    )


def _call(call: Any, where: str) -> tuple[str, str]:
    try:
        identity, function = call["id"], call["function"]
        name, arguments = function["name"], function["arguments"]
    except (KeyError, TypeError) as error:
        raise InputError(f"{where} lacks id, function.name or function.arguments") from error
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, sort_keys=True)
    _require_text(text, f"{where}.function.arguments")
    return str(identity), f"{name}({text})"


def _require_text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{where} is {type(value).__name__}, not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where} holds a lone surrogate at character {error.start}; it has no UTF-8") from None
