"""How much of each is measured."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """How much of each is measured."""

    appends: int = 200
    """Single appends a round."""
    batch: int = 5_000
    """Events of a batch."""
    rounds: int = 5
    events: int = 100_000
    """Events that are verified and folded; a tenth of them is the small side of the growth line."""
    reading_rounds: int = 3
    nodes: int = 100_000
    """Entries of the large belief pass."""
    requests: int = 100
    """Requests of each client of the service."""


FULL = Sizes(events=1_000_000, reading_rounds=1)
SMALL = Sizes(appends=20, batch=60, rounds=2, events=700, reading_rounds=1, nodes=400, requests=2)


def chosen() -> Sizes:
    """A million events where the environment says ``FULL=1``."""
    return FULL if os.environ.get("FULL") == "1" else Sizes()
