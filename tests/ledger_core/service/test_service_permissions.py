from __future__ import annotations

import re

import pytest

from ledger_core.service.app import create_app
from ledger_core.service.errors import ConfigurationError
from ledger_core.service.permissions import OPEN, PERMISSIONS, ROLES
from ledger_core.service.routes.common import router
from ledger_core.stores.ledger import scope_folder
from tests.ledger_core.service.served import config_of, fresh_scope

TABLE = """
                                    sealer recorder agent verifier attributor operator auditor admin
PUT  /blob                          yes    yes      yes   yes      yes        yes      -       -
GET  /blob/{digest}                 -      -        -     yes      yes        -        yes     -
POST /seal                          yes    -        -     -        -          -        -       -
POST /replay-audit/{seal_id}        yes    -        -     -        -          -        -       -
POST /generation                    -      yes      -     -        -          -        -       -
GET  /generation                    -      -        -     yes      yes        -        yes     -
GET  /generation/{generation_id}    -      -        -     yes      yes        -        yes     -
POST /entry                         -      -        yes   -        -          -        -       -
GET  /entry/{entry_id}              -      -        yes   yes      -          -        yes     -
GET  /context                       -      -        yes   yes      -          -        yes     -
POST /verdict                       -      -        -     yes      -          -        -       -
POST /contradiction                 -      -        -     yes      -          -        -       -
POST /edges/measured                -      -        -     -        yes        -        -       -
GET  /edges/{claim_id}              -      -        -     yes      yes        -        yes     -
POST /policy                        -      -        -     -        -          yes      -       -
POST /verdict/{verdict_id}/reverse  -      -        -     -        -          yes      -       -
POST /erasure                       -      -        -     -        -          yes      -       -
POST /checkpoint                    -      -        -     -        -          yes      -       -
GET  /checkpoint                    -      -        -     -        -          -        yes     -
GET  /proof/inclusion               -      -        -     -        -          -        yes     -
GET  /proof/consistency             -      -        -     -        -          -        yes     -
GET  /audit                         -      -        -     -        -          -        yes     -
GET  /events                        -      -        -     yes      -          -        yes     -
GET  /head                          yes    yes      yes   yes      yes        yes      yes     -
POST /token                         -      -        -     -        -          -        -       yes
GET  /token                         -      -        -     -        -          -        -       yes
POST /token/{token_id}/revoke       -      -        -     -        -          -        -       yes
GET  /whoami                        yes    yes      yes   yes      yes        yes      yes     yes
"""
"""Written by hand, and never made from the code."""


def cells():
    heading, *rows = TABLE.strip("\n").splitlines()
    roles = heading.split()
    for row in rows:
        method, path, *marks = row.split()
        assert len(marks) == len(roles) == 8
        for role, mark in zip(roles, marks, strict=True):
            yield method, path, role, {"yes": True, "-": False}[mark]


CELLS = list(cells())


def filled(path):
    return re.sub(r"\{\w+\}", "0" * 64, path)


def test_the_table_in_the_code_is_this_table():
    assert {
        (method, path, role): role in PERMISSIONS[method, path] for method, path in PERMISSIONS for role in ROLES
    } == {(method, path, role): may for method, path, role, may in CELLS}


def test_the_application_has_these_routes_and_no_other(tmp_path):
    paths = create_app(config_of(tmp_path)).openapi()["paths"]
    there = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert there == {(method, path) for method, path, _, _ in CELLS} | (OPEN - {("GET", "/openapi.json")})


@pytest.fixture(scope="module")
def bearers(service):
    scope = fresh_scope()
    return scope, {role: service.as_role(role, scope) for role in ROLES}


@pytest.mark.invariant("§2.1", "§2.2")
@pytest.mark.parametrize(("method", "path", "role", "may"), CELLS, ids=str)
def test_every_cell(bearers, method, path, role, may):
    """An empty request is never done, but who may not send it hears that first, and nothing of theirs is opened."""
    _, clients = bearers
    answer = clients[role].request(method, filled(path))
    assert (answer.status_code != 403) == may, answer.text
    assert answer.status_code != 401
    if not may:
        assert answer.json()["type"] == "urn:veritas:problem:forbidden"
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("role", ROLES)
def test_who_may_not_is_refused_before_any_data_is_touched(service, role):
    scope = fresh_scope()
    http = service.as_role(role, scope)
    for method, path, who, may in CELLS:
        if who == role and not may:
            assert http.request(method, filled(path), content=b"{").status_code == 403
    assert not scope_folder(service.home, scope).exists()


@pytest.mark.parametrize(("method", "path"), sorted({(method, path) for method, path, _, _ in CELLS}))
def test_without_a_token_nothing_else_is_looked_at(service, method, path):
    answer = service.http().request(method, filled(path), content=b"{", headers={"Content-Length": "1"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["type"] == "urn:veritas:problem:unauthorized"


def test_a_route_without_a_row_cannot_be_made():
    routes = router("tests")
    with pytest.raises(ConfigurationError, match="GET /everything has no row"):
        routes.get("/everything")(lambda: None)


@pytest.mark.parametrize(("method", "path"), sorted(OPEN))
def test_what_needs_no_token_tells_nothing_of_a_tenant(service, bearers, method, path):
    scope, clients = bearers
    assert clients["agent"].get("/head").status_code == 200
    answer = service.http().request(method, path)
    assert answer.status_code == 200
    assert scope.tenant_namespace not in answer.text
