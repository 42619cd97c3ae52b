"""The OpenAPI document against the service: what it says is so, and nothing it allows makes the service fail."""

from __future__ import annotations

import httpx
import jsonschema_rs
import pytest

from ledger_core.service.app import create_app
from ledger_core.service.permissions import OPEN, PERMISSIONS, ROLES
from tests.ledger_core.service.conformance import Conformance
from tests.ledger_core.service.drafts import entry, fact, generation_of, maker, put, seal, sealed, verdict
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


@pytest.fixture(scope="module")
def told(service):
    """A scope in which something of every kind is there, and its names by the fields that name it."""
    scope = fresh_scope()
    sealer, agent = service.as_role("sealer", scope), service.as_role("agent", scope)
    args, result = put(sealer, b"{}", "application/json"), put(sealer, b"310 m")
    minted = sealer.post("/seal", json=seal(args, result)).json()["events"]
    target, candidate = minted[1]["event_id"], sealed(sealer, "330 m", step=2, host="beta.example")
    claim = agent.post("/entry", json=entry(result, parents=[{"entry": target, "ppm": 1}])).json()["events"][0]
    filed = service.as_role("verifier", scope).post("/verdict", json=verdict(target, candidate)).json()
    generation = service.as_role("recorder", scope).post("/generation", json=generation_of(result)).json()["events"][0]
    operator = service.as_role("operator", scope)
    head = operator.get("/head").json()
    operator.post("/checkpoint", json={"expected_head": head["evidence"]})
    names = {
        "seal_id": minted[0]["event_id"],
        "entry_id": target,
        "claim_id": claim["event_id"],
        "verdict_id": filed["verdict"],
        "generation_id": generation["event_id"],
        "event_id": candidate,
        "target": target,
        "candidate": candidate,
        "digest": result["digest"],
        "byte_length": result["byte_length"],
        "first": 1,
        "second": 2,
        "size": 2,
        "expected_head": head["evidence"],
        "predecessor": head["policy"]["event_id"],
        "policy": head["policy"]["policy"],
        "content": result,
        "args": args,
        "result": result,
        "observations": None,
        "reacquisition": None,
        "source_fact": fact("generated", "1"),
        "representation": maker(),
        "erasure_scopes": [],
        "observed_at": None,
        "occurred_at": None,
        "origin_host": "alpha.example",
        "source_id": "search",
        "tool": "search",
        "generation": None,
        "span": None,
        "note": None,
        "stage_a": None,
        "stage_b": None,
        "fetched": None,
        "parents": [],
        "context_head": None,
    }
    return scope, names


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_no_request_that_the_document_allows_or_forbids_makes_the_service_fail(service, told, role):
    """Half of what is generated names things that are there, so that handlers run and their answers are looked at too."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    def probe(operation, row):
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), named=st.booleans())
        def send(case, named):
            if named:
                name_things(case, names)
            answer = case.call(headers={"Authorization": f"Bearer {token}"})
            case.validate_response(answer, checks=checks)
            if answer.status_code < 300:
                done.add(row)

        send()

    scope, names = told
    token = service.token(role, scope)
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
    ]
    done = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        row = operation.method.upper(), operation.path
        if role in probing(row):
            probe(operation, row)
    expected = {row for row in PERMISSIONS if role in probing(row)} - NEEDS_MORE_THAN_NAMES
    assert expected <= done, "each of these answered at least one request with what was asked for"


def probing(row):
    """Who tries an operation: two of those who may, an agent among them, who is answered otherwise than a reader."""
    return ["admin"] if row in OPEN else sorted(PERMISSIONS[row])[:2]


NEEDS_MORE_THAN_NAMES = {("POST", "/generation"), ("POST", "/edges/measured"), ("POST", "/token/{token_id}/revoke")}
"""Operations that no generated request gets done; the other tests do."""


def name_things(case, names):
    """Put names of what is there into the places of ``case`` that are for them."""
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            put_names(place, names)


def put_names(place, names):
    for key, value in place.items():
        if key in names:
            place[key] = names[key]
        elif isinstance(value, dict):
            put_names(value, names)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (httpx.Response(418, content=b"{}"), "not documented"),
        (httpx.Response(200, content=b"{}", headers={"content-type": "text/plain"}), "text/plain"),
        (httpx.Response(200, content=b"{}", headers={"content-type": "application/json"}), "anyOf"),
        (
            httpx.Response(404, content=b'{"a": 1}', headers={"content-type": "application/problem+json"}),
            "required property",
        ),
    ],
)
def test_what_the_tests_hold_answers_to_can_fail(document, answer, says):
    answer.request = httpx.Request("GET", f"http://x/entry/{'0' * 64}")
    with pytest.raises((AssertionError, jsonschema_rs.ValidationError), match=says):
        Conformance(document).check(answer)
