from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.kernel.errors import LedgerVersionError
from ledger_core.service.errors import ServiceError, TokenError
from ledger_core.service.permissions import ROLES
from ledger_core.service.tokens import TokenStore
from tests.ledger_core.service.served import NOW, fresh_scope

LATER = "2026-03-01T12:00:01.000000000Z"


@pytest.fixture
def tokens(tmp_path):
    store = TokenStore(tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize("role", ROLES)
def test_a_token_admits_its_bearer_in_its_role_and_scope(tokens, scope, role):
    made, text = tokens.create(scope, role, now=NOW)
    assert tokens.authenticate(text, NOW) == made
    assert (made.scope, made.role, made.principal) == (scope, role, f"token.{made.id}")
    assert text == f"vt_{made.id}_{text.rpartition('_')[2]}"
    assert len(text) == 3 + 16 + 1 + 64


def test_the_secret_is_nowhere_in_the_file(tokens, scope, tmp_path):
    _, text = tokens.create(scope, "agent", now=NOW)
    secret = text.rpartition("_")[2]
    stored = (tmp_path / "control.sqlite3").read_bytes()
    assert secret.encode() not in stored
    assert bytes.fromhex(secret) not in stored


@pytest.mark.usefixtures("tokens")
def test_only_its_owner_reads_the_file(tmp_path):
    (file,) = tmp_path.iterdir()
    assert file.name == "control.sqlite3"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_expired_token_says_when_to_whoever_holds_it(tokens, scope):
    made, text = tokens.create(scope, "agent", now=NOW, expires_at=LATER)
    assert tokens.authenticate(text, NOW) == made
    with pytest.raises(TokenError, match=f"expired at {LATER}"):
        tokens.authenticate(text, LATER)


def test_a_revoked_token_is_of_no_use_and_stays_revoked(tokens, scope):
    made, text = tokens.create(scope, "agent", now=NOW)
    assert tokens.revoke(made.id, now=NOW).revoked_at == NOW
    assert tokens.revoke(made.id, now=LATER).revoked_at == NOW
    with pytest.raises(TokenError, match=f"revoked at {NOW}"):
        tokens.authenticate(text, LATER)


def test_another_process_revokes_and_the_next_request_notices(tokens, scope, tmp_path):
    made, text = tokens.create(scope, "agent", now=NOW)
    assert tokens.authenticate(text, NOW) == made
    with sqlite3.connect(tmp_path / "control.sqlite3") as other:
        other.execute("UPDATE tokens SET revoked_at = ?", (NOW,))
    other.close()
    with pytest.raises(TokenError, match="revoked"):
        tokens.authenticate(text, NOW)


def test_unknown_ids_wrong_secrets_and_other_texts_are_one_answer(tokens, scope):
    made, text = tokens.create(scope, "agent", now=NOW)
    tokens.revoke(made.id, now=NOW)
    refused = [
        f"vt_{made.id}_{'0' * 64}",
        f"vt_{'0' * 16}_{text.rpartition('_')[2]}",
        text.upper(),
        text + "0",
        text + "\n",
        made.id,
        "",
    ]
    messages = set()
    for wrong in refused:
        with pytest.raises(TokenError) as error:
            tokens.authenticate(wrong, NOW)
        messages.add(str(error.value))
    assert len(messages) == 1


def test_a_scope_revokes_and_lists_only_its_own(tokens):
    ours, theirs = fresh_scope(), fresh_scope()
    made, text = tokens.create(theirs, "agent", now=NOW)
    mine, _ = tokens.create(ours, "admin", now=NOW)
    with pytest.raises(TokenError, match=made.id):
        tokens.revoke(made.id, now=NOW, scope=ours)
    assert tokens.authenticate(text, NOW) == made
    assert tokens.list(ours) == (mine,)
    assert set(tokens.list()) == {mine, made}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"role": "evaluator"}, "no role is called 'evaluator'"),
        ({"role": "root"}, "no role is called 'root'"),
        ({"principal": "Not A Name"}, "principal 'Not A Name' is no name"),
        ({"expires_at": NOW}, "would never be valid"),
    ],
)
def test_a_token_that_cannot_be_is_not_made(tokens, scope, options, says):
    with pytest.raises(ServiceError, match=says):
        tokens.create(scope, **({"role": "agent", "now": NOW} | options))
    assert tokens.list() == ()


