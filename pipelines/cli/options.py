"""Checks of options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pipelines.errors import UsageError

if TYPE_CHECKING:
    from attribution.models.language import Device, Dtype

GATES = ("cuts-v1", "seed-v4")


def check_gate(gate: str) -> None:
    """Raise :class:`UsageError` unless ``gate`` is one of :data:`GATES`."""
    if gate not in GATES:
        raise UsageError(f"unknown gate {gate!r}; choose one of {', '.join(GATES)}")


class Arithmetic(TypedDict):
    """In which arithmetic and where a model computes."""

    dtype: Dtype
    device: Device


def check_arithmetic(dtype: str, device: str) -> Arithmetic:
    """``dtype`` and ``device`` as keyword arguments; raises :class:`UsageError` for one that there is not."""
    from attribution.models.language import DEVICES, DTYPES

    if dtype not in DTYPES:
        raise UsageError(f"unknown dtype {dtype!r}; choose one of {', '.join(DTYPES)}")
    if device not in DEVICES:
        raise UsageError(f"unknown device {device!r}; choose one of {', '.join(DEVICES)}")
    return {"dtype": dtype, "device": device}
