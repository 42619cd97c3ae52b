"""Messages in the shape of OpenAI's chat API, with the variations found in the wild.

Roles are a table. Content is text, null, or a list of parts; a part that is no text leaves a marker with its digest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ledger_core.connectors.reading import canonical, describe, mapping, optional_text, record_digest, sequence
from ledger_core.connectors.transcript import Message, Outcome, RecordError, Role, ToolCall
from ledger_core.kernel import jcs
from ledger_core.kernel.errors import JcsProfileError

ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "system": "system",
        "developer": "system",
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
        "function": "tool",
    }
)
"""A message's role as it is written -> what it is here."""

_TEXT_PARTS: Mapping[str, str] = MappingProxyType(
    {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
)
"""Type of a content part that is text -> where the text stands."""
_UNSPOKEN_PARTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Parts that no later turn shows: not what was said."""
_MARKER_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a source's messages differ from OpenAI's."""

    outcome: Callable[[Mapping[str, object], str], Outcome] = lambda _message, _text: "ok"
    """Of a tool message and its text."""
    text: Callable[[Mapping[str, object]], object] = lambda message: message.get("content")
    """The content of a message."""


OPENAI = Dialect()


def read_messages(value: object, dialect: Dialect = OPENAI) -> tuple[Message, ...]:
    """The messages of one conversation.

    Raises:
        RecordError: names the message by its index and what is wrong with it.
    """
    messages = []
    for index, item in enumerate(sequence(value, "`messages`")):
        try:
            messages.append(_message(mapping(item, "it"), dialect))
        except RecordError as error:
            raise RecordError(f"message {index}: {error}") from error
    if not messages:
        raise RecordError("holds no messages")
    return tuple(messages)


def _message(message: Mapping[str, object], dialect: Dialect) -> Message:
    stated = message.get("role")
    role = ROLES.get(stated) if isinstance(stated, str) else None
    if role is None:
        raise RecordError(f"its role is {stated!r:.40}; known: {', '.join(ROLES)}")
    text = content_text(dialect.text(message))
    if role == "tool":
        return Message(
            role=role,
            text=text,
            answers=optional_text(message.get("tool_call_id")),
            tool=optional_text(message.get("name")) or optional_text(message.get("function")),
            outcome=dialect.outcome(message, text),
        )
    if role == "assistant":
        return Message(
            role=role,
            text=text or content_text(message.get("refusal")),
            calls=_calls(message),
            model=optional_text(message.get("model")),
        )
    return Message(role=role, text=text)


def content_text(content: object) -> str:
    """The text of a message's content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _part(content)
    if isinstance(content, list):
        return "\n".join(part for part in map(_part, content) if part)
    raise RecordError(f"its content is {describe(content)}, not text, null or a list of parts")


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    part = mapping(part, "a content part")
    kind = part.get("type", "text")
    if not isinstance(kind, str):
        raise RecordError(f"a content part's type is {describe(kind)}, not a string")
    if kind in _UNSPOKEN_PARTS:
        return ""
    text = part.get(_TEXT_PARTS.get(kind, ""))
    if isinstance(text, str):
        return text
    name = kind if kind.replace("_", "").isalnum() else "part"
    return f"[{name[:_MARKER_DIGITS]} omitted: {record_digest(part)[:_MARKER_DIGITS]}]"


def _calls(message: Mapping[str, object]) -> tuple[ToolCall, ...]:
    calls = [_call(mapping(call, "a tool call")) for call in sequence(message.get("tool_calls") or [], "`tool_calls`")]
    legacy = message.get("function_call")
    if legacy:
        function = mapping(legacy, "`function_call`")
        calls.append(_named(function.get("name"), function.get("arguments"), None))
    return tuple(calls)


def _call(call: Mapping[str, object]) -> ToolCall:
    """A call whose function is an object (OpenAI), a custom tool, or a name beside its arguments (Inspect)."""
    call_id = optional_text(call.get("id"))
    function = call.get("function")
    if isinstance(function, dict):
        return _named(function.get("name"), function.get("arguments"), call_id)
    custom = call.get("custom")
    if isinstance(custom, dict):
        return _named(custom.get("name"), custom.get("input"), call_id)
    return _named(function, call.get("arguments"), call_id)


def _named(name: object, arguments: object, call_id: str | None) -> ToolCall:
    if not isinstance(name, str) or not name:
        raise RecordError(f"a tool call's function name is {describe(name)}, not a string with a name")
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    return ToolCall(name=name, arguments=arguments, call_id=call_id)


def _parsed(arguments: str) -> object:
    """Arguments as JSON where RFC 8785 admits them, else as the text they are."""
    try:
        return jcs.parse(arguments.encode())
    except JcsProfileError:
        return arguments


def call_json(call: ToolCall) -> str:
    """The canonical JSON of a call: what the claim made by it says."""
    return canonical({"name": call.name, "arguments": call.arguments}).decode()
