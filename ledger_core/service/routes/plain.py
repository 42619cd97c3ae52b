"""What is answered without a token: that the service lives, and figures that tell nothing of any tenant."""

from __future__ import annotations

from fastapi import Request, Response

from ledger_core.service.answers import Health
from ledger_core.service.metrics import MEDIA_TYPE
from ledger_core.service.routes.common import router
from ledger_core.service.state import service_of

routes = router("service")


@routes.get("/healthz", responses={200: {"model": Health}})
async def health(request: Request) -> Response:
    """The service answers, and its file of tokens can be read."""
    service_of(request).tokens.check()
    return Health(status="ok").response()


@routes.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus's format."}},
)
async def metrics(request: Request) -> Response:
    """Requests, commits, waiting."""
    return Response(service_of(request).metrics.exposition(), media_type=MEDIA_TYPE)
