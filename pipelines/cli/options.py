"""Checks of options that several commands share."""

from __future__ import annotations

from pipelines.errors import UsageError

GATES = ("cuts-v1", "seed-v4")


def check_gate(gate: str) -> None:
    """Raise :class:`UsageError` unless ``gate`` is one of :data:`GATES`."""
    if gate not in GATES:
        raise UsageError(f"unknown gate {gate!r}; choose one of {', '.join(GATES)}")
