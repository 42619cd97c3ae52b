"""The context that a transcript builds up: which entries stand before a message, and which are ablated together."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ledger_core.kernel.claims import CiteKind, find_cites
from ledger_core.kernel.statements.entries import DeclaredParent
from ledger_core.kernel.statements.generation import ClaimRange, ContextRegion
from ledger_core.kernel.types import PPM

_TEMPLATE = None


@dataclass(slots=True)
class Call:
    """A tool call: the unit it opened, and what stands for it when it is cited."""

    unit: int
    entry: str
    """The call's claim; its result, once there is one."""
    tool: str
    arguments: tuple[bytes, str]


@dataclass(slots=True)
class Context:
    """Entries in the order of the conversation, with their units.

    The system prompt and the last user message (the question) are template: no unit. A tool call and its result share
    one; every other entry is its own.
    """

    _entries: list[tuple[str, int | None]] = field(default_factory=list)
    _units: int = 0
    _question: int | None = None
    """Index of the last user message."""
    _observed: list[str] = field(default_factory=list)
    _calls: dict[str | None, Call] = field(default_factory=dict)
    """The latest call under each id."""
    _unanswered: dict[str | None, deque[Call]] = field(default_factory=dict)
    """Calls of the last response that have no result yet: some sources give their calls equal ids, or none."""

    def add_system(self, entry: str) -> None:
        """A system prompt."""
        self._entries.append((entry, _TEMPLATE))

    def add_user(self, entry: str) -> None:
        """A user message: the question until another follows."""
        self._question = len(self._entries)
        self._entries.append((entry, self._new_unit()))

    def add_claim(self, entry: str) -> int:
        """A claim of an assistant; its unit."""
        unit = self._new_unit()
        self._entries.append((entry, unit))
        return unit

    def add_call(self, entry: str, call_id: str | None, tool: str, arguments: tuple[bytes, str]) -> None:
        """A tool call."""
        call = Call(self.add_claim(entry), entry, tool, arguments)
        self._calls[call_id] = call
        self._unanswered.setdefault(call_id, deque()).append(call)

    def begin_response(self) -> None:
        """A model call begins: results from now on answer its calls."""
        self._unanswered.clear()

    def call(self, call_id: str | None) -> Call | None:
        """The call that the next result under ``call_id`` answers; None where the transcript shows none."""
        waiting = self._unanswered.get(call_id)
        return waiting[0] if waiting else self._calls.get(call_id)

    def add_result(self, entry: str, call_id: str | None) -> None:
        """A tool's result, in the unit of its call where the transcript shows one."""
        call = self.call(call_id)
        waiting = self._unanswered.get(call_id)
        if waiting:
            waiting.popleft()
        self._observed.append(entry)
        if call is None:
            self._entries.append((entry, self._new_unit()))
            return
        self._entries.append((entry, call.unit))
        call.entry = entry

    def regions(self) -> tuple[ContextRegion, ...]:
        """The context of the next model call, its units numbered from 0 in order of appearance."""
        numbers: dict[int, int] = {}
        regions = []
        for index, (entry, unit) in enumerate(self._entries):
            is_template = unit is None or index == self._question
            number = None if is_template or unit is None else numbers.setdefault(unit, len(numbers))
            regions.append(ContextRegion(entry=entry, token_start=None, token_stop=None, unit=number))
        return tuple(regions)

    def parents(self, response: str, claims: tuple[ClaimRange, ...]) -> tuple[tuple[DeclaredParent, ...], ...]:
        """What each claim says it rests on.

        ``[n]`` is the n-th tool result of the conversation, ``[entry:…]`` an entry by its id, a tool call's id its
        result. A number in a tool call's arguments cites nothing: there it is a JSON array.
        """
        cited: list[set[str]] = [set() for _ in claims]
        index = 0
        for cite in find_cites(response, [call_id for call_id in self._calls if call_id and call_id in response]):
            while index < len(claims) and claims[index].byte_stop <= cite.start:
                index += 1
            if index == len(claims) or cite.start < claims[index].byte_start:
                continue
            if cite.kind is CiteKind.NUMBER and claims[index].form == "tool_call":
                continue
            entry = self._cited(cite.kind, cite.value)
            if entry is not None:
                cited[index].add(entry)
        return tuple(tuple(DeclaredParent(entry=entry, ppm=PPM) for entry in sorted(each)) for each in cited)

    def _cited(self, kind: CiteKind, value: str) -> str | None:
        """The one entry that a citation means; None where it means none or several."""
        if kind is CiteKind.NUMBER:
            number = int(value)
            return self._observed[number - 1] if 1 <= number <= len(self._observed) else None
        if kind is CiteKind.CALL:
            return self._calls[value].entry
        found = {entry for entry, _ in self._entries if entry.startswith(value)}
        return found.pop() if len(found) == 1 else None

    def _new_unit(self) -> int:
        self._units += 1
        return self._units
