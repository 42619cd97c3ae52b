from __future__ import annotations

import json

import pytest

from ledger_core.belief.policies import STRICT_CLUSTERS
from ledger_core.harness.contexts import context_at
from ledger_core.kernel.errors import MerkleError
from ledger_core.kernel.statements import decode_statement
from ledger_core.signing import Checkpoint, ConsistencyProof, InclusionProof, SignedNote
from ledger_core.stores import Ledger
from tests.ledger_core.service.drafts import entry, put, sealed, verdict
from tests.ledger_core.service.served import NOW


@pytest.fixture
def quorum(service, scope):
    """A retracted observation, the two that contradict it, and a claim that rests on it."""
    sealer, agent = service.as_role("sealer", scope), service.as_role("agent", scope)
    target = sealed(sealer, "The tower is 310 m.", step=1, host="alpha.example")
    beta = sealed(sealer, "The tower is 330 m.", step=2, host="beta.example")
    gamma = sealed(sealer, "It stands 330 m tall.", step=3, host="gamma.example")
    claim = agent.post("/entry", json=entry(put(agent, b"So 310 m."), parents=[{"entry": target, "ppm": 1_000_000}]))
    verifier = service.as_role("verifier", scope)
    filed = [verifier.post("/verdict", json=verdict(target, one)).json()["verdict"] for one in (beta, gamma)]
    return {
        "target": target,
        "beta": beta,
        "gamma": gamma,
        "claim": claim.json()["events"][0]["event_id"],
        "verdicts": filed,
    }


class TestEntry:
    def test_an_agent_is_told_of_what_fell_only_that_it_fell(self, service, scope, quorum):
        http = service.as_role("agent", scope)
        for name in ("target", "claim"):
            assert http.get(f"/entry/{quorum[name]}").json() == {"event_id": quorum[name], "status": "invalidated"}

    def test_an_agent_sees_what_holds_without_a_number(self, service, scope, quorum):
        seen = service.as_role("agent", scope).get(f"/entry/{quorum['beta']}").json()
        assert seen.pop("content")["byte_length"] == 19
        assert seen == {
            "event_id": quorum["beta"],
            "kind": "entry.observed",
            "status": "live",
            "text": "The tower is 330 m.",
            "tier": "sealed_unverified",
        }

    @pytest.mark.invariant("§2.3", "§2.5")
    def test_a_reader_sees_why(self, service, scope, quorum):
        http = service.as_role("auditor", scope)
        target, claim = (http.get(f"/entry/{quorum[name]}").json() for name in ("target", "claim"))
        assert (target["retracted"], target["attenuation"], target["cluster"]) == (True, 50_000_000, "alpha.example")
        assert (claim["retracted"], claim["invalidated"], claim["path"]) == (False, True, [quorum["target"]])
        assert claim["hyperedges"] == [{"parents": [quorum["target"]], "ppm": 1_000_000}]
        assert claim["belief"] == claim["base"] * claim["attenuation"] // 10**9

    def test_what_is_no_entry_is_not_there(self, service, scope, quorum):
        assert service.as_role("auditor", scope).get(f"/entry/{quorum['verdicts'][0]}").status_code == 404


class TestContext:
    def test_the_working_set_is_silent_about_what_fell(self, service, scope, quorum):
        http = service.as_role("agent", scope)
        shown = http.get("/context").json()
        assert [line["entry"] for line in shown["lines"]] == [quorum["beta"], quorum["gamma"]]
        assert shown["text"] == "[verified] The tower is 330 m.\n[verified] It stands 330 m tall."
        assert shown["renderer"] == "v2"
        assert shown["head"] == http.get("/head").json()["evidence"]["chain"]
        assert shown["policy"] == http.get("/head").json()["policy"]["digest"]

    def test_it_can_be_made_again_from_what_it_names(self, service, scope, quorum):
        shown = service.as_role("agent", scope).get("/context").json()
        agent = service.as_role("agent", scope)
        agent.post("/entry", json=entry(put(agent, b"a later note"), key="later"))
        assert service.as_role("agent", scope).get("/context").json()["head"] != shown["head"]
        with Ledger.open(service.home, scope, now=NOW, policy=STRICT_CLUSTERS, policy_name="unused") as ledger:
            again = context_at(ledger, head=shown["head"], policy=shown["policy"], renderer=shown["renderer"])
        assert (again.text, list(again.entries)) == (shown["text"], [quorum["beta"], quorum["gamma"]])

    def test_v1_shows_and_marks_everything(self, service, scope, quorum):
        shown = service.as_role("agent", scope).get("/context", params={"renderer": "v1"}).json()
        assert shown["lines"][0]["entry"] == quorum["target"]
        assert shown["lines"][0]["text"].startswith("[RETRACTED]")

    def test_another_renderer_is_422(self, service, scope):
        answer = service.as_role("agent", scope).get("/context", params={"renderer": "flat"})
        assert (answer.status_code, answer.json()["field"]) == (422, "renderer")


class TestAudit:
    def test_the_record_says_what_the_context_leaves_out(self, service, scope, quorum):
        audit = service.as_role("auditor", scope).get("/audit").json()
        assert audit["retractions"] == [
            {"target": quorum["target"], "members": sorted((quorum["beta"], quorum["gamma"])), "largest_independent": 2}
        ]
        assert set(audit["invalidated"]) == {quorum["target"], quorum["claim"]}
        assert audit["suspended"] == []
        assert [(one["cluster"], one["successes"], one["failures"]) for one in audit["reputation"]] == [
            ("alpha.example", 0, 1),
            ("beta.example", 1, 0),
            ("gamma.example", 1, 0),
        ]


