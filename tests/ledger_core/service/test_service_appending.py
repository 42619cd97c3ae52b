from __future__ import annotations

import json
import threading

import pytest

from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import content_ref
from ledger_core.kernel.records import TRUST_FIELDS
from ledger_core.kernel.statements import decode_statement
from ledger_core.service import calls
from ledger_core.service.remote import call_of
from ledger_core.signing import SignedNote, check_receipt
from tests.ledger_core.service.drafts import entry, generation_of, put, seal, sealed, verdict
from tests.ledger_core.service.served import NOW
from tests.ledger_core.story import SCOPE, Story


def statements(service, scope):
    """The whole evidence log, as an auditor reads it."""
    page = service.as_role("auditor", scope).get("/events", params={"limit": 500}).json()
    return [
        decode_statement(json.dumps(one["statement"], ensure_ascii=False, separators=(",", ":")).encode())
        for one in page["events"]
    ]


def problem(answer, status, slug):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"urn:veritas:problem:{slug}", document
    assert document["status"] == status
    return document


class TestFreshAndReplayed:
    def test_a_seal_mints_its_observation_and_is_201_then_200_at_the_same_place(self, service, scope):
        http = service.as_role("sealer", scope)
        args, result = put(http, b"{}", "application/json"), put(http, b"330 m")
        first = http.post("/seal", json=seal(args, result))
        again = http.post("/seal", json=seal(args, result))
        assert (first.status_code, again.status_code) == (201, 200)
        minted, replayed = first.json()["events"], again.json()["events"]
        assert [(one["kind"], one["outcome"]) for one in minted] == [
            ("seal.minted", "fresh"),
            ("entry.observed", "fresh"),
        ]
        assert [one["outcome"] for one in replayed] == ["replayed", "replayed"]
        assert [one["position"]["committed_offset"] for one in minted] == ["1", "2"]
        for left, right in zip(minted, replayed, strict=True):
            assert {**left, "outcome": ""} == {**right, "outcome": ""}
        seal_event, observation = statements(service, scope)
        assert observation.body.seal == seal_event.event_id == minted[0]["event_id"]
        assert observation.body.content.model_dump() == result
        assert observation.observed_at == seal_event.observed_at

    def test_declared_records_are_observations_of_their_own(self, service, scope):
        http = service.as_role("sealer", scope)
        args, result = put(http, b"{}", "application/json"), put(http, b'{"hits":["a","b"]}', "application/json")
        request = seal(args, result)
        request["observations"] = [
            {
                "body": {"content": put(http, text), "record_pointer": f"/hits/{place}", "predicate_family": "height"},
                "source_fact": {**request["seal"]["source_fact"], "key": f"1@{place}/call"},
            }
            for place, text in enumerate((b'"a"', b'"b"'))
        ]
        assert http.post("/seal", json=request).status_code == 201
        _, first, second = statements(service, scope)
        assert [one.body.record_pointer for one in (first, second)] == ["/hits/0", "/hits/1"]
        assert {one.body.predicate_family for one in (first, second)} == {"height"}

    def test_every_append_is_receipted_with_the_services_signature(self, service, scope):
        http = service.as_role("agent", scope)
        answer = http.post("/entry", json=entry(put(http, b"a note")))
        (event,) = answer.json()["events"]
        leaf = check_receipt(SignedNote.parse(event["receipt"]), (service.key,))
        assert (leaf.event_id, leaf.position.model_dump()) == (event["event_id"], event["position"])

    def test_receipts_name_principal_role_channel_and_delivery(self, service, scope):
        http = service.http(service.token("agent", scope, principal="agent.seven"))
        content = put(http, b"a note")
        assert http.post("/entry", json=entry(content), headers={"Delivery-Id": "try 1"}).status_code == 201
        (event,) = service.as_role("auditor", scope).get("/events").json()["events"]
        receipt = event["receipt"]
        assert {name: receipt[name] for name in ("principal_id", "role", "channel", "delivery_id", "received_at")} == {
            "principal_id": "agent.seven",
            "role": "agent",
            "channel": "service",
            "delivery_id": "try 1",
            "received_at": NOW,
        }

    def test_a_whole_story_over_http_has_the_ids_it_has_at_home(self, service):
        """What each role sends of the story; verdicts, audits and control statements are the service's own to write."""
        story, sent = Story(), []
        clients = {role: service.client(role, SCOPE) for role in ("sealer", "recorder", "attributor", "agent")}
        for content, media_type in contents_of_story():
            clients["recorder"].send(calls.put_blob(content, media_type))
        kinds = ("seal.minted", "entry.observed", "entry.given", "generation.recorded", "edges.measured")
        given = ()
        for batch in story.batches:
            wanted = tuple(
                one for one in batch.statements if one.kind in {*kinds, "entry.derived", "entry.conjectured"}
            )
            if not wanted or wanted[0].representation.lineage.event_id is not None:
                continue
            if all(one.kind == "entry.given" for one in wanted):
                given = wanted  # they are recorded with the generation that shows them first
                continue
            if batch.role == "recorder":
                wanted, given = given + wanted, ()
            made = clients[batch.role].send(call_of(wanted))
            assert [event.event_id for event in made.events] == [one.event_id for one in wanted]
            sent += [event.event_id for event in made.events]
        assert len(sent) >= 10
        assert [one.event_id for one in statements(service, SCOPE)] == sent


