"""Content: streamed in and hashed on its way, handed out by its digest."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Path, Query, Request, Response

from ledger_core.kernel.content import DEFAULT_PROTECTION_DOMAIN, ContentRef
from ledger_core.kernel.errors import BlobError, CanonicalError
from ledger_core.kernel.text import check_foreign_name
from ledger_core.service.answers import JSON
from ledger_core.service.problems import Problem, ProblemKind, invalid, not_found
from ledger_core.service.reading import from_worker, pieces, refuse_declared_length
from ledger_core.service.rooms import Room
from ledger_core.service.routes.common import EVENT_ID, answers, look, router
from ledger_core.service.state import room_of, service_of
from ledger_core.stores.protocols import BlobStatus

OCTETS = "application/octet-stream"
routes = router("content")


@routes.put(
    "/blob",
    status_code=201,
    responses=answers({201: ContentRef}, 408, 410, 413),
    openapi_extra={
        "requestBody": {"required": True, "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
async def put_blob(request: Request) -> Response:
    """Store content durably and answer its reference; its media type is the header `Content-Type`."""
    service = service_of(request)
    limits = service.config.limits
    refuse_declared_length(request, limits.blob_bytes)
    media_type = _media_type(request)
    loop = asyncio.get_running_loop()
    stream = pieces(request, limits.blob_bytes, limits.body_seconds)
    async with room_of(request) as room:
        try:
            ref = await loop.run_in_executor(
                service.uploads,
                lambda: room.writing.put_blob_stream(from_worker(stream, loop, 2 * limits.body_seconds), media_type),
            )
        except BlobError as error:  # the only one that storing raises
            raise Problem(ProblemKind.ERASED, str(error)) from error
    service.metrics.blob_bytes.inc(ref.byte_length)
    return Response(ref.canonical_bytes(), status_code=201, media_type=JSON, headers={"Cache-Control": "no-store"})


@routes.get(
    "/blob/{digest}",
    response_class=Response,
    responses=answers(
        {200: {"content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}, "description": "The bytes."}},
        404,
        410,
        422,
    ),
)
async def get_blob(
    request: Request,
    digest: Annotated[str, Path(pattern=EVENT_ID, description="Body digest of the content.")],
    byte_length: Annotated[int, Query(ge=0, le=2**53 - 1, description="Its length, as its reference says.")],
) -> Response:
    """Content, verified. Whatever its media type says, it is handed out as plain bytes."""
    ref = ContentRef.make(
        algorithm="ostk-body-v1",
        byte_length=byte_length,
        digest=digest,
        media_type=OCTETS,
        protection_domain_id=DEFAULT_PROTECTION_DOMAIN,
    )
    async with room_of(request) as room:
        return Response(await look(lambda: read_content(room, ref)), media_type=OCTETS)


def read_content(room: Room, ref: ContentRef) -> bytes:
    """The bytes of ``ref``; raises the problem 404 where they are not, 410 where they were erased, 422 for others."""
    status = room.blobs.status(ref)
    if status is BlobStatus.MISSING:
        raise not_found()
    if status is BlobStatus.ERASED:
        raise Problem(ProblemKind.ERASED, f"content {ref.digest} was erased on purpose")
    if status is BlobStatus.CORRUPT:
        raise invalid(
            "byte_length",
            f"no intact content {ref.digest} has {ref.byte_length} bytes; if the reference is right, have the operator run"
            " `veritas verify`",
        )
    return room.blobs.read(ref)


def _media_type(request: Request) -> str:
    given = request.headers.get("content-type") or OCTETS
    try:
        return check_foreign_name(given)
    except CanonicalError as error:
        raise invalid("Content-Type", str(error)) from error