class TestEvents:
    def test_pages_name_one_signed_size_and_end_there(self, service, scope, quorum):
        assert quorum
        http = service.as_role("auditor", scope)
        first = http.get("/events", params={"limit": 4}).json()
        size = first["size"]
        agent = service.as_role("agent", scope)
        agent.post("/entry", json=entry(put(agent, b"a later note"), key="later"))
        pages, after = [first], first["next"]
        while after is not None:
            pages.append(http.get("/events", params={"limit": 4, "after": after, "size": size}).json())
            after = pages[-1]["next"]
        assert {page["checkpoint"] for page in pages} == {first["checkpoint"]}
        events = [event for page in pages for event in page["events"]]
        assert [event["position"]["committed_offset"] for event in events] == [str(n + 1) for n in range(size)]
        assert http.get("/events").json()["size"] == size + 1
        note = SignedNote.parse(first["checkpoint"])
        assert note.require((service.key,)) == (service.key,)
        checkpoint = Checkpoint.parse(note.text)
        assert checkpoint.size == size
        assert checkpoint.origin == f"veritas/{scope.tenant_namespace}/{scope.project_namespace}/evidence"

    def test_statements_are_their_canonical_bytes(self, service, scope, quorum):
        assert quorum
        for family in ("evidence", "control"):
            page = service.as_role("verifier", scope).get("/events", params={"family": family, "limit": 500}).json()
            for event in page["events"]:
                encoded = json.dumps(event["statement"], ensure_ascii=False, separators=(",", ":")).encode()
                assert decode_statement(encoded).event_id == event["event_id"]

    def test_an_empty_log_has_no_checkpoint(self, service, scope):
        page = service.as_role("auditor", scope).get("/events").json()
        assert page == {"checkpoint": None, "events": [], "family": "evidence", "next": None, "size": 0}

    @pytest.mark.parametrize(
        ("params", "field"),
        [
            ({"size": 1}, "size"),
            ({"size": 0}, "size"),
            ({"limit": 0}, "limit"),
            ({"limit": 501}, "limit"),
            ({"after": -1}, "after"),
            ({"family": "all"}, "family"),
            ({"tenant": "x"}, "tenant"),
        ],
    )
    def test_parameters_that_cannot_be_are_named(self, service, scope, params, field):
        answer = service.as_role("auditor", scope).get("/events", params=params)
        assert (answer.status_code, answer.json()["field"]) == (422, field)


class TestProofs:
    def test_an_event_stands_in_the_log_and_a_file_proves_it(self, service, scope, quorum):
        http = service.as_role("auditor", scope)
        answer = http.get("/proof/inclusion", params={"event_id": quorum["beta"]}).json()
        proof = InclusionProof.parse(answer["proof"])
        assert proof.leaf.event_id == quorum["beta"]
        assert proof.require((service.key,)).size == http.get("/events").json()["size"]
        assert answer["key"] == str(service.key)

    def test_an_event_is_in_no_smaller_log(self, service, scope, quorum):
        http = service.as_role("auditor", scope)
        answer = http.get("/proof/inclusion", params={"event_id": quorum["gamma"], "size": 2})
        assert answer.status_code == 422

    def test_a_log_begins_with_what_it_was(self, service, scope, quorum):
        assert quorum
        http = service.as_role("auditor", scope)
        proof = ConsistencyProof.parse(http.get("/proof/consistency", params={"first": 3}).json()["proof"])
        older, newer = proof.require((service.key,))
        assert (older.size, newer.size) == (3, http.get("/events").json()["size"])
        forged = ConsistencyProof(tuple(reversed(proof.path)), proof.older, proof.newer)
        with pytest.raises(MerkleError):
            forged.require((service.key,))

    @pytest.mark.parametrize("params", [{"first": 0}, {"first": 3, "second": 2}, {"first": 1, "second": 10**6}, {}])
    def test_a_proof_of_size_0_or_backwards_or_of_what_is_not_there_yet_is_422(self, service, scope, quorum, params):
        assert quorum
        assert service.as_role("auditor", scope).get("/proof/consistency", params=params).status_code == 422


class TestRecorded:
    def test_edges_of_a_claim(self, service, scope, quorum):
        edges = service.as_role("attributor", scope).get(f"/edges/{quorum['claim']}").json()
        assert edges == {
            "claim": quorum["claim"],
            "hyperedges": [{"parents": [quorum["target"]], "ppm": 1_000_000}],
            "measurements": [],
        }

    def test_content_is_handed_out_as_plain_bytes(self, service, scope):
        agent = service.as_role("agent", scope)
        ref = put(agent, b"<script>alert(1)</script>", "text/html")
        answer = service.as_role("attributor", scope).get(f"/blob/{ref['digest']}", params={"byte_length": 25})
        assert answer.content == b"<script>alert(1)</script>"
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["x-content-type-options"] == "nosniff"

    def test_content_of_another_length_is_not_that_content(self, service, scope):
        agent = service.as_role("agent", scope)
        ref = put(agent, b"four")
        answer = service.as_role("attributor", scope).get(f"/blob/{ref['digest']}", params={"byte_length": 5})
        assert (answer.status_code, answer.json()["field"]) == (422, "byte_length")
