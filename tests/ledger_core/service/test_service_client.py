"""The client repeats what did not get through and nothing else; what it writes is what is written at home."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import SignatureError, StoreError
from ledger_core.kernel.statements import Scope
from ledger_core.sealing import GenerationRecorder, ToolBoundary, ToolRegistry, register
from ledger_core.sealing.generations import ContextSpan, PlainCall
from ledger_core.service import calls
from ledger_core.service.client import AsyncClient, Client, Retries
from ledger_core.service.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    Refused,
    ServiceError,
    Unauthorized,
    Unavailable,
)
from ledger_core.service.remote import RemoteLedger, call_of
from ledger_core.service.requests import EntryDraft, TokenRequest
from ledger_core.signing import SigningKey
from tests.ledger_core.service.drafts import entry
from tests.ledger_core.service.served import NOW
from tests.ledger_core.story import Story, open_memory

HEAD = {"chain": "ab" * 32, "size": 0}
WHO = {
    "expires_at": None,
    "principal": "token.x",
    "project": "p",
    "role": "agent",
    "tenant": "t",
    "token_id": "0" * 16,
}


def problem(status, detail="no"):
    document = {"type": "urn:veritas:problem:x", "title": "x", "status": status, "detail": detail}
    return httpx.Response(status, content=json.dumps(document), headers={"Content-Type": "application/problem+json"})


class Script:
    """Answers in order; an exception is raised instead."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.slept = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options):
        return Client(
            "http://ledger.example",
            "vt_x",
            transport=httpx.MockTransport(self),
            sleep=self.slept.append,
            **({"retries": Retries(attempts=4)} | options),
        )


class TestRetries:
    @pytest.mark.parametrize(
        "failure",
        [
            httpx.ConnectError("refused"),
            httpx.ReadTimeout("late"),
            httpx.RemoteProtocolError("cut off"),
            problem(408),
            problem(429),
            problem(500),
            problem(502),
            problem(503),
            problem(504),
        ],
        ids=repr,
    )
    def test_what_may_get_through_next_time_is_sent_again_unchanged(self, failure):
        script = Script(failure, failure, httpx.Response(200, json=WHO))
        draft = EntryDraft.model_validate_json(json.dumps(entry(CONTENT)))
        with script.client() as client:
            client.send(
                calls.Call("POST", "/entry", calls.whoami().answer, {}, draft.model_dump_json().encode(), calls.JSON)
            )
        assert len({(one.method, one.url, one.content, one.headers["authorization"]) for one in script.requests}) == 1
        assert len(script.requests) == 3
        assert script.slept == [0.1, 0.2]

    def test_the_service_may_ask_for_more_time(self):
        busy = problem(503)
        busy.headers["Retry-After"] = "7"
        script = Script(busy, httpx.Response(200, json=WHO))
        with script.client() as client:
            assert client.send(calls.whoami()).tenant == "t"
        assert script.slept == [7.0]

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (401, Unauthorized),
            (403, Forbidden),
            (404, NotFound),
            (409, Conflict),
            (413, Refused),
            (422, Refused),
            (507, Unavailable),
        ],
    )
    def test_what_cannot_get_better_is_raised_at_once(self, status, error):
        script = Script(problem(status, "because"))
        with script.client() as client, pytest.raises(error, match=f"{status}: because") as raised:
            client.send(calls.whoami())
        assert (raised.value.status, raised.value.problem["detail"]) == (status, "because")
        assert script.slept == []

    def test_at_last_it_gives_up_and_says_what_it_saw(self):
        script = Script(*[problem(503, "still busy")] * 4)
        with script.client() as client, pytest.raises(Unavailable, match="503: still busy"):
            client.send(calls.whoami())
        script = Script(*[httpx.ConnectError("refused")] * 4)
        with script.client() as client, pytest.raises(Unavailable, match=r"no answer from ledger\.example") as raised:
            client.send(calls.whoami())
        assert raised.value.status is None
        assert isinstance(raised.value, StoreError), "a boundary keeps what it could not deliver"

    def test_making_a_token_is_never_repeated(self):
        script = Script(httpx.ReadTimeout("late"))
        with script.client() as client, pytest.raises(Unavailable):
            client.send(calls.create_token(TokenRequest(role="agent")))
        assert len(script.requests) == 1

    def test_an_answer_that_is_no_problem_document_is_still_an_error(self):
        script = Script(httpx.Response(404, content=b"<html>\xff"))
        with script.client() as client, pytest.raises(NotFound):
            client.send(calls.whoami())

    def test_in_an_event_loop_it_is_the_same(self):
        script = Script(httpx.ConnectError("refused"), problem(503), httpx.Response(200, json=WHO), problem(409))

        async def main():
            transport = httpx.MockTransport(script)
            retries = Retries(attempts=3, first_wait=0.001)
            async with AsyncClient("http://x.example", "vt_x", transport=transport, retries=retries) as client:
                assert (await client.send(calls.whoami())).tenant == "t"
                with pytest.raises(Conflict):
                    await client.send(calls.whoami())

        asyncio.run(main())


CONTENT = {
    "algorithm": "ostk-body-v1",
    "byte_length": 1,
    "digest": "ab" * 32,
    "media_type": "text/plain",
    "protection_domain_id": "default",
}


class TestReceipts:
    def test_a_receipt_that_no_trusted_key_signed_is_refused(self, service, scope):
        other = SigningKey("veritas.checkpoint", b"7" * 32).verifier
        token = service.token("agent", scope)
        with Client(service.url, token, trusted=(other,)) as client:
            content = client.send(calls.put_blob(b"x", TEXT))
            draft = EntryDraft.model_validate_json(json.dumps(entry(content.model_dump())))
            with pytest.raises(SignatureError):
                client.send(calls.commit_entry(draft))


