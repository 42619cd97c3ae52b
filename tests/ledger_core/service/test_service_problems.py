"""What each error of the ledger is to a caller, and what of it the caller is told."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from ledger_core.kernel import errors
from ledger_core.service import problems
from ledger_core.service.errors import ServiceError
from ledger_core.service.problems import ProblemDocument, ProblemKind
from ledger_core.stores.ledger import scope_folder
from tests.ledger_core.service.drafts import entry, put
from tests.ledger_core.service.served import fresh_scope

SECRET = "/srv/veritas/ledgers/acme"

TOLD = {
    errors.StrictProfileError: 422,
    errors.JcsProfileError: 422,
    errors.MerkleError: 422,
    errors.StatementError: 422,
    errors.TrustFieldError: 422,
    errors.AppendError: 422,
    errors.UnknownReferenceError: 422,
    errors.PolicyError: 422,
    errors.BeliefError: 422,
    errors.BlobError: 422,
}
"""About the request: the message goes to the caller."""

KEPT = {
    errors.StoreError: 500,
    errors.LedgerVersionError: 500,
    errors.VerificationError: 500,
    errors.SigningKeyError: 500,
    errors.LedgerBusyError: 503,
    errors.StoreUnreachableError: 503,
    errors.OutcomeUnknownError: 503,
    errors.ProviderUnavailableError: 503,
    errors.StorageFullError: 507,
    ServiceError: 500,
}
"""About the service: logged, and told only by its kind."""


@pytest.mark.parametrize(("error", "status"), TOLD.items())
def test_what_is_about_the_request_is_told_in_the_ledgers_words(error, status):
    problem = problems.from_ledger(error("field `tool`: no such thing"))
    assert (problem.kind.status, problem.detail) == (status, "field `tool`: no such thing")


@pytest.mark.parametrize(("error", "status"), KEPT.items())
def test_what_is_about_the_service_is_logged_and_not_told(error, status, caplog):
    problem = problems.from_ledger(error(f"cannot use {SECRET}"))
    response = problem.response()
    assert problem.kind.status == response.status_code == status
    assert SECRET not in response.body.decode()
    assert SECRET in caplog.text
    assert ("retry-after" in response.headers) == (status == 503)


def test_whether_anything_was_written_is_said_as_far_as_it_is_known():
    unknown = problems.from_ledger(errors.OutcomeUnknownError("cut off")).detail
    busy = problems.from_ledger(errors.LedgerBusyError("held")).detail
    assert "may or may not" in unknown
    assert "nothing was written" in busy


def test_a_collision_names_both_events():
    error = errors.CollisionError("two things", source_fact_id="f", held="a" * 64, refused="b" * 64)
    document = json.loads(problems.from_ledger(error).response().body)
    assert (document["status"], document["held"], document["refused"]) == (409, "a" * 64, "b" * 64)


def test_a_bug_tells_nothing_of_itself(caplog):
    response = problems.internal(ZeroDivisionError(SECRET)).response()
    assert response.status_code == 500
    assert SECRET not in response.body.decode()
    assert SECRET in caplog.text


@pytest.mark.parametrize("kind", ProblemKind)
def test_every_kind_is_a_document_of_the_one_form(kind):
    response = problems.Problem(kind, "why").response()
    document = ProblemDocument.model_validate_json(response.body)
    assert (document.status, document.title, document.detail) == (response.status_code, kind.value.title, "why")
    assert document.type == f"urn:veritas:problem:{kind.slug}"
    assert response.headers["content-type"] == "application/problem+json"
    assert set(json.loads(response.body)) == {"type", "title", "status", "detail"}


class TestDamage:
    """Whatever lies on the disk is not the caller's doing, and the caller is told so and no more."""

    @pytest.fixture
    def damaged(self, service, scope):
        agent = service.as_role("agent", scope)
        made = agent.post("/entry", json=entry(put(agent, b"a note"))).json()["events"][0]["event_id"]
        file = scope_folder(service.home, scope) / "ledger.sqlite3"
        with closing(sqlite3.connect(file)) as other, other:
            other.execute("UPDATE events SET statement = x'7b' WHERE event_id = ?", (made,))
        return made

    @pytest.mark.invariant("§2.6")
    @pytest.mark.parametrize(
        ("role", "path"),
        [
            ("auditor", "/entry/{}"),
            ("agent", "/entry/{}"),
            ("agent", "/context"),
            ("auditor", "/audit"),
            ("auditor", "/generation"),
        ],
    )
    def test_a_damaged_statement_is_a_500_that_tells_nothing(self, service, scope, damaged, role, path):
        answer = service.as_role(role, scope).get(path.format(damaged))
        assert (answer.status_code, answer.json()["type"]) == (500, "urn:veritas:problem:damaged")
        assert damaged not in answer.text
        assert str(service.home) not in answer.text

    def test_other_ledgers_do_not_notice(self, service, damaged):
        assert damaged
        assert service.as_role("agent", fresh_scope()).get("/context").status_code == 200
