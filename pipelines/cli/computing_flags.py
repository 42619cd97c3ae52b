"""Options that say how ablations are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pipelines.computing import Computing
    from pipelines.settings import Settings

Executor = Annotated[
    str | None, typer.Option(help="Where to compute: serial, processes or ray. Default: as the settings say.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes that compute side by side, one torch thread each.")]
MaxMemory = Annotated[
    int | None, typer.Option(min=1, help="MiB for all processes together; fewer workers, then smaller batches.")
]
MaxMinutes = Annotated[
    float | None, typer.Option(help="Stop after so many minutes; the same command goes on from there.")
]
Dtype = Annotated[str, typer.Option(help="float32, or bfloat16: faster, coarser, and recorded.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
RayAddress = Annotated[
    str | None, typer.Option(help="With --executor ray: a running cluster. Default: a private one here.")
]

FLOAT32, CPU = "float32", "cpu"
"""What a model computes in, and where, if nothing is said."""


def given(**options: Any) -> dict[str, Any]:
    """Options by the names they have on the command line; None for one that was left at its default."""
    defaults = {"dtype": FLOAT32, "device": CPU}
    return {
        f"--{name.replace('_', '-')}": None if value == defaults.get(name) else value for name, value in options.items()
    }


def computing(
    settings: Settings,
    *,
    dtype: str,
    device: str,
    max_memory: int | None,
    max_minutes: float | None,
    ray_address: str | None,
) -> Computing:
    """How to compute; raises :class:`UsageError` for a dtype or a device that there is not."""
    from pipelines.cli.options import check_arithmetic
    from pipelines.computing import Computing

    return Computing.of(
        settings,
        **check_arithmetic(dtype, device),
        max_memory=max_memory,
        max_minutes=max_minutes,
        ray_address=ray_address,
    )
