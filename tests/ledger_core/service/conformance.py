"""Every answer that a test gets is held to what the OpenAPI document says of its route and status."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

_CONTENT = re.compile(r"\{\w+\}")


class Conformance:
    """The document of a service, asked about answers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._routes = [
            (re.compile(_CONTENT.sub("[^/]+", path)), path, methods) for path, methods in document["paths"].items()
        ]
        self._validator = cache(self._made)
        self.seen: set[tuple[str, str, int]] = set()

    def check(self, response: httpx.Response) -> None:
        """Raise AssertionError for a status or a body that the document does not have."""
        method, path = response.request.method.lower(), response.request.url.path
        found = next((known for known in self._routes if known[0].fullmatch(path)), None)
        if found is None or method not in found[2]:
            return
        _, template, methods = found
        status = response.status_code
        documented = methods[method]["responses"]
        assert str(status) in documented, f"{method} {template} answers {status}, which is not documented"
        self.seen.add((method, template, status))
        media_type = response.headers["content-type"].partition(";")[0]
        assert media_type in documented[str(status)]["content"], f"{method} {template} {status}: {media_type}"
        if media_type.endswith("json"):
            response.read()
            self._validator(method, template, status, media_type).validate(json.loads(response.content))

    def _made(self, method: str, template: str, status: int, media_type: str) -> Any:
        schema = self._document["paths"][template][method]["responses"][str(status)]["content"][media_type]["schema"]
        return jsonschema_rs.Draft202012Validator({**schema, "components": self._document["components"]})
