"""How much a request may be, and one shape for whatever is wrong with it."""

from __future__ import annotations

import json
import socket
import threading
import time

import pytest

from ledger_core.service.config import Limits
from ledger_core.service.problems import ProblemDocument
from tests.ledger_core.service.drafts import entry, put
from tests.ledger_core.service.served import config_of, served

JSON_LIMIT, BLOB_LIMIT = 4096, 100_000


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    limits = Limits(json_bytes=JSON_LIMIT, blob_bytes=BLOB_LIMIT, body_seconds=0.4, open_ledgers=2)
    with served(config_of(tmp_path_factory.mktemp("home"), limits=limits)) as running:
        yield running


def problem(answer, status, slug):
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    document = ProblemDocument.model_validate_json(answer.content)
    assert document.type == f"urn:veritas:problem:{slug}"
    assert document.status == status
    return document


class TestSize:
    @pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
    def test_a_json_body_over_the_limit_is_413(self, service, scope, declared):
        http = service.as_role("agent", scope)
        body = b" " * (JSON_LIMIT + 1)
        content = body if declared else iter([body[:1000], body[1000:]])
        answer = http.post("/entry", content=content, headers={"Content-Type": "application/json"})
        assert str(JSON_LIMIT) in problem(answer, 413, "too-large").detail

    @pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
    def test_content_over_the_limit_is_413_and_leaves_nothing(self, service, scope, declared):
        http = service.as_role("agent", scope)
        body = b"x" * (BLOB_LIMIT + 1)
        answer = http.put(
            "/blob", content=body if declared else (body[at : at + 5000] for at in range(0, len(body), 5000))
        )
        problem(answer, 413, "too-large")
        folder = service.home / "ledgers" / scope.tenant_namespace
        assert [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size >= BLOB_LIMIT] == []

    def test_content_at_the_limit_is_taken_in_pieces_and_whole(self, service, scope):
        http = service.as_role("agent", scope)
        body = bytes(range(256)) * (BLOB_LIMIT // 256)
        whole = put(http, body)
        pieces = http.put(
            "/blob",
            content=iter([body[:7], body[7:50_000], body[50_000:]]),
            headers={"Content-Type": "text/plain; charset=utf-8"},
        )
        assert (pieces.status_code, pieces.json()) == (201, whole)

    def test_empty_content_is_content(self, service, scope):
        http = service.as_role("agent", scope)
        assert put(http, b"")["byte_length"] == 0

    def test_the_connection_survives_an_ordinary_refusal(self, service, scope):
        http = service.as_role("agent", scope)
        for _ in range(3):
            problem(http.post("/entry", json={}), 422, "invalid")
        assert http.get("/whoami").status_code == 200


class TestShape:
    @pytest.mark.parametrize(
        ("method", "path", "status", "slug"),
        [
            ("GET", "/nothing", 404, "not-found"),
            ("DELETE", "/entry/x", 405, "method-not-allowed"),
            ("PATCH", "/blob", 405, "method-not-allowed"),
            ("GET", "/docs", 404, "not-found"),
            ("POST", "/healthz", 405, "method-not-allowed"),
        ],
    )
    def test_unknown_routes_and_methods(self, service, method, path, status, slug):
        answer = service.http().request(method, path)
        problem(answer, status, slug)
        if status == 405:
            assert answer.headers["allow"]

    @pytest.mark.parametrize(
        "media_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"]
    )
    def test_another_media_type_is_415(self, service, scope, media_type):
        http = service.as_role("agent", scope)
        headers = {} if media_type is None else {"Content-Type": media_type}
        problem(http.post("/entry", content=b"{}", headers=headers), 415, "unsupported-media-type")

    def test_json_with_a_parameter_is_json(self, service, scope):
        http = service.as_role("agent", scope)
        request = json.dumps(entry(put(http, b"x")))
        answer = http.post("/entry", content=request, headers={"Content-Type": "application/json; charset=utf-8"})
        assert answer.status_code == 201

    @pytest.mark.parametrize("name", ["x" * 257, "nul\x1f"])
    def test_names_that_cannot_stand_in_a_statement_are_422(self, service, scope, name):
        http = service.as_role("agent", scope)
        headers = [(b"Content-Type", name.encode())]
        if name.isprintable():
            problem(http.put("/blob", content=b"x", headers=headers), 422, "invalid")
        answer = http.get(
            "/context", headers={"Delivery-Id": name} if name.isprintable() else {"Delivery-Id": "e\u0301".encode()}
        )
        assert problem(answer, 422, "invalid").field == "Delivery-Id"

    def test_nothing_is_cached_and_nothing_is_sniffed(self, service, scope):
        for answer in (service.as_role("agent", scope).get("/context"), service.http().get("/context")):
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "server" not in answer.headers or "uvicorn" in answer.headers["server"]