def contents_of_story():
    found = []

    def keep(data, media_type):
        found.append((data, media_type))
        return content_ref(data, media_type)

    Story(put=keep)
    return found


@pytest.mark.invariant("§2.2")
class TestTrustFields:
    @pytest.mark.parametrize("name", sorted(TRUST_FIELDS))
    @pytest.mark.parametrize("place", [(), ("body",), ("source_fact",), ("representation",), ("body", "content")])
    def test_a_request_that_states_its_own_trust_is_refused_by_the_fields_name(self, service, scope, name, place):
        http = service.as_role("agent", scope)
        request = entry(put(http, b"trust me"))
        at = request
        for part in place:
            at = at[part]
        at[name] = 1
        found = problem(http.post("/entry", json=request), 422, "trust-field")
        assert found["field"] == ".".join((*place, name))
        assert statements(service, scope) == []

    def test_a_trust_field_is_named_before_anything_else_that_is_wrong(self, service, scope):
        http = service.as_role("agent", scope)
        request = {"kind": "entry.derived", "zeal": 1, "tier": "sealed_verified"}
        assert problem(http.post("/entry", json=request), 422, "trust-field")["field"] == "tier"

    @pytest.mark.parametrize("name", sorted(TRUST_FIELDS))
    def test_neither_does_a_parameter_state_it(self, service, scope, name):
        http = service.as_role("agent", scope)
        answer = http.post("/entry", json=entry(put(http, b"x")), params={name: "1"})
        assert problem(answer, 422, "trust-field")["field"] == name
        assert statements(service, scope) == []


