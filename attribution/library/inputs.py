"""What a caller gives, as messages whose parts can be ablated: a context and a question, or a chat with tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attribution.errors import InputError
from attribution.trajectory import ContextItem
from ledger_core.kernel.claims import split_sentences

ROLES = ("system", "user", "assistant", "tool")


def items_of_context(context: str | Sequence[str], query: str) -> list[ContextItem]:
    """The question, then each source as a message of its own.

    Args:
        context: sources; one text is split into its sentences.
        query: the question; it is never ablated.

    Raises:
        InputError: a source that is no text, or a text without UTF-8.
    """
    sources = _sentences(context, "context") if isinstance(context, str) else list(context)
    for number, source in enumerate(sources):
        _require_text(source, f"context[{number}]")
    _require_text(query, "query")
    question = [ContextItem("query", "entry.given", "user", query, None)] if query else []
    return [
        *question,
        *(
            ContextItem(f"source-{number}", "entry.observed", "tool", source, number)
            for number, source in enumerate(sources)
        ),
    ]


def items_of_messages(messages: Sequence[Mapping[str, Any]]) -> list[ContextItem]:
    """Messages in OpenAI's chat form. A tool call and its result are one unit; system messages and the last question are none.

    Raises:
        InputError: no message, an unknown role, a content that is no text, or a result without its call.
    """
    if not messages:
        raise InputError("messages is empty; give at least the question as a user message")
    asked = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=None)
    units: dict[str, int] = {}
    items: list[ContextItem] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        role = message.get("role")
        if role not in ROLES:
            raise InputError(f"{where} has the role {role!r}; choose one of {', '.join(ROLES)}")
        content = message.get("content")
        if content is not None:
            _require_text(content, f"{where}.content")
        if role == "tool":
            call = message.get("tool_call_id")
            if call not in units:
                raise InputError(f"{where} answers the tool call {call!r}, which no earlier message makes")
            unit: int | None = units[call]
        else:
            unit = None if role == "system" or place == asked else _next(items)
        if content:
            kind = "entry.observed" if role == "tool" else "entry.given" if role != "assistant" else "claim"
            items.append(ContextItem(f"message-{place}", kind, role, content, unit))
        for number, call in enumerate(message.get("tool_calls") or ()):
            identity, text = _call(call, f"{where}.tool_calls[{number}]")
            units[identity] = _next(items)
            items.append(ContextItem(f"message-{place}-call-{number}", "claim", "assistant", text, units[identity]))
    return items


def claim_ranges(response: str, start: int | None, stop: int | None) -> list[tuple[int, int]]:
    """UTF-8 byte ranges of the claims: the sentences of ``response``, or the one span of characters ``[start, stop)``.

    Raises:
        InputError: an empty response, only one of ``start`` and ``stop``, or a span that is empty or outside the response.
    """
    _require_text(response, "response")
    if not response.strip():
        raise InputError("the response is empty: there is no claim to attribute")
    if start is None and stop is None:
        encoded = response.encode()
        return [(low, high) for low, high in split_sentences(response) if encoded[low:high].strip()]
    if start is None or stop is None:
        missing = "start" if start is None else "stop"
        raise InputError(f"a span needs start and stop, in characters of the response; {missing} is missing")
    if not 0 <= start < stop <= len(response):
        raise InputError(f"the span [{start}, {stop}) is not within a response of {len(response)} characters")
    return [(len(response[:start].encode()), len(response[:stop].encode()))]


def _next(items: Sequence[ContextItem]) -> int:
    return 1 + max((item.unit for item in items if item.unit is not None), default=-1)


def _call(call: Any, where: str) -> tuple[str, str]:
    try:
        identity, function = call["id"], call["function"]
        name, arguments = function["name"], function["arguments"]
    except (KeyError, TypeError) as error:
        raise InputError(f"{where} lacks id, function.name or function.arguments") from error
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, sort_keys=True)
    _require_text(text, f"{where}.function.arguments")
    return str(identity), f"{name}({text})"


def _sentences(text: str, where: str) -> list[str]:
    _require_text(text, where)
    encoded = text.encode()
    parts = [encoded[low:high].decode().strip() for low, high in split_sentences(text)]
    return [part for part in parts if part]


def _require_text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{where} is {type(value).__name__}, not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where} holds a lone surrogate at character {error.start}; it has no UTF-8") from None
