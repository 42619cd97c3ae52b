"""`veritas report`."""

from __future__ import annotations

from pipelines.errors import PipelineError


def command() -> None:
    """Not available yet."""
    raise PipelineError("report: not yet available")
