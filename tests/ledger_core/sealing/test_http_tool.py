"""The HTTP tool against servers on this machine: the final peer is the origin, and a secret goes to its own host only."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from ledger_core.belief.origin import host_cluster
from ledger_core.kernel import jcs
from ledger_core.sealing import ReplayAuditor, ToolRegistry
from ledger_core.sealing.http import SecretHeader, http_get
from ledger_core.sealing.secrets import from_environment
from tests.ledger_core.sealing.workshop import Clock, boundary, content, open_ledger, statements

TOKEN = "correct-horse-battery"


class Pages(BaseHTTPRequestHandler):
    """What the server answers, by path."""

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(self.path, (404, {}, b"no such page"))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """A server that is reached by its address and by its name: to HTTP two hosts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as running:
        running.pages, running.seen = {}, []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        running.port = running.server_address[1]
        yield running
        running.shutdown()


def at(server, path, host="127.0.0.1"):
    return f"http://{host}:{server.port}{path}"


@pytest.fixture
def ledger():
    return open_ledger()


def get(ledger, url, **fields):
    secrets = from_environment({"TOKEN": TOKEN})
    tool = http_get("fetch", source_id="web", seconds=5.0, **fields)
    return boundary(tool, ledger=ledger, secrets=secrets).call("fetch", {"url": url})


def body(ledger):
    return statements(ledger, "seal.minted")[-1].body


def test_a_page_is_sealed_as_it_came(server, ledger):
    server.pages["/a"] = (200, {"Content-Type": "application/json"}, b'{"b":1, "a":2}')
    call = get(ledger, at(server, "/a"))
    assert content(ledger, call) == [b'{"b":1, "a":2}']
    sealed = body(ledger)
    assert (sealed.origin_host, sealed.source_id, sealed.outcome) == ("127.0.0.1", "web", "ok")
    assert (sealed.effect, sealed.reach, sealed.reacquisition.procedure) == ("read_only", "external_read", "http_get")
    assert sealed.result.media_type == "application/json"
    assert ledger.read_blob(sealed.args) == jcs.encode({"url": at(server, "/a")})


def test_the_final_peer_is_the_origin_and_not_the_host_that_was_asked(server, ledger):
    server.pages["/start"] = (302, {"Location": at(server, "/next", "localhost")}, b"")
    server.pages["/next"] = (307, {"Location": "/end"}, b"")
    server.pages["/end"] = (200, {}, b"arrived")
    call = get(ledger, at(server, "/start"))
    assert content(ledger, call) == [b"arrived"]
    assert body(ledger).origin_host == "localhost"
    assert host_cluster("localhost") == "address"


def test_a_failure_of_the_peer_is_sealed_as_its_answer(server, ledger):
    call = get(ledger, at(server, "/missing"))
    assert (call.outcome, content(ledger, call)) == ("error", [b"no such page"])
    assert (body(ledger).origin_host, body(ledger).reacquisition) == ("127.0.0.1", None)


def test_redirects_come_to_an_end(server, ledger):
    server.pages["/round"] = (302, {"Location": "/round"}, b"")
    call = get(ledger, at(server, "/round"))
    assert b"more than 10 redirects" in content(ledger, call)[0]
    assert (call.outcome, body(ledger).origin_host, len(server.seen)) == ("error", None, 11)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.test/", "no address", "http://", "http://[::1"])
def test_only_http_is_spoken(ledger, url):
    call = get(ledger, url)
    assert (call.outcome, body(ledger).origin_host) == ("error", None)


def test_a_redirect_to_another_scheme_is_not_followed(server, ledger):
    server.pages["/file"] = (302, {"Location": "file:///etc/passwd"}, b"")
    assert b"no http or https address" in content(ledger, get(ledger, at(server, "/file")))[0]


def test_only_admitted_hosts_are_asked_redirects_included(server, ledger):
    server.pages["/away"] = (302, {"Location": at(server, "/end", "localhost")}, b"")
    server.pages["/end"] = (200, {}, b"arrived")
    call = get(ledger, at(server, "/away"), hosts=frozenset({"127.0.0.1"}))
    assert b"host 'localhost' is not admitted" in content(ledger, call)[0]
    assert [path for path, _ in server.seen] == ["/away"]


def test_too_large_a_body_is_an_error_and_not_a_part_of_one(server, ledger):
    server.pages["/big"] = (200, {}, b"x" * 5_000)
    call = get(ledger, at(server, "/big"), max_bytes=4_999)
    assert (call.outcome, b"larger than 4999 bytes" in content(ledger, call)[0]) == ("error", True)
    other = open_ledger()
    assert content(other, get(other, at(server, "/big"), max_bytes=5_000)) == [b"x" * 5_000]