class TestTime:
    def test_a_body_that_stops_arriving_is_408(self, service, scope):
        token = service.token("agent", scope)
        host, _, port = service.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(
                f"PUT /blob HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 50\r\n\r\nhalf".encode()
            )
            answer = line.recv(4096).decode()
        assert " 408 " in answer.splitlines()[0]
        assert "urn:veritas:problem:timeout" in answer

    def test_slow_senders_do_not_hold_up_readers(self, service, scope):
        token = service.token("agent", scope)
        host, _, port = service.url.removeprefix("http://").partition(":")
        lines = [socket.create_connection((host, int(port)), timeout=10) for _ in range(64)]
        head = (
            f"PUT /blob HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 50\r\n\r\nhalf".encode()
        )
        for line in lines:
            line.sendall(head)
        assert service.as_role("agent", scope).get("/context").status_code == 200
        for line in lines:
            line.close()


class TestManyLedgers:
    def test_ledgers_that_nobody_needs_are_closed_and_opened_again(self, service, scope):
        scopes = [scope.model_copy(update={"project_namespace": f"p{number}"}) for number in range(5)]
        clients = [service.as_role("agent", one) for one in scopes]
        for key in range(2):
            for http in clients:
                assert http.post("/entry", json=entry(put(http, b"note"), key=str(key))).status_code == 201
        assert [http.get("/head").json()["evidence"]["size"] for http in clients] == [2] * 5
        deadline = time.monotonic() + 5
        while "veritas_open_ledgers 2.0" not in service.http().get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def test_requests_for_more_ledgers_than_stay_open_at_once(self, service, scope):
        scopes = [scope.model_copy(update={"project_namespace": f"q{number}"}) for number in range(6)]
        clients = [service.as_role("agent", one) for one in scopes]
        statuses = []

        def work(http):
            statuses.extend(
                http.post("/entry", json=entry(put(http, b"note"), key=str(key))).status_code for key in range(5)
            )

        threads = [threading.Thread(target=work, args=(http,)) for http in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [201] * 30


def test_beyond_the_limit_of_requests_the_service_says_so(tmp_path, scope):
    with served(config_of(tmp_path, limits=Limits(in_flight=1, body_seconds=5))) as service:
        token = service.token("agent", scope)
        host, _, port = service.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(
                f"PUT /blob HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 4\r\n\r\n".encode()
            )
            http = service.http(token)
            deadline = time.monotonic() + 5
            while (answer := http.get("/whoami")).status_code == 200:
                assert time.monotonic() < deadline
            problem(answer, 503, "unavailable")
            assert answer.headers["retry-after"] == "1"
            line.sendall(b"done")
            assert " 201 " in line.recv(4096).decode().splitlines()[0]
        assert http.get("/whoami").status_code == 200


def test_metrics_count_requests_statements_and_commits_by_route_and_never_by_id(service, scope):
    http = service.as_role("agent", scope)
    made = http.post("/entry", json=entry(put(http, b"x"))).json()["events"][0]["event_id"]
    http.get(f"/entry/{made}")
    http.request("BREW", "/pot")
    text = service.http().get("/metrics").text
    assert 'veritas_http_requests_total{method="GET",route="/entry/{entry_id}",status="200"}' in text
    assert 'veritas_statements_total{kind="entry.conjectured",outcome="fresh"}' in text
    assert "veritas_commit_requests_bucket" in text
    assert made not in text
    assert "BREW" not in text
    assert scope.tenant_namespace not in text
