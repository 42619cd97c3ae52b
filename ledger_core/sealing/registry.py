"""Registered tools: what a tool may do, where its results come from, and how a result is fetched again.

Everything that gives a seal its weight is stated here, by whoever runs the boundary, before any call: a caller names a
tool and its arguments and nothing else. The registration is a canonical record; its digest stands in every seal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import model_validator

from ledger_core.kernel import digests
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.errors import ToolError
from ledger_core.kernel.records import Record
from ledger_core.kernel.types import Family, ForeignName, Items, Pointer, ascending

Function = Callable[..., Any]
"""A sync or async callable that takes the call's arguments by name."""

Determinism = Literal["deterministic", "nondeterministic", "unknown"]
Effect = Literal["read_only", "mutating"]
OriginRule = Literal["fixed", "final_peer", "none"]
Procedure = Literal["tool_call", "http_get"]
Reach = Literal["external_read", "local"]
Runner = Literal["live", "simulated"]

_INVENTED = ".example"


class ToolRegistration(Record):
    """What the boundary knows about a tool; callers cannot change any of it."""

    determinism: Determinism
    effect: Effect
    name: ForeignName
    origin: OriginRule
    """`fixed`: every result is of `origin_host`; `final_peer`: of the host that answered last; `none`: local tools."""
    origin_host: ForeignName | None
    predicate_family: Family
    procedure: Procedure
    reach: Reach
    records: Pointer | None
    """Where a JSON result holds an array of records: each becomes an observation of its own."""
    runner: Runner
    secret_refs: Items[ForeignName]
    """Names of the secrets that the tool is given, never their values."""
    source_id: ForeignName
    version: ForeignName
    """Changes with the tool's code: a result is fetched again only by the version that gave it."""

    @model_validator(mode="after")
    def _origin_is_consistent(self) -> ToolRegistration:
        if (self.reach == "local") != (self.origin == "none"):
            raise ValueError("a local tool has the origin `none`, an external one `fixed` or `final_peer`")
        if (self.origin == "fixed") != (self.origin_host is not None):
            raise ValueError("an origin host is given with the origin `fixed` and with no other")
        if self.runner == "simulated" and (self.origin_host is None or not self.origin_host.endswith(_INVENTED)):
            raise ValueError(f"a simulated tool has a fixed host below {_INVENTED!r}: what it says has no real origin")
        ascending("secret references", self.secret_refs)
        return self

    def digest(self) -> DigestHex:
        """Identity of the registration, as seals state it."""
        return digests.domain_hex(Prefix.CONFIG, self.canonical_bytes())


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A registration with the code that it speaks of."""

    registration: ToolRegistration
    function: Function
    timeout_seconds: float | None = None
    """After that the call is sealed as a timeout; None waits for ever."""


def register(
    name: str,
    function: Function,
    *,
    effect: Effect,
    reach: Reach,
    determinism: Determinism,
    origin_host: str | None = None,
    source_id: str | None = None,
    predicate_family: str = "*",
    records: str | None = None,
    secret_refs: Iterable[str] = (),
    procedure: Procedure = "tool_call",
    runner: Runner = "live",
    version: str = "1",
    timeout_seconds: float | None = None,
) -> RegisteredTool:
    """A tool for a :class:`ToolRegistry`.

    An external tool without ``origin_host`` is of its final peer and has to report one with every result. ``source_id``
    is the tool's name unless given.

    Raises:
        StatementError: names the first field that is wrong, or the two that contradict each other.
    """
    origin: OriginRule = "none" if reach == "local" else "final_peer"
    registration = ToolRegistration.make(
        determinism=determinism,
        effect=effect,
        name=name,
        origin="fixed" if origin_host is not None else origin,
        origin_host=origin_host,
        predicate_family=predicate_family,
        procedure=procedure,
        reach=reach,
        records=records,
        runner=runner,
        secret_refs=tuple(sorted(set(secret_refs))),
        source_id=name if source_id is None else source_id,
        version=version,
    )
    return RegisteredTool(registration, function, timeout_seconds)


class ToolRegistry:
    """The tools of one boundary, each name once."""

    def __init__(self, tools: Iterable[RegisteredTool]) -> None:
        """Of ``tools``; raises :class:`ToolError` for a name that is given twice."""
        by_name: dict[str, RegisteredTool] = {}
        for tool in tools:
            if by_name.setdefault(tool.registration.name, tool) is not tool:
                raise ToolError(f"the tool {tool.registration.name!r} is registered twice; give one another name")
        self._by_name = MappingProxyType(by_name)

    def __iter__(self) -> Iterator[RegisteredTool]:
        return iter(self._by_name.values())

    def tool(self, name: str) -> RegisteredTool:
        """The tool called ``name``; raises :class:`ToolError` listing those there are."""
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(sorted(self._by_name)) or "none"
            raise ToolError(f"no tool is registered as {name!r}; registered: {known}") from None

    def by_digest(self, digest: str | None) -> RegisteredTool | None:
        """The tool whose registration has ``digest``, unchanged since; None where there is none."""
        return next((tool for tool in self if tool.registration.digest() == digest), None)