def test_nobody_there_is_an_error(server, ledger):
    server.shutdown()
    server.server_close()
    call = get(ledger, at(server, "/a"))
    assert call.outcome == "error"
    assert b"ConnectError" in content(ledger, call)[0]


@pytest.mark.invariant("EVID-05")
class TestSecretHeader:
    def test_goes_to_its_origin_and_to_no_other(self, server, ledger):
        server.pages["/start"] = (302, {"Location": at(server, "/end", "localhost")}, b"")
        server.pages["/end"] = (200, {}, b"you are " + TOKEN.encode())
        call = get(ledger, at(server, "/start"), header=SecretHeader("X-Api-Key", at(server, ""), "env:TOKEN"))
        (_, first), (_, second) = server.seen
        assert first["X-Api-Key"] == TOKEN
        assert "X-Api-Key" not in second
        assert content(ledger, call) == [b"you are [REDACTED:repeated]"]
        assert body(ledger).reacquisition.secret_refs == ("env:TOKEN",)

    @pytest.mark.parametrize(
        ("origin", "url", "sent"),
        [
            ("https://api.test", "https://api.test/a", True),
            ("https://api.test", "https://API.test:443/a", True),
            ("https://api.test", "http://api.test/a", False),
            ("https://api.test", "https://api.test:8443/a", False),
            ("https://api.test", "https://api.test.evil.test/a", False),
            ("https://api.test", "https://api.test@evil.test/a", False),
        ],
    )
    def test_scheme_host_and_port_decide(self, ledger, origin, url, sent):
        seen = []
        answered = httpx.MockTransport(lambda request: seen.append(request) or httpx.Response(200, text="hello"))
        get(ledger, url, header=SecretHeader("X-Api-Key", origin, "env:TOKEN"), client=httpx.Client(transport=answered))
        assert [TOKEN in request.headers.values() for request in seen] == [sent]


def test_the_environment_names_no_proxy(server, ledger, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.pages["/a"] = (200, {}, b"direct")
    assert content(ledger, get(ledger, at(server, "/a"))) == [b"direct"]


@pytest.mark.parametrize(
    ("header", "media_type"),
    [
        ("text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("x" * 300, "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_a_media_type_that_no_statement_can_hold_is_left_out(server, ledger, header, media_type):
    server.pages["/a"] = (200, {"Content-Type": header} if header else {}, b"x")
    get(ledger, at(server, "/a"))
    assert body(ledger).result.media_type == media_type


class TestAudit:
    def audited(self, server, ledger, before, after, **fields):
        tool = http_get("fetch", source_id="web", determinism="deterministic", seconds=5.0, **fields)
        server.pages["/a"] = before
        call = boundary(tool, ledger=ledger).call("fetch", {"url": at(server, "/a")})
        server.pages["/a"] = after
        return ReplayAuditor(ledger, ToolRegistry([tool]), clock=Clock()).audit(call.seal)

    def test_the_same_page_again_is_a_match(self, server, ledger):
        page = (200, {}, b"same")
        assert self.audited(server, ledger, page, page).outcome == "match"

    @pytest.mark.parametrize(
        ("modified", "outcome"),
        [
            (None, "mismatch"),
            ("Fri, 01 May 2026 10:00:00 GMT", "mismatch"),
            ("Fri, 01 May 2026 10:00:01 GMT", "stale"),
            ("yesterday", "mismatch"),
        ],
    )
    def test_another_page_is_stale_only_if_the_origin_says_that_it_changed_since(
        self, server, ledger, modified, outcome
    ):
        headers = {} if modified is None else {"Last-Modified": modified}
        found = self.audited(server, ledger, (200, {}, b"old"), (200, headers, b"new"))
        assert found.outcome == outcome
        assert ledger.read_blob(found.observed) == b"new"

    @pytest.mark.parametrize("status", [404, 500, 503])
    def test_a_page_that_is_gone_is_unavailable(self, server, ledger, status):
        assert self.audited(server, ledger, (200, {}, b"old"), (status, {}, b"old")).outcome == "unavailable"

    def test_the_same_bytes_from_another_host_are_no_match(self, server, ledger):
        server.pages["/b"] = (200, {}, b"same")
        away = (302, {"Location": at(server, "/b", "localhost")}, b"")
        found = self.audited(server, ledger, (200, {}, b"same"), away)
        assert (found.outcome, "localhost answered" in found.why) == ("unavailable", True)


def test_a_client_of_ones_own_is_used(ledger):
    answered = httpx.MockTransport(lambda request: httpx.Response(200, text=f"{request.url.host} says hello"))
    client = httpx.Client(transport=answered)
    call = get(ledger, "https://bücher.example/a", client=client)
    assert content(ledger, call) == ["bücher.example says hello".encode()]
    assert body(ledger).origin_host == "xn--bcher-kva.example"
