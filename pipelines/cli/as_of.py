"""Two times as of which a command reads a ledger: what was known by one, what had happened by the other."""

from __future__ import annotations

from typing import Annotated

import typer

EffectiveAsOf = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="What had happened by then, by the sources' own clocks; e.g. 2026-01-31T12:00:00Z."
    ),
]
RecordedAsOf = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="What was known by then: recorded, reversed and under which policy."),
]


def instants_of(effective: str | None, recorded: str | None) -> tuple[str | None, str | None]:
    """The strict timestamps that the two options name; raises :class:`UsageError` where one is no instant."""
    from pipelines.cli.clock import parse_instant

    return (
        None if effective is None else parse_instant(effective, "--effective-as-of"),
        None if recorded is None else parse_instant(recorded, "--recorded-as-of"),
    )
