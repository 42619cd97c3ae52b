from __future__ import annotations

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME, STRICT_CLUSTERS
from ledger_core.signing import Checkpoint, SignedNote
from ledger_core.stores.checkpoints import note_file, read_notes
from tests.ledger_core.service.drafts import entry, put, seal, sealed, verdict
from tests.ledger_core.service.served import NOW


def head(http):
    return http.get("/head").json()


def expected(http):
    return {"expected_head": head(http)["evidence"]}


def states(service, scope, *entries):
    http = service.as_role("auditor", scope)
    reports = [http.get(f"/entry/{one}").json() for one in entries]
    return [(one["belief"], one["attenuation"], one["retracted"]) for one in reports]


class TestExpectedHead:
    @pytest.fixture
    def grown(self, service, scope):
        """An operator, and every head that the log has had."""
        http, agent = service.as_role("operator", scope), service.as_role("agent", scope)
        heads = [head(http)["evidence"]]
        for key in range(3):
            agent.post("/entry", json=entry(put(agent, b"note"), key=str(key)))
            heads.append(head(http)["evidence"])
        assert [one["size"] for one in heads] == [0, 1, 2, 3]
        return http, heads

    def test_a_log_that_grew_since_is_still_that_log(self, grown):
        http, heads = grown
        for one in heads:
            request = {"expected_head": one, "content_digest": "ab" * 32, "reason": "privacy"}
            assert http.post("/erasure", json=request).status_code in {200, 201}

    @pytest.mark.invariant("§2.6")
    def test_another_log_is_left_alone(self, grown):
        http, heads = grown
        before = head(http)
        swapped = [{"size": one["size"], "chain": other["chain"]} for one in heads for other in heads if one != other]
        for wrong in [*swapped, {"size": 4, "chain": heads[3]["chain"]}, {"size": 2, "chain": "ab" * 32}]:
            for path, request in (
                ("/erasure", {"content_digest": "cd" * 32, "reason": "legal"}),
                ("/checkpoint", {}),
                ("/policy", policy_request(before, SEED_V4_CLUSTERS, "seed-v4-clusters")),
            ):
                answer = http.post(path, json=request | {"expected_head": wrong})
                assert (answer.status_code, answer.json()["type"]) == (409, "urn:veritas:problem:head-mismatch")
                assert answer.json()["current"] == before["evidence"]["chain"]
        assert head(http) == before


def policy_request(there, policy, name, **changes):
    return {
        "expected_head": there["evidence"],
        "name": name,
        "policy": policy.model_dump(),
        "predecessor": there["policy"]["event_id"],
    } | changes


class TestPolicy:
    def test_a_policy_is_put_in_force_once_and_succeeds_what_was(self, service, scope):
        http = service.as_role("operator", scope)
        before = head(http)
        assert before["policy"]["policy"] == STRICT_CLUSTERS.model_dump()
        request = policy_request(before, SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME)
        first, again = http.post("/policy", json=request), http.post("/policy", json=request)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["events"][0]["position"] == again.json()["events"][0]["position"]
        after = head(http)["policy"]
        assert (after["name"], after["digest"]) == (SEED_V4_CLUSTERS_NAME, SEED_V4_CLUSTERS.digest())

    def test_who_looked_at_an_older_policy_is_told_which_one_is_in_force(self, service, scope):
        http = service.as_role("operator", scope)
        before = head(http)
        http.post("/policy", json=policy_request(before, SEED_V4_CLUSTERS, SEED_V4_CLUSTERS_NAME))
        late = http.post("/policy", json=policy_request(before, STRICT_CLUSTERS, "late"))
        assert (late.status_code, late.json()["type"]) == (409, "urn:veritas:problem:superseded")
        assert late.json()["current"] == head(http)["policy"]["event_id"]

    @pytest.mark.parametrize(
        "change", [{"prior_successes": 0}, {"suffix_list_digest": "ab" * 32}, {"quorum": 0}, {"tier": 1}]
    )
    def test_numbers_under_which_nothing_could_be_believed_are_422(self, service, scope, change):
        http = service.as_role("operator", scope)
        before = head(http)
        request = policy_request(before, SEED_V4_CLUSTERS, "wrong")
        request["policy"] = request["policy"] | change
        assert http.post("/policy", json=request).status_code == 422
        assert head(http) == before


