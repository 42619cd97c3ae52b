"""What is in another scope is nowhere: the same answer, byte for byte, whichever route is tried."""

from __future__ import annotations

import pytest

from tests.ledger_core.service.drafts import entry, generation_of, put, seal, sealed, verdict
from tests.ledger_core.service.served import fresh_scope

NOWHERE = "0f" * 32


@pytest.fixture(scope="module")
def theirs(service):
    """Another tenant's ledger with something of every kind that a route can name."""
    scope = fresh_scope()
    sealer, agent = service.as_role("sealer", scope), service.as_role("agent", scope)
    args, result = put(sealer, b"{}", "application/json"), put(sealer, b"their secret")
    minted = sealer.post("/seal", json=seal(args, result)).json()["events"]
    other = sealed(sealer, "another secret", step=2, host="beta.example")
    claim = agent.post("/entry", json=entry(result)).json()["events"][0]["event_id"]
    filed = service.as_role("verifier", scope).post("/verdict", json=verdict(minted[1]["event_id"], other)).json()
    recorder = service.as_role("recorder", scope)
    generation = recorder.post("/generation", json=generation_of(result)).json()["events"][0]["event_id"]
    return {
        "scope": scope,
        "seal": minted[0]["event_id"],
        "entry": minted[1]["event_id"],
        "claim": claim,
        "verdict": filed["verdict"],
        "generation": generation,
        "blob": result,
    }


def head_of(http):
    return http.get("/head").json()["evidence"]


PROBES = [
    ("auditor", "GET", "/entry/{entry}", None),
    ("agent", "GET", "/entry/{entry}", None),
    ("agent", "GET", "/entry/{claim}", None),
    ("auditor", "GET", "/generation/{generation}", None),
    ("auditor", "GET", "/edges/{claim}", None),
    ("auditor", "GET", "/proof/inclusion?event_id={seal}", None),
    ("verifier", "GET", "/blob/{blob}?byte_length=12", None),
    ("sealer", "POST", "/replay-audit/{seal}", {}),
    ("operator", "POST", "/verdict/{verdict}/reverse", {"reason": "verifier_error"}),
]


@pytest.mark.parametrize(("role", "method", "path", "body"), PROBES)
def test_a_cross_tenant_probe_is_answered_like_a_probe_of_nothing(service, theirs, scope, role, method, path, body):
    names = {name: theirs[name] for name in ("seal", "entry", "claim", "verdict", "generation")}
    names["blob"] = theirs["blob"]["digest"]
    http = service.as_role(role, scope)
    if role == "operator":
        body = body | {"expected_head": head_of(http)}
    there = http.request(method, path.format(**names), json=body)
    nowhere = http.request(method, path.format(**dict.fromkeys(names, NOWHERE)), json=body)
    assert (there.status_code, nowhere.status_code) == (404, 404)
    assert there.content == nowhere.content
    assert there.headers.keys() == nowhere.headers.keys()
    assert service.as_role(role, theirs["scope"]).request(method, path.format(**names), json=None).status_code != 404


@pytest.mark.parametrize(
    "path", ["/entry/abc", "/entry/" + "Z" * 64, "/entry/%2e%2e", "/no-such-route", "/entry/a/b", "/entry/"]
)
def test_what_cannot_name_anything_is_the_same_404(service, scope, path):
    http = service.as_role("auditor", scope)
    answer = http.get(path)
    assert (answer.status_code, answer.content) == (404, http.get(f"/entry/{NOWHERE}").content)


@pytest.mark.parametrize("field", ["target", "candidate"])
def test_a_reference_into_another_scope_is_an_unknown_reference(service, theirs, scope, field):
    ours = sealed(service.as_role("sealer", scope), "ours", host="gamma.example")
    http = service.as_role("verifier", scope)
    answers = []
    for other in (theirs["entry"], NOWHERE):
        request = verdict(ours, other) if field == "candidate" else verdict(other, ours)
        answer = http.post("/verdict", json=request)
        assert answer.status_code == 422
        answers.append(answer.text.replace(other, ""))
    assert answers[0] == answers[1]


def test_content_of_another_scope_has_to_be_brought_again(service, theirs, scope):
    http = service.as_role("agent", scope)
    answer = http.post("/entry", json=entry(theirs["blob"]))
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:veritas:problem:missing-content")
    assert put(http, b"their secret") == theirs["blob"]
    assert http.post("/entry", json=entry(theirs["blob"])).status_code == 201


def test_lists_and_contexts_show_ones_own_scope_alone(service, theirs, scope):
    assert service.as_role("agent", theirs["scope"]).get("/context").json()["lines"] != []
    for role, path in (
        ("agent", "/context"),
        ("auditor", "/events"),
        ("auditor", "/audit"),
        ("auditor", "/generation"),
    ):
        answer = service.as_role(role, scope).get(path)
        assert answer.status_code == 200
        assert theirs["entry"] not in answer.text
        assert "their secret" not in answer.text


def test_the_same_statement_in_two_scopes_is_two_events(service, theirs, scope):
    sealer = service.as_role("sealer", scope)
    args, result = put(sealer, b"{}", "application/json"), put(sealer, b"their secret")
    minted = sealer.post("/seal", json=seal(args, result)).json()["events"]
    assert minted[0]["event_id"] != theirs["seal"]
    assert minted[0]["position"]["epoch_id"] != NOWHERE