class TestEveryCall:
    def test_reads_as_the_role_that_may(self, service, scope):
        auditor, agent, admin = (service.client(role, scope) for role in ("auditor", "agent", "admin"))
        content = agent.send(calls.put_blob(b"a note", TEXT))
        draft = EntryDraft.model_validate_json(json.dumps(entry(content.model_dump())))
        (event,) = agent.send(calls.commit_entry(draft)).events
        assert auditor.send(calls.get_blob(content)) == b"a note"
        assert auditor.send(calls.head()).evidence.size == 1
        assert auditor.send(calls.entry(event.event_id)).event.position == event.position
        assert agent.send(calls.entry(event.event_id)).text == "a note"
        assert agent.send(calls.context()).lines[0].entry == event.event_id
        assert auditor.send(calls.events(limit=1)).events[0].event_id == event.event_id
        assert auditor.send(calls.events(family="control")).size == 2
        assert auditor.send(calls.audit()).retractions == ()
        assert auditor.send(calls.edges(event.event_id)).measurements == ()
        assert auditor.send(calls.generations()).generations == ()
        assert auditor.send(calls.prove_inclusion(event.event_id)).proof
        assert auditor.send(calls.prove_consistency(1)).proof
        with pytest.raises(NotFound):
            auditor.send(calls.checkpoint())
        with pytest.raises(NotFound):
            auditor.send(calls.generation("ab" * 32))
        made = admin.send(calls.create_token(TokenRequest(role="auditor")))
        assert made.id in {one.id for one in admin.send(calls.tokens()).tokens}
        assert admin.send(calls.revoke_token(made.id)).revoked_at == NOW


class TestRemoteLedger:
    def registry(self):
        tool = register(
            "lookup",
            lambda q: {"q": q, "height": 330},
            effect="read_only",
            reach="external_read",
            determinism="deterministic",
            origin_host="alpha.example",
            runner="simulated",
        )
        return ToolRegistry((tool,))

    @pytest.mark.invariant("§2.1")
    def test_the_tool_boundary_seals_over_http_what_it_seals_at_home(self, service, scope):
        local = open_memory()
        local.scope = scope
        remote = RemoteLedger(service.client("sealer", scope))
        call = ToolBoundary(remote, self.registry(), "run-1", lambda: NOW).call("lookup", {"q": "tower"})
        again = ToolBoundary(remote, self.registry(), "run-1", lambda: NOW).call("lookup", {"q": "tower"})
        assert call == again
        report = service.client("auditor", scope).send(calls.entry(call.entry))
        assert (report.tier, report.cluster) == ("sealed_unverified", "alpha.example")

    def test_ten_megabytes_stream(self, service, scope):
        remote = RemoteLedger(service.client("sealer", scope))
        ref = remote.put_blob_stream((b"x" * 65_536 for _ in range(160)), "application/octet-stream")
        assert ref.byte_length == 160 * 65_536
        assert service.client("auditor", scope).send(calls.get_blob(ref)) == b"x" * ref.byte_length

    def test_the_recorder_records_over_http(self, service, scope):
        sealer = RemoteLedger(service.client("sealer", scope))
        seen = ToolBoundary(sealer, self.registry(), "run-1", lambda: NOW).call("lookup", {"q": "tower"})
        remote = RemoteLedger(service.client("recorder", scope))
        recorder = GenerationRecorder(remote, "run-1")
        call = PlainCall("tests/model", "It is 330 m [1]. It may be the tallest.", (ContextSpan(seen.entry),))
        recorded = recorder.record(call, step=2, renderer="v2", context_head=remote.head())
        assert recorder.record(call, step=2, renderer="v2", context_head=remote.head()) == recorded
        auditor = service.client("auditor", scope)
        generation = auditor.send(calls.generation(recorded.generation))
        assert list(generation.claims) == [claim.entry for claim in recorded.claims]
        assert [one.event_id for one in generation.context] == [seen.entry]
        assert auditor.send(calls.generations()).generations == (recorded.generation,)
        tiers = [auditor.send(calls.entry(claim.entry)).tier for claim in recorded.claims]
        assert tiers == ["derived", "conjecture"]
        assert generation.generation.receipt.context_head is not None

    def test_what_no_route_takes_together_is_refused_before_it_is_sent(self):
        story = Story()
        for statements in ((), tuple(story)[:1], (story.named["seal_alpha"], story.named["user"])):
            with pytest.raises(ServiceError, match="no route"):
                call_of(statements)

    def test_a_statement_of_another_scope_is_noticed(self, service, scope):
        remote = RemoteLedger(service.client("recorder", scope))
        for data, media_type in contents():
            remote.put_blob(data, media_type)
        sealer = RemoteLedger(service.client("sealer", scope))
        story = Story()
        with pytest.raises(ServiceError, match="another scope"):
            sealer.append((story.named["seal_alpha"], story.named["observed_alpha"]), role="sealer")
        assert remote.scope == Scope.make(
            tenant_namespace=scope.tenant_namespace, project_namespace=scope.project_namespace
        )


def contents():
    found = []

    def keep(data, media_type):
        from ledger_core.kernel.content import content_ref

        found.append((data, media_type))
        return content_ref(data, media_type)

    Story(put=keep)
    return found


def test_the_tree_of_errors_is_the_ledgers():
    assert issubclass(ApiError, ServiceError)
    assert all(issubclass(one, ApiError) for one in (Unauthorized, Forbidden, NotFound, Conflict, Refused, Unavailable))
