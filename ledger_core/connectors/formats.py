"""The formats that can be imported, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ledger_core.connectors.chat import read_chat
from ledger_core.connectors.inspect_logs import read_inspect
from ledger_core.connectors.tau_bench import read_tau_bench
from ledger_core.connectors.transcript import Reading
from ledger_core.kernel.errors import ConnectorError


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    name: str
    summary: str
    read: Callable[[Path], Reading]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        each.name: each
        for each in (
            Format("chat", "OpenAI chat JSONL: one conversation a line", read_chat),
            Format("tau-bench", "tau-bench results: a JSON list of trials", read_tau_bench),
            Format("inspect", "Inspect evaluation logs: .json or .eval", read_inspect),
        )
    }
)


def format_named(name: str) -> Format:
    """The format called ``name``; raises :class:`ConnectorError` listing the known names."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConnectorError(f"no transcript format is called {name!r}; known: {', '.join(FORMATS)}") from None
