"""A reading: what an arm shows of the entries still in the context, in which order and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evals.arms import Arm
from evals.errors import ArmError
from evals.mentions import READERS, ValueKind
from evals.prompts import Line
from evals.scenarios.draw import Draw
from ledger_core.harness.render import RENDERERS, ContextEntry, RenderedLine, Renderer
from ledger_core.kernel.statements import CLAIM_KINDS


@dataclass(frozen=True, slots=True)
class Known:
    """What a reading may know beside the entries; each policy looks at its own part only."""

    falsehoods: frozenset[str] = frozenset()
    """Keys that an oracle would delete."""
    label: str = ""
    """Seeds a random order."""
    kind: ValueKind | None = None
    """What sort of value the question asks for."""
    vocabulary: tuple[str, ...] = ()
    """The closed list that such a value is of, where there is one."""


NOTHING = Known()

_Entries = Sequence[ContextEntry]
_Policy = Callable[[_Entries, Known], list[ContextEntry]]


def _as_folded(entries: _Entries, known: Known) -> list[ContextEntry]:  # noqa: ARG001 - one signature for all policies
    return list(entries)


def _nothing_retracted(entries: _Entries, known: Known) -> list[ContextEntry]:  # noqa: ARG001 - as above
    return [replace(entry, invalidated=False, retracted=False) for entry in entries]


def _oracle_deletion(entries: _Entries, known: Known) -> list[ContextEntry]:
    return [entry for entry in _nothing_retracted(entries, known) if entry.key not in known.falsehoods]


def _latest_wins(entries: _Entries, known: Known) -> list[ContextEntry]:
    """Without what states other values than the last observation that states one; a script, which asks no ledger."""
    shown = _nothing_retracted(entries, known)
    if known.kind is None:
        return shown
    reader = READERS[known.kind]
    stated = {entry.key: {found.value for found in reader(entry.text, known.vocabulary)} for entry in shown}
    observed = [entry for entry in shown if stated[entry.key] and entry.kind not in CLAIM_KINDS]
    if not observed:
        return shown
    latest = stated[max(observed, key=lambda entry: entry.order).key]
    return [entry for entry in shown if not stated[entry.key] or stated[entry.key] & latest]


_RETRACTIONS: Mapping[str, _Policy] = MappingProxyType(
    {
        "used": _as_folded,
        "none": _nothing_retracted,
        "oracle-deletion": _oracle_deletion,
        "latest-wins": _latest_wins,
    }
)


def _stored_tiers(entries: _Entries, known: Known) -> list[ContextEntry]:  # noqa: ARG001 - as above
    return [replace(entry, corroborated=False) for entry in entries]


_CORROBORATIONS: Mapping[str, _Policy] = MappingProxyType({"used": _as_folded, "ignored": _stored_tiers})

_Ordering = Callable[[Renderer, _Entries, Known], Sequence[RenderedLine]]


def _logged(render: Renderer, entries: _Entries, known: Known) -> Sequence[RenderedLine]:  # noqa: ARG001 - as above
    return render(entries, order="log")


def _rendered(render: Renderer, entries: _Entries, known: Known) -> Sequence[RenderedLine]:  # noqa: ARG001 - as above
    return render(entries, order="renderer")


def _shuffled(render: Renderer, entries: _Entries, known: Known) -> Sequence[RenderedLine]:
    draw = Draw("random-order", known.label)
    left = sorted(entries, key=lambda entry: (entry.order, entry.key))
    placed: list[ContextEntry] = []
    while left:
        placed.append(replace(left.pop(draw.below(len(left))), order=len(placed)))
    return render(placed, order="log")


def _conjectures_last(render: Renderer, entries: _Entries, known: Known) -> Sequence[RenderedLine]:
    late = {entry.key for entry in entries if entry.tier == "conjecture" and not entry.corroborated}
    return sorted(_rendered(render, entries, known), key=lambda line: line.key in late)


_ORDERS: Mapping[str, _Ordering] = MappingProxyType(
    {"log": _logged, "renderer": _rendered, "random": _shuffled, "conjectures-last": _conjectures_last}
)

_SHOWS_ALL = frozenset({"flat"})
"""Renderers that know nothing of invalidation: a used retraction cuts the working set before them. The others say
themselves what becomes of an invalidated entry."""


def read(
    arm: Arm,
    entries: Sequence[ContextEntry],
    *,
    known: Known = NOTHING,
    renderers: Mapping[str, Renderer] = RENDERERS,
) -> tuple[Line, ...]:
    """The lines that ``arm`` shows.

    Args:
        arm: the row of the table.
        entries: entries still in the context, judged by the fold over the arm's edge source.
        known: what the row's policies may know beside them.
        renderers: renderer id -> renderer.

    Raises:
        ArmError: the arm names a renderer that is not there.
    """
    renderer = renderers.get(arm.renderer)
    if renderer is None:
        raise ArmError(f"arm {arm.display} needs the renderer {arm.renderer!r}; known: {', '.join(renderers)}")
    shown = _CORROBORATIONS[arm.corroboration](_RETRACTIONS[arm.retraction](entries, known), known)
    if arm.renderer in _SHOWS_ALL:
        shown = [entry for entry in shown if not entry.invalidated]
    return tuple(Line(line.key, line.text) for line in _ORDERS[arm.order](renderer, shown, known))