@pytest.mark.invariant("§2.4")
class TestReversal:
    def test_a_reversal_gives_back_exactly_what_was(self, service, scope):
        sealer = service.as_role("sealer", scope)
        entries = [sealed(sealer, f"text {step}", step=step, host=f"h{step}.example") for step in range(3)]
        untouched = states(service, scope, *entries)
        verifier = service.as_role("verifier", scope)
        filed = [verifier.post("/verdict", json=verdict(entries[0], one)).json()["verdict"] for one in entries[1:]]
        assert states(service, scope, *entries)[0][2] is True
        http = service.as_role("operator", scope)
        request = expected(http) | {"reason": "source_corrected"}
        first = http.post(f"/verdict/{filed[0]}/reverse", json=request)
        again = http.post(f"/verdict/{filed[0]}/reverse", json=request)
        assert (first.status_code, again.status_code) == (201, 200)
        assert states(service, scope, *entries) == untouched

    def test_for_another_reason_it_is_a_collision(self, service, scope):
        sealer = service.as_role("sealer", scope)
        target, candidate = sealed(sealer, "a", step=1), sealed(sealer, "b", step=2, host="beta.example")
        filed = service.as_role("verifier", scope).post("/verdict", json=verdict(target, candidate)).json()["verdict"]
        http = service.as_role("operator", scope)
        assert (
            http.post(f"/verdict/{filed}/reverse", json=expected(http) | {"reason": "source_corrected"}).status_code
            == 201
        )
        assert (
            http.post(f"/verdict/{filed}/reverse", json=expected(http) | {"reason": "verifier_error"}).status_code
            == 409
        )


class TestErasure:
    def test_content_goes_and_does_not_come_back(self, service, scope):
        agent = service.as_role("agent", scope)
        content = put(agent, b"a name and an address")
        made = agent.post("/entry", json=entry(content)).json()["events"][0]["event_id"]
        http = service.as_role("operator", scope)
        request = expected(http) | {"content_digest": content["digest"], "reason": "privacy"}
        first, again = http.post("/erasure", json=request), http.post("/erasure", json=request)
        assert (first.status_code, again.status_code) == (201, 200)
        reader = service.as_role("auditor", scope)
        gone = reader.get(f"/blob/{content['digest']}", params={"byte_length": content["byte_length"]})
        assert (gone.status_code, gone.json()["type"]) == (410, "urn:veritas:problem:erased")
        back = agent.put("/blob", content=b"a name and an address")
        assert (back.status_code, back.json()["type"]) == (410, "urn:veritas:problem:erased")
        assert reader.get(f"/entry/{made}").json()["event"]["statement"]["body"]["content"] == content
        assert made not in agent.get("/context").text
        (statement,) = [
            one["statement"]
            for one in reader.get("/events").json()["events"]
            if one["statement"]["kind"] == "blob.erased"
        ]
        assert statement["body"]["authority"].startswith("token.")


class TestCheckpoint:
    def test_both_trees_are_signed_and_kept_apart_from_the_log(self, service, scope):
        sealed(service.as_role("sealer", scope), "330 m")
        http = service.as_role("operator", scope)
        answer = http.post("/checkpoint", json=expected(http))
        assert answer.status_code == 201
        checkpoints = answer.json()["checkpoints"]
        assert [one["origin"].rpartition("/")[2] for one in checkpoints] == ["control", "evidence"]
        for one in checkpoints:
            note = SignedNote.parse(one["note"])
            note.require((service.key,))
            assert Checkpoint.parse(note.text).root.hex() == one["root"]
        kept = read_notes(note_file(service.home, scope))
        assert [one.note.encode() for one in kept.checkpoints] == [one["note"] for one in checkpoints]
        latest = service.as_role("auditor", scope).get("/checkpoint")
        assert latest.json() == checkpoints[1]

    def test_before_the_first_there_is_none_and_an_empty_log_has_none(self, service, scope):
        assert service.as_role("auditor", scope).get("/checkpoint").status_code == 404
        http = service.as_role("operator", scope)
        assert http.post("/checkpoint", json=expected(http)).status_code == 422