def test_a_file_of_another_program_is_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / "control.sqlite3") as other:
        other.execute("PRAGMA application_id=7")
    other.close()
    with pytest.raises(LedgerVersionError, match="application 0x7"):
        TokenStore(tmp_path)


def test_stores_that_open_a_home_at_once_share_one_file(tmp_path, scope):
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda _: TokenStore(tmp_path), range(8)))
        made = list(pool.map(lambda store: store.create(scope, "agent", now=NOW), stores))
    for store in stores:
        assert {token.id for token in store.list()} == {token.id for token, _ in made}
        assert [store.authenticate(text, NOW) for _, text in made] == [token for token, _ in made]
        store.close()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=120) | st.from_regex(r"vt_[0-9a-f]{16}_[0-9a-f]{64}", fullmatch=True))
def test_no_text_gets_in_by_chance(tokens, text):
    with pytest.raises(TokenError):
        tokens.authenticate(text, NOW)


class TestOverHttp:
    def test_no_token_another_scheme_and_a_wrong_one_are_401(self, service, scope):
        token = service.token("agent", scope)
        for header in ({}, {"Authorization": f"Basic {token}"}, {"Authorization": "Bearer vt_x"}):
            answer = service.http().get("/whoami", headers=header)
            assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
        assert service.http().get("/whoami", headers={"Authorization": f"bearer {token}"}).status_code == 200

    def test_a_revoked_and_an_expired_token_are_401_at_once(self, service, scope):
        http = service.as_role("agent", scope)
        assert http.get("/whoami").status_code == 200
        service.tokens.revoke(http.get("/whoami").json()["token_id"], now=NOW)
        assert http.get("/whoami").status_code == 401
        old, text = service.tokens.create(scope, "agent", now="2026-01-01T00:00:00.000000000Z", expires_at=NOW)
        answer = service.http(text).get("/whoami")
        assert answer.status_code == 401
        assert old.id in answer.json()["detail"]

    def test_an_admin_makes_lists_and_revokes_tokens_of_its_own_scope(self, service, scope):
        admin = service.as_role("admin", scope)
        made = admin.post("/token", json={"role": "agent", "principal": "agent.one", "expires_at": LATER})
        assert made.status_code == 201
        token = made.json()
        agent = service.http(token["token"])
        assert agent.get("/whoami").json() == {
            "expires_at": LATER,
            "principal": "agent.one",
            "project": "tests",
            "role": "agent",
            "tenant": scope.tenant_namespace,
            "token_id": token["id"],
        }
        listed = admin.get("/token").json()["tokens"]
        assert [one["id"] for one in listed if one["principal"] == "agent.one"] == [token["id"]]
        assert "token" not in listed[0]
        assert admin.post(f"/token/{token['id']}/revoke").json()["revoked_at"] == NOW
        assert agent.get("/whoami").status_code == 401

    def test_an_admin_does_not_see_another_scopes_tokens(self, service, scope):
        theirs, _ = service.tokens.create(fresh_scope(), "agent", now=NOW)
        admin = service.as_role("admin", scope)
        there, nowhere = (admin.post(f"/token/{name}/revoke") for name in (theirs.id, "0" * 16))
        assert (there.status_code, there.content) == (404, nowhere.content)
        assert theirs.id not in admin.get("/token").text

    @pytest.mark.parametrize(
        "body", [{"role": "evaluator"}, {"role": "agent", "tenant": "other"}, {"role": "agent", "expires_at": NOW}, {}]
    )
    def test_a_token_that_cannot_be_is_422(self, service, scope, body):
        assert service.as_role("admin", scope).post("/token", json=body).status_code == 422
