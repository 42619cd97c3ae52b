"""The OpenAPI document against the service: what it says is so, and nothing it allows makes the service fail."""

from __future__ import annotations

import pytest

from ledger_core.service.app import create_app
from ledger_core.service.permissions import PERMISSIONS, ROLES
from tests.ledger_core.service.drafts import entry, put, sealed, verdict
from tests.ledger_core.service.served import config_of, fresh_scope


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return create_app(config_of(tmp_path_factory.mktemp("home"))).openapi()


def test_every_operation_says_who_may_and_what_may_go_wrong(document):
    for (method, path), roles in PERMISSIONS.items():
        operation = document["paths"][path][method.lower()]
        assert operation["security"] == [{"token": []}]
        assert f"Roles: {', '.join(f'`{role}`' for role in sorted(roles))}." in operation["description"]
        assert {"401", "403", "500", "503"} <= operation["responses"].keys()
        for status, answer in operation["responses"].items():
            if status >= "400":
                assert list(answer["content"]) == ["application/problem+json"]


def test_bodies_are_closed_and_documented(document):
    for method, path in PERMISSIONS:
        operation = document["paths"][path][method.lower()]
        if method == "POST" and not path.endswith("/revoke"):
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            schema = document["components"]["schemas"][reference.rpartition("/")[2]]
            assert schema["additionalProperties"] is False
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_no_answer_and_no_body_has_a_place_for_scope(document):
    """Tenant and project come from the token; they are told back by `whoami` and stand in statements, nowhere else."""
    named = {
        name
        for name, schema in document["components"]["schemas"].items()
        if {"tenant", "project", "scope", "tenant_namespace"} & schema.get("properties", {}).keys()
    }
    assert named == {"WhoAmI"}


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_no_request_that_the_document_allows_or_forbids_makes_the_service_fail(service, role):
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    scope = fresh_scope()
    sealer = service.as_role("sealer", scope)
    target, candidate = sealed(sealer, "310 m", step=1), sealed(sealer, "330 m", step=2, host="beta.example")
    agent = service.as_role("agent", scope)
    agent.post("/entry", json=entry(put(agent, b"a note"), parents=[{"entry": target, "ppm": 1}]))
    service.as_role("verifier", scope).post("/verdict", json=verdict(target, candidate))
    token = service.token(role, scope)
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
    ]
    for found in schema.get_all_operations():
        operation = found.ok()
        allowed = PERMISSIONS.get((operation.method.upper(), operation.path))
        if allowed is not None and role not in allowed:
            continue

        @settings(
            max_examples=10,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def probe(case):
            case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=checks)

        probe()