class TestReplayAudit:
    @pytest.fixture
    def sealer(self, service, scope):
        return service.as_role("sealer", scope)

    def minted(self, sealer, **options):
        args, result = put(sealer, b"{}", "application/json"), put(sealer, b"330 m")
        return sealer.post("/seal", json=seal(args, result, **options)).json()["events"]

    def tier(self, service, scope, observation):
        report = service.as_role("auditor", scope).get(f"/entry/{observation['event_id']}").json()
        return report["tier"], report["suspended"]

    def fetched(self, sealer, content, **more):
        return {"fetched": {"content": put(sealer, content), "fetched_at": NOW} | more}

    @pytest.mark.invariant("§2.2")
    def test_a_rehash_of_ones_own_bytes_promotes_nothing(self, service, scope, sealer):
        minted = self.minted(sealer)
        answer = sealer.post(f"/replay-audit/{minted[0]['event_id']}", json={})
        assert (answer.status_code, answer.json()["outcome"]) == (201, "intact")
        assert self.tier(service, scope, minted[1]) == ("sealed_unverified", False)

    def test_the_same_bytes_from_the_origin_verify_the_seal(self, service, scope, sealer):
        minted = self.minted(sealer)
        request = self.fetched(sealer, b"330 m")
        first, again = (sealer.post(f"/replay-audit/{minted[0]['event_id']}", json=request) for _ in range(2))
        assert [(one.status_code, one.json()["outcome"]) for one in (first, again)] == [(201, "match"), (200, "match")]
        assert self.tier(service, scope, minted[1]) == ("sealed_verified", False)

    @pytest.mark.parametrize(
        ("options", "more", "outcome", "suspended"),
        [
            ({}, {}, "mismatch", True),
            ({}, {"modified_at": "2026-03-01T11:59:30.000000000Z"}, "stale", False),
            ({}, {"modified_at": "2026-03-01T11:58:00.000000000Z"}, "mismatch", True),
            ({"determinism": "nondeterministic"}, {}, "not_comparable", False),
        ],
    )
    def test_other_bytes_are_judged_by_the_service(self, service, scope, sealer, options, more, outcome, suspended):
        minted = self.minted(sealer, **options)
        answer = sealer.post(f"/replay-audit/{minted[0]['event_id']}", json=self.fetched(sealer, b"310 m", **more))
        assert (answer.status_code, answer.json()["outcome"]) == (201, outcome)
        assert self.tier(service, scope, minted[1]) == ("sealed_unverified", suspended)

    def test_a_later_match_lifts_the_suspension(self, service, scope, sealer):
        minted = self.minted(sealer)
        for content in (b"310 m", b"330 m"):
            sealer.post(f"/replay-audit/{minted[0]['event_id']}", json=self.fetched(sealer, content))
        assert self.tier(service, scope, minted[1]) == ("sealed_verified", False)

    @pytest.mark.parametrize(
        "options",
        [
            {"effect": "mutating", "reacquisition": None},
            {"effect": "mutating"},
            {"attestation": "imported"},
            {"outcome": "error"},
        ],
    )
    def test_what_must_not_be_run_again_was_not(self, service, scope, sealer, options):
        minted = self.minted(sealer, **options)
        answer = sealer.post(f"/replay-audit/{minted[0]['event_id']}", json=self.fetched(sealer, b"330 m"))
        assert (answer.status_code, answer.json()["field"]) == (422, "fetched")
        assert self.tier(service, scope, minted[1])[0] == "sealed_unverified"

    @pytest.mark.invariant("§2.2")
    def test_the_outcome_is_computed_and_never_stated(self, sealer):
        minted = self.minted(sealer)
        answer = sealer.post(f"/replay-audit/{minted[0]['event_id']}", json={"outcome": "match"})
        assert (answer.status_code, answer.json()["field"]) == (422, "outcome")
