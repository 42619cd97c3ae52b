"""From judged entries to the lines of a context window.

| id | shows |
|---|---|
| `flat` | every text as logged: no ledger at all |
| `v1` | as logged, with tier and belief before every text, retracted entries marked `[RETRACTED]` |
| `v2` | a working set: invalidated entries vanish without a marker, no numbers, blocks by effective tier |
| `v2-marked` | `v2`, but invalidated entries stay in their block, marked `[RETRACTED]` |

The context window is a working set and not the record: showing a retraction there re-injects what was retracted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from ledger_core.harness.render.entries import ContextEntry, RenderedLine, RenderOrder
from ledger_core.kernel.types import U

RETRACTED = "[RETRACTED]"

_GIVEN, _VERIFIED, _LOCAL, _DERIVED, _CONJECTURE, _UNCORROBORATED = range(6)
_TAGS = ("", "[verified]", "[observed]", "[derived]", "[conjecture]", "[uncorroborated]")


class Renderer(Protocol):
    """Turns entries into lines, in the renderer's own order or as logged."""

    def __call__(self, entries: Sequence[ContextEntry], order: RenderOrder = "renderer") -> tuple[RenderedLine, ...]:
        """The lines of ``entries``."""
        ...


def render_flat(entries: Sequence[ContextEntry], order: RenderOrder = "renderer") -> tuple[RenderedLine, ...]:  # noqa: ARG001 - its own order is the log's
    """Every text as logged, nothing added, nothing left out."""
    return tuple(RenderedLine(entry.key, entry.text) for entry in _as_logged(entries))


def render_v1(entries: Sequence[ContextEntry], order: RenderOrder = "renderer") -> tuple[RenderedLine, ...]:  # noqa: ARG001 - its own order is the log's
    """Everything as logged with ``[tier belief]`` before it; retracted entries carry the marker as well."""
    return tuple(_line(entry, RETRACTED if entry.retracted else "", _v1_tag(entry)) for entry in _as_logged(entries))


def render_v2(entries: Sequence[ContextEntry], order: RenderOrder = "renderer") -> tuple[RenderedLine, ...]:
    """The working set: given, verified, sealed local, derived, conjecture, then uncorroborated external ones."""
    kept = [entry for entry in entries if not entry.invalidated]
    return tuple(_line(entry, _TAGS[_block(entry)]) for entry in _ordered(kept, order))


def render_v2_marked(entries: Sequence[ContextEntry], order: RenderOrder = "renderer") -> tuple[RenderedLine, ...]:
    """As :func:`render_v2`, but invalidated entries stay and are marked."""
    return tuple(
        _line(entry, RETRACTED if entry.invalidated else "", _TAGS[_block(entry)]) for entry in _ordered(entries, order)
    )


RENDERERS: Mapping[str, Renderer] = MappingProxyType(
    {"flat": render_flat, "v1": render_v1, "v2": render_v2, "v2-marked": render_v2_marked}
)
"""Renderer id, as `generation.recorded` states it -> renderer."""


def _as_logged(entries: Sequence[ContextEntry]) -> list[ContextEntry]:
    return sorted(entries, key=lambda entry: (entry.order, entry.key))


def _ordered(entries: Sequence[ContextEntry], order: RenderOrder) -> list[ContextEntry]:
    logged = _as_logged(entries)
    return logged if order == "log" else sorted(logged, key=_block_order)


def _block_order(entry: ContextEntry) -> tuple[int, int]:
    """Block, then belief descending; the sort is stable, so ties and what was given stay as logged."""
    return (_block(entry), -(entry.belief or 0))


def _block(entry: ContextEntry) -> int:
    """Block of the effective tier: the greater of the stored tier and what corroboration gives."""
    if entry.tier == "given":
        return _GIVEN
    if entry.tier == "sealed_verified" or entry.corroborated:
        return _VERIFIED
    if entry.tier == "derived":
        return _DERIVED
    if entry.tier == "conjecture":
        return _CONJECTURE
    return _UNCORROBORATED if entry.external else _LOCAL


def _v1_tag(entry: ContextEntry) -> str:
    if entry.belief is None:
        return f"[{entry.tier}]"
    hundredths = entry.belief * 100 // U
    return f"[{entry.tier} {hundredths // 100}.{hundredths % 100:02d}]"


def _line(entry: ContextEntry, *tags: str) -> RenderedLine:
    return RenderedLine(entry.key, " ".join((*(tag for tag in tags if tag), entry.text)))