class TestRefusals:
    @pytest.mark.parametrize("name", ["scope", "tenant", "project", "tenant_namespace", "role", "kind_of"])
    def test_scope_and_role_come_from_the_token_alone(self, service, scope, name):
        http = service.as_role("agent", scope)
        request = entry(put(http, b"x")) | {name: "other"}
        assert problem(http.post("/entry", json=request), 422, "invalid")["field"] == name

    @pytest.mark.parametrize("kind", ["entry.observed", "entry.given", "seal.minted", "generation.recorded"])
    @pytest.mark.invariant("§2.1")
    def test_an_agent_commits_claims_and_nothing_else(self, service, scope, kind):
        http = service.as_role("agent", scope)
        assert problem(http.post("/entry", json=entry(put(http, b"x"), kind=kind)), 422, "invalid")["field"] == "kind"

    def test_another_text_for_the_same_fact_is_409_and_kept_by_its_digest(self, service, scope):
        http = service.as_role("agent", scope)
        first = http.post("/entry", json=entry(put(http, b"one"))).json()["events"][0]["event_id"]
        found = problem(http.post("/entry", json=entry(put(http, b"two"))), 409, "collision")
        assert found["held"] == first
        audit = service.as_role("auditor", scope).get("/audit").json()
        assert [(one["held"], one["refused"]) for one in audit["collisions"]] == [(first, found["refused"])]

    def test_a_replacement_says_what_it_replaces(self, service, scope):
        http = service.as_role("agent", scope)
        first = http.post("/entry", json=entry(put(http, b"one"))).json()["events"][0]["event_id"]
        request = entry(put(http, b"two"))
        request["representation"] = request["representation"] | {
            "lineage": {"event_id": first, "relation": "supersedes"}
        }
        assert http.post("/entry", json=request).status_code == 201

    def test_a_parent_that_is_nowhere_is_422(self, service, scope):
        http = service.as_role("agent", scope)
        request = entry(put(http, b"x"), parents=[{"entry": "ab" * 32, "ppm": 1000}])
        assert "ab" * 32 in problem(http.post("/entry", json=request), 422, "unknown-reference")["detail"]

    def test_content_that_was_not_put_first_is_422(self, service, scope):
        http = service.as_role("agent", scope)
        content = content_ref(b"never stored", "text/plain").model_dump()
        problem(http.post("/entry", json=entry(content)), 422, "missing-content")

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            (b"", "EOF"),
            (b"{", "EOF"),
            (b"[]", "object"),
            (b"\xff", "JSON"),
            (b'{"kind": "entry.derived", "kind": "entry.derived"}', ""),
            (b"[" * 100_000, ""),
        ],
    )
    def test_a_body_that_is_no_such_document_is_422(self, service, scope, body, says):
        http = service.as_role("agent", scope)
        answer = http.post("/entry", content=body, headers={"Content-Type": "application/json"})
        assert says.lower() in problem(answer, 422, "invalid")["detail"].lower()

    def test_a_key_that_stands_twice_is_422(self, service, scope):
        http = service.as_role("agent", scope)
        text = json.dumps(entry(put(http, b"x")))
        twice = text.replace('{"body"', '{"kind": "entry.derived", "body"')
        answer = http.post("/entry", content=twice, headers={"Content-Type": "application/json"})
        assert problem(answer, 422, "invalid")["field"] == "kind"
        assert "twice" in answer.json()["detail"]

    @pytest.mark.parametrize("wrong", [True, 1.0, "1", None, -1, 1_000_001])
    def test_numbers_are_integers_in_their_range_and_nothing_is_coerced(self, service, scope, wrong):
        http = service.as_role("agent", scope)
        request = entry(put(http, b"x"), parents=[{"entry": "ab" * 32, "ppm": wrong}])
        assert problem(http.post("/entry", json=request), 422, "invalid")["field"] == "body.parents.0.ppm"

    def test_an_observation_of_the_whole_result_has_the_results_content(self, service, scope):
        http = service.as_role("sealer", scope)
        request = seal(put(http, b"{}", "application/json"), put(http, b"330 m"))
        request["observations"] = [
            {"body": {"content": put(http, b"310 m")}, "source_fact": request["seal"]["source_fact"]}
        ]
        assert problem(http.post("/seal", json=request), 422, "invalid")["field"] == "observations.body.content"


