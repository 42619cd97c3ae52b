"""The OpenAPI document: FastAPI's own, with the request bodies that the service reads by itself."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema

from ledger_core.service.guard import JSON, body_type, operation_of
from ledger_core.service.permissions import OPEN, PERMISSIONS
from ledger_core.service.problems import MEDIA_TYPE
from ledger_core.service.requests import Body

_TOKEN: Final = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "vt_<id>_<secret>",
    "description": "Tenant, project and role come from the token and from nowhere else.",
}
_REFERENCE: Final = "#/components/schemas/{model}"


def document(app: FastAPI, routes: list[APIRoute]) -> dict[str, Any]:
    """The document of ``app``, whose routes are ``routes``."""
    made = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, openapi_version="3.1.0"
    )
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    bodies = sorted({form for route in routes if (form := body_type(route.endpoint)) is not None}, key=str)
    references, definitions = models_json_schema([(form, "validation") for form in bodies], ref_template=_REFERENCE)
    for name, schema in definitions.get("$defs", {}).items():
        schemas.setdefault(name, schema)
    components["securitySchemes"] = {"token": _TOKEN}
    for route in routes:
        method, path = operation_of(route)
        operation = made["paths"][path][method.lower()]
        _describe(operation, body_type(route.endpoint), references)
        if (method, path) not in OPEN:
            operation["security"] = [{"token": []}]
            roles = ", ".join(f"`{role}`" for role in sorted(PERMISSIONS[method, path]))
            operation["description"] = f"{operation.get('description', '')}\n\nRoles: {roles}."
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return made


def _describe(operation: dict[str, Any], form: type[Body] | None, references: dict[Any, Any]) -> None:
    if form is not None:
        schema = references[form, "validation"]
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    # FastAPI's own 422 for parameters: here a path that names nothing is a 404, and routes state their 422 themselves.
    if "422" in operation["responses"] and "HTTPValidationError" in str(operation["responses"]["422"]):
        del operation["responses"]["422"]
    for status, answer in operation["responses"].items():
        if status.isdigit() and int(status) >= 400:  # noqa: PLR2004 - RFC 9110: errors begin here
            answer["content"] = {MEDIA_TYPE: answer["content"][JSON]}
