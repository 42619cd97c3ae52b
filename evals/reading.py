"""A reading: what an arm shows of the entries still in the context, in which order and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from evals.arms import Arm
from evals.errors import ArmError
from evals.prompts import Line
from ledger_core.harness.render import RENDERERS, ContextEntry, Renderer

Falsehoods = frozenset[str]


def _as_folded(entries: Sequence[ContextEntry], falsehoods: Falsehoods) -> list[ContextEntry]:  # noqa: ARG001 - one signature for all policies
    return list(entries)


def _nothing_retracted(entries: Sequence[ContextEntry], falsehoods: Falsehoods) -> list[ContextEntry]:  # noqa: ARG001 - as above
    return [replace(entry, invalidated=False, retracted=False) for entry in entries]


def _oracle_deletion(entries: Sequence[ContextEntry], falsehoods: Falsehoods) -> list[ContextEntry]:
    return [entry for entry in _nothing_retracted(entries, falsehoods) if entry.key not in falsehoods]


_RETRACTIONS: Mapping[str, Callable[[Sequence[ContextEntry], Falsehoods], list[ContextEntry]]] = MappingProxyType(
    {"used": _as_folded, "none": _nothing_retracted, "oracle-deletion": _oracle_deletion}
)

_SHOWS_ALL = frozenset({"flat"})
"""Renderers that know nothing of invalidation: a used retraction cuts the working set before them. The others say
themselves what becomes of an invalidated entry."""


def read(
    arm: Arm,
    entries: Sequence[ContextEntry],
    *,
    falsehoods: Falsehoods = frozenset(),
    renderers: Mapping[str, Renderer] = RENDERERS,
) -> tuple[Line, ...]:
    """The lines that ``arm`` shows.

    Args:
        arm: the row of the table.
        entries: entries still in the context, judged by the fold over the arm's edge source.
        falsehoods: keys that an oracle would delete; only `oracle-deletion` looks at them.
        renderers: renderer id -> renderer.

    Raises:
        ArmError: the arm names a renderer that is not there.
    """
    renderer = renderers.get(arm.renderer)
    if renderer is None:
        raise ArmError(f"arm {arm.display} needs the renderer {arm.renderer!r}; known: {', '.join(renderers)}")
    shown = _RETRACTIONS[arm.retraction](entries, falsehoods)
    if arm.renderer in _SHOWS_ALL:
        shown = [entry for entry in shown if not entry.invalidated]
    return tuple(Line(line.key, line.text) for line in renderer(shown, order=arm.order))