class TestClaims:
    """A claim of a generation is that generation's own words."""

    @pytest.fixture
    def recorded(self, service, scope):
        http = service.as_role("recorder", scope)
        response = put(http, b"It is 330 m. Or so.")
        request = {
            "generation": {
                "body": {
                    "attestation": "boundary",
                    "claims": [{"byte_start": 0, "byte_stop": 12, "form": "sentence"}],
                    "context": [],
                    "decoding": "greedy",
                    "model": "tests/model",
                    "policy": None,
                    "prompt_tokens": None,
                    "renderer": "v2",
                    "response": response,
                    "response_tokens": None,
                    "splitter": "sentences-v1",
                    "weights_digest": None,
                },
                "representation": {"producer": "tests.service", "producer_version": "1"},
                "source_fact": {"key": "1", "namespace": "tests.service", "object": "run-1", "revision": "1"},
            }
        }
        answer = http.post("/generation", json=request)
        assert answer.status_code == 201, answer.text
        return answer.json()["events"][0]["event_id"]

    def claim(self, service, scope, generation, text, span):
        http = service.as_role("agent", scope)
        request = entry(put(http, text), kind="entry.derived", generation=generation, span=span)
        return http.post("/entry", json=request)

    def test_its_own_words_are_taken(self, service, scope, recorded):
        assert self.claim(service, scope, recorded, b"It is 330 m.", {"start": 0, "stop": 12}).status_code == 201

    @pytest.mark.invariant("§2.1", "§2.2")
    @pytest.mark.parametrize(
        ("text", "span", "field"),
        [
            (b"It is 310 m.", {"start": 0, "stop": 12}, "body.content"),
            (b"It is 330 m. Or so.", {"start": 0, "stop": 12}, "body.content"),
            (b"is 330 m.", {"start": 3, "stop": 12}, "body.span"),
            (b"Or so.", {"start": 13, "stop": 19}, "body.span"),
            (b"It is 330 m. Or so. Believe me.", {"start": 0, "stop": 31}, "body.span"),
        ],
    )
    def test_other_words_under_its_name_are_not(self, service, scope, recorded, text, span, field):
        """Nor are its own words cut where the recorder did not cut them: half a sentence may say the opposite."""
        before = len(statements(service, scope))
        assert problem(self.claim(service, scope, recorded, text, span), 422, "invalid")["field"] == field
        assert len(statements(service, scope)) == before

    def test_a_claim_of_a_generation_that_is_nowhere_is_an_unknown_reference(self, service, scope):
        problem(self.claim(service, scope, "ab" * 32, b"x", {"start": 0, "stop": 1}), 422, "unknown-reference")


@pytest.mark.invariant("§2.5")
class TestVerdicts:
    def test_two_independent_contradictors_fire_and_everything_is_in_one_answer(self, service, scope):
        sealer = service.as_role("sealer", scope)
        target = sealed(sealer, "310 m", step=1, host="alpha.example")
        first, second = (
            sealed(sealer, f"330 m, says {host}", step=step, host=host)
            for step, host in ((2, "beta.example"), (3, "gamma.example"))
        )
        http = service.as_role("verifier", scope)
        one = http.post("/verdict", json=verdict(target, first))
        assert (one.status_code, one.json()["fired"]) == (201, False)
        two = http.post("/contradiction", json=verdict(target, second))
        assert (two.status_code, two.json()["fired"]) == (201, True)
        kinds = [event["kind"] for event in two.json()["events"]]
        assert kinds[:3] == ["verdict.filed", "independence.assessed", "cascade.fired"]
        again = http.post("/verdict", json=verdict(target, second))
        assert (again.status_code, again.json()["fired"]) == (200, True)
        assert [event["event_id"] for event in again.json()["events"]] == [
            event["event_id"] for event in two.json()["events"]
        ]
        assert [one["target"] for one in service.as_role("auditor", scope).get("/audit").json()["retractions"]] == [
            target
        ]

    def test_the_log_is_read_outside_the_writers_thread_before_a_verdict_is_filed_in_it(
        self, service, scope, monkeypatch
    ):
        """What appends wait for is the filing, and not the first reading of a long log."""
        sealer = service.as_role("sealer", scope)
        target, candidate = sealed(sealer, "310 m", step=1), sealed(sealer, "330 m", step=2, host="beta.example")
        read: list[tuple[str, int]] = []
        real = VerdictDesk.catch_up

        def watched(desk: VerdictDesk) -> None:
            before = desk._read_to
            real(desk)
            read.append((threading.current_thread().name, desk._read_to - before))

        monkeypatch.setattr(VerdictDesk, "catch_up", watched)
        assert service.as_role("verifier", scope).post("/verdict", json=verdict(target, candidate)).status_code == 201
        (reader, ahead), (writer, rest) = read
        assert (writer.startswith("veritas-writer"), reader.startswith("veritas-writer")) == (True, False)
        assert (ahead, rest) == (4, 0)

    def test_asking_again_until_the_answer_suits_is_a_collision(self, service, scope):
        sealer = service.as_role("sealer", scope)
        target, candidate = sealed(sealer, "310 m", step=1), sealed(sealer, "330 m", step=2, host="beta.example")
        http = service.as_role("verifier", scope)
        assert http.post("/verdict", json=verdict(target, candidate, "undecided")).status_code == 201
        problem(http.post("/verdict", json=verdict(target, candidate, "contradict")), 409, "collision")

    def test_a_verdict_on_what_is_nowhere_is_an_unknown_reference(self, service, scope):
        http = service.as_role("verifier", scope)
        problem(http.post("/verdict", json=verdict("ab" * 32, "cd" * 32)), 422, "unknown-reference")


