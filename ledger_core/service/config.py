"""How a service is set up: where, by which clock, and how much a request may ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ledger_core.belief.policies import STRICT, STRICT_NAME
from ledger_core.kernel.policy import Policy
from ledger_core.providers import EmbeddingProvider
from ledger_core.service.rooms import OPEN_LIMIT
from ledger_core.stores.place import Place

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a request may be."""

    json_bytes: int = 2 * MEBIBYTE
    """Of a JSON body: a statement has at most 1 MiB, and a generation brings its claims along."""
    blob_bytes: int = 64 * MEBIBYTE
    in_flight: int = 1024
    """Requests that are answered at a time."""
    body_seconds: float = 30.0
    """Longest pause while a body arrives."""
    page: int = 500
    """Events of one page at most."""
    open_ledgers: int = OPEN_LIMIT


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """One service over one home."""

    home: Path
    """Tokens, the signing key and checkpoints; and below it the ledgers, unless ``place`` says elsewhere."""
    now: Callable[[], str]
    """The clock: strict timestamps."""
    limits: Limits = Limits()
    place: Place | None = None
    """Where the ledgers are: a PostgreSQL database, encrypted content; None for the files below ``home``."""
    policy: Policy = STRICT
    """What a new ledger begins with."""
    policy_name: str = STRICT_NAME
    embedder: EmbeddingProvider | None = None
    """Needed where a policy compares embeddings; without one such a verdict is refused."""
