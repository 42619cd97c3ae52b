"""Replay audits: seven outcomes, only a re-fetch promotes, and what was found at the origin is answered only there."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.kernel.content import JSON, TEXT, content_ref
from ledger_core.kernel.errors import SealError, UnknownReferenceError
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.facts import call_fact
from ledger_core.kernel.statements.sealing import (
    AuditOutcome,
    EntryObserved,
    EntryObservedBody,
    Reacquisition,
    ReplayAudited,
    SealMinted,
    SealMintedBody,
)
from ledger_core.sealing import ReplayAuditor, Returned, ToolRegistry
from ledger_core.stores.verify import verify
from tests.ledger_core.sealing.workshop import Clock, Counted, boundary, external, local, open_ledger, statements


class Scene:
    """One call, its auditor, and hands on the store."""

    def __init__(self, *results, register=external, **fields):
        self.function = Counted(*results)
        self.tool = register("search", self.function, **fields)
        self.ledger = open_ledger()
        self.call = boundary(self.tool, ledger=self.ledger).call("search", {"q": "tower"})
        self.auditor = self.auditor_with(self.tool)

    def auditor_with(self, *tools):
        return ReplayAuditor(self.ledger, ToolRegistry(tools), clock=Clock())

    @property
    def seal(self):
        return statements(self.ledger, "seal.minted")[0].body

    @property
    def entry(self):
        return fold(statements(self.ledger), SEED_V4_CLUSTERS).entries[self.call.entry]

    def audit(self):
        return self.auditor.audit(self.call.seal)

    def rehash(self):
        """A look by an auditor without the tool."""
        return self.auditor_with().audit(self.call.seal)

    def damage(self, data=b"forged"):
        self.ledger.blobs._blobs[self.seal.result.digest] = data

    def lose(self, ref):
        del self.ledger.blobs._blobs[ref.digest]

    def audits(self):
        return [statement for statement in statements(self.ledger) if isinstance(statement, ReplayAudited)]


def tier(scene):
    return scene.entry.tier, scene.entry.suspended


@pytest.mark.invariant("§2.2")
class TestOutcomes:
    def test_match(self):
        scene = Scene("330 m")
        found = scene.audit()
        assert (found.outcome, found.observed) == ("match", scene.seal.result)
        assert tier(scene) == ("sealed_verified", False)
        (audit,) = scene.audits()
        assert (found.filed, audit.body.outcome, audit.body.predecessor) == ((audit.event_id,), "match", None)
        assert audit.body.seal == scene.call.seal
        assert audit.observed_at == "2026-05-01T10:00:00.000000000Z"

    def test_mismatch(self):
        scene = Scene("330 m", "310 m")
        found = scene.audit()
        assert (found.outcome, scene.ledger.read_blob(found.observed)) == ("mismatch", b"310 m")
        assert tier(scene) == ("sealed_unverified", True)

    def test_stale(self):
        scene = Scene("330 m", Returned("324 m", modified_at="2026-05-01T10:00:01.000000000Z"))
        assert scene.audit().outcome == "stale"
        assert tier(scene) == ("sealed_unverified", False)

    def test_a_change_before_the_seal_is_no_excuse(self):
        scene = Scene("330 m", Returned("324 m", modified_at="2026-05-01T10:00:00.000000000Z"))
        assert scene.audit().outcome == "mismatch"

    @pytest.mark.parametrize("later", [OSError("down"), Returned("330 m", ok=False), object()])
    def test_unavailable(self, later):
        scene = Scene("330 m", later)
        assert scene.audit().outcome == "unavailable"
        assert tier(scene) == ("sealed_unverified", False)

    def test_not_comparable(self):
        scene = Scene("330 m", determinism="nondeterministic")
        assert scene.audit().outcome == "not_comparable"
        assert scene.function.calls == 1
        assert tier(scene) == ("sealed_unverified", False)

    def test_intact(self):
        scene = Scene("330 m")
        found = scene.rehash()
        assert (found.outcome, found.observed, scene.function.calls) == ("intact", None, 1)
        assert tier(scene) == ("sealed_unverified", False)

    def test_tampered(self):
        scene = Scene("330 m")
        scene.damage()
        assert scene.audit().outcome == "tampered"
        assert scene.function.calls == 1
        assert tier(scene) == ("sealed_unverified", True)

    def test_these_are_all(self):
        named = {name.removeprefix("test_") for name in dir(type(self)) if name.startswith("test_")}
        assert named >= set(get_args(AuditOutcome))


def test_a_tool_of_unknown_determinism_may_match_but_not_convict():
    assert Scene("330 m", determinism="unknown").audit().outcome == "match"
    assert Scene("330 m", "310 m", determinism="unknown").audit().outcome == "not_comparable"


def test_tampered_arguments_are_found():
    scene = Scene("330 m")
    scene.ledger.blobs._blobs[scene.seal.args.digest] = b'{"q":"other"}'
    assert (scene.audit().outcome, scene.function.calls) == ("tampered", 1)


def test_missing_bytes_are_asked_for_at_the_origin_and_else_unavailable():
    scene = Scene("330 m")
    scene.lose(scene.seal.result)
    assert scene.rehash().outcome == "unavailable"
    assert scene.audit().outcome == "match"
    assert scene.ledger.read_blob(scene.seal.result) == b"330 m"


def test_without_its_arguments_nothing_is_asked():
    scene = Scene("330 m")
    scene.lose(scene.seal.args)
    assert (scene.audit().outcome, scene.function.calls) == ("intact", 1)


@pytest.mark.invariant("EVID-09")
def test_erased_content_is_not_fetched_again():
    scene = Scene("330 m")
    scene.ledger.blobs.erase(scene.seal.result.digest)
    assert (scene.audit().outcome, scene.function.calls) == ("not_comparable", 1)


@pytest.mark.invariant("EVID-09")
def test_what_comes_back_is_not_kept_where_it_was_erased():
    scene = Scene("330 m", "310 m")
    scene.ledger.blobs.erase(content_ref(b"310 m", TEXT).digest)
    found = scene.audit()
    assert (found.outcome, found.observed) == ("mismatch", None)


class TestNeverRunAgain:
    def test_a_mutating_tool(self):
        scene = Scene("booked", effect="mutating")
        found = scene.audit()
        assert (found.outcome, scene.function.calls) == ("intact", 1)
        assert "mutating" in found.why
        assert tier(scene) == ("sealed_unverified", False)

    def test_an_imported_seal(self):
        assert self.forged(attestation="imported") == ("intact", 0)

    def test_a_seal_that_calls_a_mutating_tool_read_only(self):
        assert self.forged(tool=external("search", Counted("booked"), effect="mutating")) == ("intact", 0)

    def test_a_failure_that_says_how_to_fetch_it(self):
        assert self.forged(outcome="error") == ("intact", 0)

    def test_a_failure(self):
        scene = Scene(OSError("down"), "330 m")
        assert (scene.audit().outcome, scene.function.calls) == ("intact", 1)

    def test_a_seal_whose_arguments_were_redacted(self):
        function = Counted("330 m")
        tool = external("search", function)
        ledger = open_ledger()
        call = boundary(tool, ledger=ledger).call("search", {"key": "AKIAIOSFODNN7EXAMPLE"})
        assert ReplayAuditor(ledger, ToolRegistry([tool]), clock=Clock()).audit(call.seal).outcome == "intact"
        assert function.calls == 1

    def test_a_tool_that_is_registered_otherwise_by_now(self):
        scene = Scene("330 m")
        again = Counted("330 m")
        found = scene.auditor_with(external("search", again, version="2")).audit(scene.call.seal)
        assert (found.outcome, again.calls) == ("intact", 0)

    def forged(self, tool=None, **fields):
        """A seal written by hand, with everything it would take to run ``tool`` again."""
        tool = tool or external("search", Counted("330 m"))
        ledger = open_ledger()
        args, result = ledger.put_blobs([(b"{}", JSON), (b"330 m", TEXT)])
        body = {
            "args": args,
            "attestation": "boundary",
            "determinism": "deterministic",
            "effect": "read_only",
            "origin_host": "search.test",
            "outcome": "ok",
            "reach": "external_read",
            "reacquisition": Reacquisition.make(
                procedure="tool_call", secret_refs=(), tool_digest=tool.registration.digest()
            ),
            "result": result,
            "runner": "live",
            "source_id": "search",
            "tool": "search",
        }
        author = Author(ledger.scope, "forger", "1")
        fact = call_fact("forger", "run", 0, "c")
        seal = author.write(SealMinted, fact, SealMintedBody.make(**body | fields))
        observed = EntryObservedBody.make(content=result, predicate_family="*", record_pointer=None, seal=seal.event_id)
        ledger.append((seal, author.write(EntryObserved, fact, observed)), role="sealer")
        found = ReplayAuditor(ledger, ToolRegistry([tool]), clock=Clock()).audit(seal.event_id)
        return found.outcome, tool.function.calls


class TestSuccession:
    """Which look may take the place of which."""

    def test_every_audit_succeeds_the_one_before(self):
        scene = Scene("330 m", "310 m", "330 m", "330 m")
        first, second, third = (scene.audit() for _ in range(3))
        assert [audit.body.predecessor for audit in scene.audits()] == [None, *first.filed, *second.filed]
        assert [each.outcome for each in (first, second, third)] == ["mismatch", "match", "match"]
        assert tier(scene) == ("sealed_verified", False)
        assert verify(scene.ledger).first_divergence is None

    @pytest.mark.invariant("§2.4")
    def test_suspension_attenuates_dependents_and_a_later_match_restores_them_exactly(self):
        from ledger_core.harness.agent import LedgerAgent

        function = Counted("330 m", "310 m", "330 m")
        tool = external("search", function)
        ledger = open_ledger()
        agent = LedgerAgent(ledger, ToolRegistry([tool]), run="r", environ={})
        seen = agent.observe("search")
        claim = agent.commit_claim("It is 330 m high.", [seen])
        auditor = ReplayAuditor(ledger, ToolRegistry([tool]), clock=Clock())
        before = agent.state.entries[claim.entry]
        assert auditor.audit(seen.seal).outcome == "mismatch"
        suspended = agent.state.entries[claim.entry]
        assert (suspended.attenuation, suspended.invalidated) == (50_000_000, True)
        assert agent.context().lines == ()
        assert auditor.audit(seen.seal).outcome == "match"
        assert agent.state.entries[claim.entry] == before
        assert agent.state.entries[seen.entry].tier == "sealed_verified"

    @pytest.mark.parametrize("later", ["intact", "unavailable"])
    @pytest.mark.parametrize("earlier", ["match", "mismatch", "stale"])
    def test_a_look_that_asks_nobody_replaces_nothing_that_the_origin_said(self, earlier, later):
        results = {
            "match": ("330 m",),
            "mismatch": ("330 m", "310 m", OSError("down")),
            "stale": ("330 m", Returned("310 m", modified_at="2027-01-01T00:00:00.000000000Z"), OSError("down")),
        }[earlier]
        scene = Scene(*results)
        assert scene.audit().outcome == earlier
        before = tier(scene)
        if later == "unavailable":
            scene.function.results = [OSError("down")]
        found = scene.audit() if later == "unavailable" else scene.rehash()
        assert (found.outcome, found.filed) == (later, ())
        assert tier(scene) == before

    def test_tampering_is_answered_once_the_bytes_are_back(self):
        scene = Scene("330 m")
        scene.damage()
        assert scene.rehash().outcome == "tampered"
        assert tier(scene) == ("sealed_unverified", True)
        scene.damage(b"330 m")
        assert scene.rehash().outcome == "intact"
        assert tier(scene) == ("sealed_unverified", False)

    def test_damaging_and_restoring_the_bytes_does_not_lift_what_the_origin_said(self):
        scene = Scene("330 m", "310 m")
        assert scene.audit().outcome == "mismatch"
        scene.damage()
        assert scene.rehash().outcome == "tampered"
        scene.damage(b"330 m")
        assert scene.rehash().filed == ()
        assert tier(scene) == ("sealed_unverified", True)

    def test_tampering_found_after_a_match_and_repaired_leaves_the_seal_unverified(self):
        scene = Scene("330 m")
        scene.audit()
        scene.damage()
        scene.rehash()
        scene.damage(b"330 m")
        scene.rehash()
        assert tier(scene) == ("sealed_unverified", False)
        assert scene.audit().outcome == "match"
        assert tier(scene) == ("sealed_verified", False)

    def test_two_auditors_make_one_chain(self):
        scene = Scene("330 m")
        one = scene.auditor_with(scene.tool)
        other = ReplayAuditor(scene.ledger, ToolRegistry([scene.tool]), clock=LateClock())
        filed = [auditor.audit(scene.call.seal).filed for auditor in (one, other, one)]
        assert [audit.body.predecessor for audit in scene.audits()] == [None, *filed[0], *filed[1]]

    def test_an_auditor_that_is_overtaken_answers_what_overtook_it(self):
        scene = Scene("330 m")
        slow, append = scene.auditor_with(scene.tool), scene.ledger.append
        faster = iter(
            [lambda: ReplayAuditor(scene.ledger, ToolRegistry([scene.tool]), clock=LateClock()).audit(scene.call.seal)]
        )

        def overtaken(written, **fields):
            hurry = next(faster, None)
            if hurry is not None:
                hurry()
            return append(written, **fields)

        scene.ledger.append = overtaken
        found = slow.audit(scene.call.seal)
        first, second = scene.audits()
        assert (first.body.predecessor, second.body.predecessor) == (None, first.event_id)
        assert found.filed == (second.event_id,)

    def test_a_chain_that_begins_at_another_seals_audit_begins_there(self):
        scene = Scene("330 m")
        other = boundary(scene.tool, ledger=scene.ledger).call("search", {"q": "other"}, step=1)
        elsewhere = scene.auditor_with().audit(other.seal).filed[0]
        forked(scene, "astray", outcome="intact", predecessor=elsewhere)
        assert len(scene.rehash().filed) == 1

    def test_every_head_of_a_forked_chain_is_answered(self):
        scene = Scene("330 m", "310 m")
        for namespace in ("one", "two"):
            forked(scene, namespace)
        assert tier(scene) == ("sealed_unverified", True)
        scene.function.results = ["330 m"]
        assert len(scene.audit().filed) == 2
        assert tier(scene) == ("sealed_verified", False)


def forked(scene, namespace, outcome="mismatch", predecessor=None):
    """An audit by somebody who knew of no other."""
    from ledger_core.kernel.statements.facts import successor_fact
    from ledger_core.kernel.statements.sealing import ReplayAuditedBody

    body = ReplayAuditedBody.make(observed=None, outcome=outcome, predecessor=predecessor, seal=scene.call.seal)
    audit = Author(scene.ledger.scope, namespace, "1").write(
        ReplayAudited, successor_fact(namespace, scene.call.seal, predecessor), body
    )
    scene.ledger.append((audit,), role="sealer")


class LateClock(Clock):
    def __call__(self):
        return "2026-06-01T00:00:00.000000000Z"


def test_an_async_tool_is_audited_from_async_code():
    async def search(q):
        return f"about {q}"

    tool = external("search", search)
    ledger = open_ledger()
    call = boundary(tool, ledger=ledger).call("search", {"q": 1})
    auditor = ReplayAuditor(ledger, ToolRegistry([tool]), clock=Clock())
    assert asyncio.run(auditor.aaudit(call.seal)).outcome == "match"
    assert auditor.audit(call.seal).outcome == "match"


def test_a_local_tool_is_audited_like_any_other():
    assert Scene("42", register=local).audit().outcome == "match"


def test_a_stream_is_compared_and_kept():
    chunks = iter([b"new"])
    scene = Scene(iter([b"old"]), chunks)
    found = scene.audit()
    assert (found.outcome, scene.ledger.read_blob(found.observed)) == ("mismatch", b"new")


def test_a_tool_whose_secret_is_gone_is_unavailable():
    function = Counted("330 m")
    tool = external("search", function, secret_refs=("env:TOKEN",))
    ledger = open_ledger()
    call = boundary(tool, ledger=ledger, secrets=lambda _: "correct-horse").call("search", {})
    found = ReplayAuditor(ledger, ToolRegistry([tool]), clock=Clock()).audit(call.seal)
    assert (found.outcome, function.calls, "no secrets" in found.why) == ("unavailable", 1, True)


def test_only_seals_are_audited():
    scene = Scene("330 m")
    with pytest.raises(UnknownReferenceError, match=r"is a `entry\.observed`, not a seal"):
        scene.auditor.audit(scene.call.entry)
    with pytest.raises(UnknownReferenceError, match="no event of this ledger"):
        scene.auditor.audit("ab" * 32)


class TestRefetchedElsewhere:
    """A boundary in another process fetched; the ledger's side judges."""

    def told(self, scene, data, **fields):
        observed = scene.ledger.put_blob(data, TEXT)
        given = {"fetched_at": "2026-05-02T00:00:00.000000000Z", **fields}
        return scene.auditor_with().refetched(scene.call.seal, observed, **given)

    @pytest.mark.parametrize(
        ("data", "modified_at", "outcome"),
        [
            (b"330 m", None, "match"),
            (b"310 m", None, "mismatch"),
            (b"310 m", "2026-05-01T10:00:00.000000000Z", "mismatch"),
            (b"310 m", "2026-05-01T10:00:01.000000000Z", "stale"),
        ],
    )
    def test_the_outcome_is_computed(self, data, modified_at, outcome):
        scene = Scene("330 m")
        found = self.told(scene, data, modified_at=modified_at)
        (audit,) = scene.audits()
        assert (found.outcome, audit.body.outcome, found.filed) == (outcome, outcome, (audit.event_id,))
        assert (audit.observed_at, scene.ledger.read_blob(audit.body.observed)) == (
            "2026-05-02T00:00:00.000000000Z",
            data,
        )

    @pytest.mark.invariant("EVENT-01")
    def test_the_same_look_told_again_is_filed_once(self):
        scene = Scene("330 m")
        first, again = (self.told(scene, b"310 m") for _ in range(2))
        assert first == again
        later = self.told(scene, b"310 m", fetched_at="2026-05-03T00:00:00.000000000Z")
        assert [audit.event_id for audit in scene.audits()] == [*first.filed, *later.filed]

    def test_it_is_a_link_of_the_same_chain(self):
        scene = Scene("330 m", "310 m")
        first = scene.audit()
        self.told(scene, b"330 m")
        assert [audit.body.predecessor for audit in scene.audits()] == [None, *first.filed]
        assert tier(scene) == ("sealed_verified", False)

    def test_damaged_bytes_are_tampered_whatever_came_back(self):
        scene = Scene("330 m")
        scene.damage()
        observed = content_ref(b"330 m!", TEXT)
        scene.ledger.put_blob(b"330 m!", TEXT)
        found = scene.auditor_with().refetched(scene.call.seal, observed, fetched_at="2026-05-02T00:00:00.000000000Z")
        assert found.outcome == "tampered"

    @pytest.mark.parametrize("fields", [{"effect": "mutating"}, {"results": (OSError("down"),)}])
    def test_what_may_not_be_run_again_cannot_have_been_fetched(self, fields):
        fields = dict(fields)
        results = fields.pop("results", ("330 m",))
        scene = Scene(*results, **fields)
        with pytest.raises(SealError, match="is not fetched again"):
            self.told(scene, b"330 m")
        assert scene.audits() == []

    def test_a_result_without_a_procedure_cannot_have_been_fetched(self):
        ledger = open_ledger()
        call = boundary(external("search", Counted("330 m")), ledger=ledger).call(
            "search", {"key": "AKIAIOSFODNN7EXAMPLE"}
        )
        auditor = ReplayAuditor(ledger, ToolRegistry([]), clock=Clock())
        with pytest.raises(SealError, match="no procedure"):
            auditor.refetched(call.seal, content_ref(b"330 m", TEXT), fetched_at="2026-05-02T00:00:00.000000000Z")