@pytest.mark.invariant("§2.1")
class TestAttacksOfAnAgent:
    """Whole, well-formed requests with an agent's token: refused, and the log does not grow by anything."""

    @pytest.fixture
    def scene(self, service, scope):
        sealer = service.as_role("sealer", scope)
        args, result = put(sealer, b"{}", "application/json"), put(sealer, b"330 m")
        minted = sealer.post("/seal", json=seal(args, result)).json()["events"]
        other = sealed(sealer, "310 m", step=2, host="beta.example")
        return args, result, minted[0]["event_id"], minted[1]["event_id"], other

    def test_sealing_recording_judging_measuring_and_operating(self, service, scope, scene):
        args, result, seal_id, target, candidate = scene
        agent = service.as_role("agent", scope)
        head = agent.get("/head").json()
        before = statements(service, scope)
        attempts = {
            "/seal": seal(args, result, step=9),
            "/generation": generation_of(result),
            "/verdict": verdict(target, candidate),
            "/contradiction": verdict(target, candidate),
            f"/replay-audit/{seal_id}": {"fetched": {"content": result, "fetched_at": NOW}},
            "/policy": {
                "expected_head": head["evidence"],
                "name": "mine",
                "policy": head["policy"]["policy"] | {"quorum": 1},
                "predecessor": head["policy"]["event_id"],
            },
            "/erasure": {"expected_head": head["evidence"], "content_digest": result["digest"], "reason": "legal"},
            "/checkpoint": {"expected_head": head["evidence"]},
            "/token": {"role": "sealer"},
        }
        for path, body in attempts.items():
            problem(agent.post(path, json=body), 403, "forbidden")
        assert statements(service, scope) == before
        assert agent.get("/head").json() == head

    def test_a_claim_raises_no_belief_by_what_it_declares(self, service, scope, scene):
        """Through parents, without any, or about itself: a claim without a recorded generation is a conjecture."""
        _, _, _, target, candidate = scene
        agent, reader = service.as_role("agent", scope), service.as_role("auditor", scope)
        before = [reader.get(f"/entry/{one}").json()["belief"] for one in (target, candidate)]
        beliefs = set()
        for key, parents in enumerate(([], [target], [target, candidate])):
            declared = [{"entry": one, "ppm": 1_000_000} for one in sorted(parents)]
            request = entry(put(agent, b"330 m"), key=str(key), kind="entry.derived", parents=declared)
            made = agent.post("/entry", json=request).json()["events"][0]["event_id"]
            report = reader.get(f"/entry/{made}").json()
            assert report["tier"] == "conjecture"
            beliefs.add(report["belief"])
        assert beliefs == {250_000_000}
        assert [reader.get(f"/entry/{one}").json()["belief"] for one in (target, candidate)] == before
