"""What a running service consists of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from fastapi import Request

from ledger_core.service.caller import Caller
from ledger_core.service.config import ServiceConfig
from ledger_core.service.metrics import Metrics
from ledger_core.service.rooms import Room, Rooms
from ledger_core.service.tokens import TokenStore


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that handlers use."""

    config: ServiceConfig
    tokens: TokenStore
    rooms: Rooms
    metrics: Metrics
    uploads: ThreadPoolExecutor
    """Worker threads for content that comes in: a slow sender waits for its like, not before everybody else."""


def service_of(request: Request) -> Service:
    """The service that is answering ``request``."""
    return cast("Service", request.app.state.service)


def caller_of(request: Request) -> Caller:
    """Who asks, as the guard found out."""
    return cast("Caller", request.state.caller)


@asynccontextmanager
async def room_of(request: Request) -> AsyncIterator[Room]:
    """The open ledger of the caller's scope: the only one that a request can reach."""
    async with service_of(request).rooms.lease(caller_of(request).scope) as room:
        yield room
