"""Options that several commands share, spelled once."""

from __future__ import annotations

from typing import Annotated

import typer

LARGEST_SEED = 2**53 - 1
"""What a plan's canonical record can hold."""

Tenant = Annotated[str | None, typer.Option(help="Tenant of the ledger. (env VERITAS_TENANT; else `default`)")]
Project = Annotated[
    str | None,
    typer.Option(help="Project of the ledger; `run-…` may be cut short. (env VERITAS_PROJECT; else `imported`)"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Now = Annotated[
    str | None, typer.Option(help="Clock of what is appended, e.g. 2026-01-31T12:00:00Z. (else the wall clock)")
]
