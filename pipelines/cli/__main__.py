"""`python -m pipelines.cli` is `veritas`."""

from __future__ import annotations

from pipelines.cli import main

main()
