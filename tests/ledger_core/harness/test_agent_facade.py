"""The facade: what each of its calls puts into the ledger, and what a model is shown afterwards."""

from __future__ import annotations

import asyncio

import pytest

from ledger_core.belief.policies import SEED_V4_CLUSTERS, STRICT_CLUSTERS
from ledger_core.harness import ContextSpan, JsonlLog, LedgerAgent, PlainCall, context_at
from ledger_core.harness.agent import INSTRUCTION
from ledger_core.harness.checking import Checker
from ledger_core.harness.contrast import contrast, read_pair
from ledger_core.harness.logs import ListLog
from ledger_core.harness.rule_checker import RuleChecker
from ledger_core.harness.view import LedgerView
from ledger_core.kernel.errors import BeliefError, BlobError, SealError, StoreError, UnknownReferenceError
from ledger_core.providers.fake import FakeEmbedder
from ledger_core.providers.protocols import Completion
from ledger_core.sealing import ToolRegistry
from ledger_core.stores.verify import verify
from ledger_core.verification import Settings, Verifier
from tests.ledger_core.sealing.workshop import Counted, external, local, open_ledger, statements
from tests.ledger_core.verification.fakes import always

PAGES = {"blog": "The tower is 310 m high.", "survey": "It is 330 m high.", "atlas": "330 m, since 1889."}


def judge(target, candidate):
    return "support" if ("310" in target) == ("310" in candidate) else "contradict"


def make_agent(ledger=None, **fields):
    tools = [external(name, Counted(text)) for name, text in PAGES.items()]
    tools.append(local("notes", lambda text: text))
    tools.append(external("broken", Counted(OSError("down"))))
    tools.append(external("hits", lambda: {"hits": ["a", "b"]}, records="/hits"))
    return LedgerAgent(
        ledger or open_ledger(), ToolRegistry(tools), **{"run": "run", "rule": judge, "environ": {}, **fields}
    )


@pytest.fixture
def agent():
    return make_agent()


def corrected(agent):
    """The planted premise, a claim on it, two corrections and the verdicts."""
    premise = agent.observe("blog")
    claim = agent.commit_claim("So it is 310 m.", [premise])
    for name in ("survey", "atlas"):
        agent.observe(name)
    agent.verify_conjecture(premise)
    return premise, claim


class TestTellAndObserve:
    def test_what_people_say_is_given(self, agent):
        said = agent.tell("How high is the tower?")
        system = agent.tell("Answer briefly.", "system")
        kinds = [(event.statement.kind, event.statement.body.role) for event in agent.ledger.events()]
        assert kinds == [("entry.given", "user"), ("entry.given", "system")]
        assert agent.state.entries[said.entry].tier == "given"
        assert agent.context().entries == (said.entry, system.entry)

    @pytest.mark.invariant("EVID-05")
    def test_what_people_say_is_stored_without_secrets(self, agent):
        said = agent.tell("the key is AKIAIOSFODNN7EXAMPLE")
        claim = agent.commit_claim("the key is AKIAIOSFODNN7EXAMPLE")
        assert said.text == claim.text
        assert said.text.startswith("the key is [REDACTED:")
        assert b"AKIAIOSFODNN7EXAMPLE" not in b"".join(agent.ledger.blobs._blobs.values())

    def test_an_observation_is_what_was_sealed(self, agent):
        seen = agent.observe("blog")
        assert (seen.text, seen.outcome) == ("The tower is 310 m high.", "ok")
        assert [statement.kind for statement in statements(agent.ledger)] == ["seal.minted", "entry.observed"]
        assert agent.ledger.statement(seen.entry).body.seal == seen.seal

    def test_a_failing_tool_is_observed(self, agent):
        seen = agent.observe("broken")
        assert (seen.outcome, seen.text) == ("error", '{"error":{"message":"down","type":"OSError"}}')
        assert agent.context().text == "[observed] " + seen.text

    def test_records_are_observed_one_by_one(self, agent):
        seen = agent.observe("hits")
        assert [record.text for record in seen.records] == ['"a"', '"b"']
        assert seen.text == '"a"\n"b"'
        claim = agent.commit_claim("a and b", [seen])
        parents = {parent.entry for parent in agent.ledger.statement(claim.entry).body.parents}
        assert parents == {record.entry for record in seen.records}

    def test_from_async_code(self, agent):
        assert asyncio.run(agent.aobserve("blog")).text == PAGES["blog"]
        assert asyncio.run(agent.aobserve("blog", call_id="c")) == asyncio.run(agent.aobserve("blog", call_id="c"))

    def test_a_call_with_an_id_is_made_once(self):
        book = Counted("booked", "booked again")
        agent = LedgerAgent(
            open_ledger(), ToolRegistry([external("book", book, effect="mutating")]), run="r", environ={}
        )
        first, between, again = (agent.observe("book", call_id=name) for name in ("call_1", "call_2", "call_1"))
        assert (first, first.text, between.text, book.calls) == (again, "booked", "booked again", 2)
        with pytest.raises(SealError, match="was another call"):
            agent.observe("book", {"seat": 2}, call_id="call_1")

    def test_two_runs_in_one_ledger_do_not_meet(self):
        ledger = open_ledger()
        for run in ("one", "two"):
            agent = make_agent(ledger, run=run)
            agent.tell("hello")
            agent.observe("blog")
            agent.commit_claim("So.")
        assert ledger.count() == 8


class TestClaims:
    def test_a_claim_without_a_generation_is_a_conjecture(self, agent):
        premise = agent.observe("survey")
        claim = agent.commit_claim("It is 330 m high.", [premise])
        entry = agent.state.entries[claim.entry]
        assert (entry.kind, entry.tier, entry.belief) == ("entry.conjectured", "conjecture", 250_000_000)
        assert [edge.parents for edge in entry.hyperedges] == [(premise.entry,)]
        assert agent.ledger.event(claim.entry).receipt.role == "agent"

    def test_parents_may_be_weighted(self, agent):
        premise = agent.observe("survey")
        claim = agent.commit_claim("Perhaps 330 m.", {premise.entry: 400_000})
        assert [edge.ppm for edge in agent.state.entries[claim.entry].hyperedges] == [400_000]

    def test_claims_are_parents_of_claims(self, agent):
        premise = agent.observe("blog")
        first = agent.commit_claim("310 m.", [premise])
        second = agent.commit_claim("Taller than 300 m.", [first])
        for name in ("survey", "atlas"):
            agent.observe(name)
        agent.verify_conjecture(premise)
        assert agent.state.entries[second.entry].invalidated

    def test_a_claim_of_a_recorded_generation_is_derived(self, agent):
        premise = agent.observe("survey")
        shown = agent.context()
        said = agent.generated(PlainCall("tiny", "Well. It is 330 m high.", shown.spans), shown, claims=False)
        claim = agent.commit_claim("It is 330 m high.", [premise], said)
        statement = agent.ledger.statement(claim.entry)
        assert (statement.body.span.start, statement.body.span.stop) == (6, 23)
        assert agent.state.entries[claim.entry].tier == "derived"
        unfounded = agent.commit_claim("Well.", generation=said)
        assert agent.state.entries[unfounded.entry].tier == "conjecture"

    @pytest.mark.parametrize("text", ["It is 310 m high.", ""])
    def test_a_generation_is_not_quoted_for_what_it_does_not_say(self, agent, text):
        said = agent.generated(PlainCall("tiny", "It is 330 m high.", ()), claims=False)
        count = agent.ledger.count()
        with pytest.raises(BeliefError, match="does not say"):
            agent.commit_claim(text, generation=said)
        assert agent.ledger.count() == count

    def test_an_unknown_parent_is_refused(self, agent):
        with pytest.raises(UnknownReferenceError, match="ab" * 32):
            agent.commit_claim("So.", ["ab" * 32])

    def test_claims_of_a_response_cite_the_context_they_were_shown(self, agent):
        agent.tell("How high?")
        premise = agent.observe("survey")
        shown = agent.context()
        assert shown.numbered == "[1] How high?\n[2] [uncorroborated] It is 330 m high."
        said = agent.generated(PlainCall("tiny", "330 m [2]. Probably.", shown.spans), shown)
        first, second = (agent.state.entries[claim.entry] for claim in said.claims)
        assert [edge.parents for edge in first.hyperedges] == [(premise.entry,)]
        assert (first.tier, second.tier) == ("derived", "conjecture")
        event = agent.ledger.event(said.generation)
        assert (event.receipt.context_head, event.statement.body.renderer) == (shown.head, "v2")
        assert event.statement.body.policy == shown.policy

    def test_a_generation_under_strict_rests_on_all_it_was_shown(self):
        agent = make_agent(open_ledger(policy=STRICT_CLUSTERS))
        seen = [agent.observe(name).entry for name in ("survey", "atlas")]
        shown = agent.context()
        said = agent.generated(PlainCall("tiny", "330 m.", shown.spans), shown)
        edges = agent.state.entries[said.claims[0].entry].hyperedges
        assert {edge.parents[0] for edge in edges} == set(seen)


class Parrot:
    """A language model that says what it is told to, and remembers what it was sent."""

    model = "parrot"

    def __init__(self, text):
        self.text = text
        self.sent = []

    def complete(self, messages, *, max_tokens):
        self.sent.append(([message.content for message in messages], max_tokens))
        return Completion(self.text, "stop", "parrot-2")


class TestAsk:
    def test_a_model_is_shown_the_numbered_context_and_its_answer_recorded(self, agent):
        survey, atlas = agent.observe("survey"), agent.observe("atlas")
        llm = Parrot("It is 330 m high [1].")
        said = agent.ask(llm, "How high is the tower?", max_tokens=99)
        shown = "[1] [uncorroborated] It is 330 m high.\n[2] [uncorroborated] 330 m, since 1889."
        assert llm.sent == [([INSTRUCTION, f"{shown}\n\nHow high is the tower?"], 99)]
        body = agent.ledger.statement(said.generation).body
        question = agent.context().entries[0]
        assert [(region.entry, region.unit) for region in body.context] == [
            (survey.entry, 0),
            (atlas.entry, 1),
            (question, None),
        ]
        assert (body.model, said.response) == ("parrot-2", "It is 330 m high [1].")
        (edge,) = agent.state.entries[said.claims[0].entry].hyperedges
        assert edge.parents == (survey.entry,)

    @pytest.mark.invariant("EVID-05")
    def test_a_secret_in_a_question_is_neither_sent_nor_stored(self, agent):
        llm = Parrot("No.")
        agent.ask(llm, "Is AKIAIOSFODNN7EXAMPLE valid?")
        assert "AKIA" not in str(llm.sent)

    def test_a_retracted_entry_is_not_sent(self, agent):
        corrected(agent)
        llm = Parrot("330 m [1].")
        agent.ask(llm, "How high?")
        assert "310" not in str(llm.sent)


class TestVerify:
    def test_a_quorum_retracts_and_the_context_forgets(self, agent):
        premise, claim = corrected(agent)
        entries = agent.state.entries
        assert (entries[premise.entry].retracted, entries[claim.entry].invalidated) == (True, True)
        assert agent.context().text == "[verified] It is 330 m high.\n[verified] 330 m, since 1889."
        assert verify(agent.ledger).first_divergence is None

    def test_one_contradiction_is_filed_and_retracts_nothing(self, agent):
        premise = agent.observe("blog")
        agent.observe("survey")
        found = agent.verify_conjecture(premise)
        assert [(each.outcome, each.filed.value) for each in found.checked] == [("filed", "contradict")]
        assert not found.is_retracted

    def test_named_candidates_are_the_only_ones(self, agent):
        premise, survey, _ = (agent.observe(name) for name in ("blog", "survey", "atlas"))
        note = agent.observe("notes", {"text": "330 m"})
        found = agent.verify_conjecture(premise, [survey, note])
        assert [(each.candidate, each.outcome) for each in found.checked] == [
            (survey.entry, "filed"),
            (note.entry, "not_eligible"),
        ]

    def test_a_conjecture_is_checked_like_an_observation(self, agent):
        claim = agent.commit_claim("It is 310 m.")
        for name in ("survey", "atlas"):
            agent.observe(name)
        assert agent.verify_conjecture(claim).is_retracted

    def test_content_that_is_gone_is_not_asked_about(self, agent):
        premise, survey = agent.observe("blog"), agent.observe("survey")
        agent.ledger.blobs.erase(agent.ledger.statement(survey.entry).body.content.digest)
        assert [each.outcome for each in agent.verify_conjecture(premise).checked] == ["unreadable"]

    @pytest.mark.parametrize("entry", ["ab" * 32, "nonsense"])
    def test_an_unknown_entry_is_refused(self, agent, entry):
        with pytest.raises(UnknownReferenceError, match=entry):
            agent.verify_conjecture(entry)
        with pytest.raises(UnknownReferenceError, match=entry):
            agent.verify_conjecture(agent.observe("blog"), [entry])

    def test_without_anything_that_checks_it_says_so(self):
        agent = make_agent(rule=None)
        with pytest.raises(BeliefError, match="give the agent `checks` or a `rule`"):
            agent.verify_conjecture(agent.observe("blog"))
        with pytest.raises(BeliefError, match="give one of them"):
            make_agent(checks=lambda desk: desk)

    def test_the_two_stage_verifier_plugs_in(self):
        ledger = open_ledger()
        verifier = Verifier(always("contradict"), FakeEmbedder(), Settings())
        agent = make_agent(ledger, rule=None, checks=lambda desk: Checker(ledger, verifier, desk))
        claim = agent.commit_claim("The tower is 310 m high.")
        agent.observe("survey")
        found = agent.verify_conjecture(claim)
        assert [(each.outcome, each.filed.value) for each in found.checked] == [("filed", "contradict")]
        assert {verdict.body.recipe for verdict in statements(ledger, "verdict.filed")} == {verifier.recipe}

    def test_checks_are_made_over_the_agents_one_desk(self):
        made = []

        def checks(desk):
            made.append(desk)
            return RuleChecker(LedgerView(ledger), desk, judge, "other-rule")

        ledger = open_ledger()
        agent = make_agent(ledger, rule=None, checks=checks)
        premise, _ = corrected(agent)
        assert agent.state.entries[premise.entry].retracted
        assert {verdict.body.recipe for verdict in statements(ledger, "verdict.filed")} == {"other-rule"}
        assert len(made) == 1


class TestContext:
    def test_v1_shows_tiers_beliefs_and_markers(self):
        agent = make_agent(environ={"RENDERING": "v1"})
        corrected(agent)
        first, second, *_ = agent.context().text.splitlines()
        assert first == "[RETRACTED] [sealed_unverified 0.03] The tower is 310 m high."
        assert second == "[conjecture 0.01] So it is 310 m."
        assert agent.context("v2").renderer == "v2"

    @pytest.mark.parametrize(
        ("environ", "renderer"), [({}, "v2"), ({"RENDERING": ""}, "v2"), ({"RENDERING": "flat"}, "flat")]
    )
    def test_the_environment_may_choose_the_renderer(self, environ, renderer):
        assert make_agent(environ=environ).context().renderer == renderer

    def test_an_unknown_renderer_is_refused_at_once(self, agent):
        with pytest.raises(BeliefError, match="no renderer is called 'v3'; known: flat, v1, v2, v2-marked"):
            make_agent(environ={"RENDERING": "v3"})
        with pytest.raises(BeliefError, match="no renderer is called 'v3'"):
            agent.context("v3")

    def test_it_names_what_it_was_made_from(self, agent):
        agent.observe("blog")
        context = agent.context()
        assert (context.head, context.policy) == (agent.ledger.head(), SEED_V4_CLUSTERS.digest())
        assert context.spans == (ContextSpan(context.entries[0]),)

    def test_an_empty_ledger_has_an_empty_context(self, agent):
        context = agent.context()
        assert (context.lines, context.text, context.head) == ((), "", agent.ledger.head())
        assert context_at(agent.ledger, head=context.head, policy=context.policy, renderer="v2") == context

    @pytest.mark.invariant("REPLAY-01")
    def test_every_earlier_context_can_be_made_again(self, agent):
        shown = [agent.context()]
        agent.observe("blog")
        shown.append(agent.context())
        agent.ledger.activate_policy(STRICT_CLUSTERS, "strict")
        shown.append(agent.context())
        corrected(agent)
        shown += [agent.context(name) for name in ("v1", "v2", "flat")]
        for context in shown:
            again = context_at(agent.ledger, head=context.head, policy=context.policy, renderer=context.renderer)
            assert again == context
        assert len({context.digest for context in shown}) == 5

    def test_a_head_or_policy_of_another_ledger_is_refused(self, agent):
        context = agent.context()
        with pytest.raises(BeliefError, match="no evidence head of this ledger"):
            context_at(agent.ledger, head="ab" * 32, policy=context.policy, renderer="v2")
        with pytest.raises(BeliefError, match="no policy of digest"):
            context_at(agent.ledger, head=context.head, policy="ab" * 32, renderer="v2")

    def test_the_policy_in_force_decides_from_the_next_context_on(self, agent):
        premise, _ = corrected(agent)
        three = SEED_V4_CLUSTERS.model_copy(update={"quorum": 3})
        agent.ledger.activate_policy(three, "three")
        assert not agent.state.entries[premise.entry].retracted
        assert agent.context().policy == three.digest()

    @pytest.mark.invariant("EVID-08")
    def test_erased_content_is_not_shown(self, agent):
        seen = agent.observe("blog")
        agent.ledger.blobs.erase(agent.ledger.statement(seen.entry).body.content.digest)
        assert agent.context().lines == ()

    def test_missing_content_is_an_error_and_not_an_empty_line(self, agent):
        seen = agent.observe("blog")
        del agent.ledger.blobs._blobs[agent.ledger.statement(seen.entry).body.content.digest]
        with pytest.raises(BlobError):
            agent.context()

    def test_binary_and_large_content_is_described(self):
        tools = ToolRegistry([external("bytes", lambda: b"\xff\x00"), external("big", lambda: "x" * 70_000)])
        agent = LedgerAgent(open_ledger(), tools, run="run", environ={})
        seen = [agent.observe(name) for name in ("bytes", "big")]
        assert seen[0].text.startswith("(application/octet-stream, 2 bytes, ")
        assert seen[1].text.startswith("(text/plain; charset=utf-8, 70000 bytes, ")
        assert agent.context().text.count("(") == 2


class TestLogs:
    def test_the_transcript_says_what_was_done_without_a_word_of_content(self):
        log = ListLog()
        agent = make_agent(transcript=log)
        question = agent.tell("How high is the tower?")
        premise, claim = corrected(agent)
        context = agent.context()
        assert [line["act"] for line in log.lines] == [
            "tell",
            "observe",
            "claim",
            "observe",
            "observe",
            "verify",
            "context",
        ]
        tell, observe, commit, *_, checked, shown = log.lines
        assert (tell["entries"], commit["entries"]) == ([question.entry], [claim.entry])
        assert (observe["seal"], observe["outcome"], observe["tool"]) == (premise.seal, "ok", "blog")
        assert (checked["outcomes"], len(checked["verdicts"])) == (["filed", "filed"], 2)
        assert (shown["digest"], shown["entries"]) == (context.digest, list(context.entries))
        assert {line["run"] for line in log.lines} == {"run"}
        assert "tower" not in str(log.lines)

    @pytest.mark.invariant("REPLAY-01")
    def test_a_logged_context_can_be_read_again(self):
        log = ListLog()
        agent = make_agent(transcript=log)
        corrected(agent)
        context = agent.context()
        agent.observe("broken")
        line = log.lines[-2]
        again = context_at(agent.ledger, head=line["head"], policy=line["policy"], renderer=line["renderer"])
        assert (again, again.digest) == (context, line["digest"])

    def test_a_pair_is_logged_once_for_each_difference_that_retractions_make(self):
        log = ListLog()
        agent = make_agent(contrastive=log)
        agent.context()
        premise, _ = corrected(agent)
        assert log.lines == []
        chosen = agent.context()
        agent.context()
        (line,) = log.lines
        members = sorted(agent.state.retractions[premise.entry].members)
        assert line["because"] == [{"members": members, "target": premise.entry}]
        assert (line["chosen"]["digest"], line["head"]) == (chosen.digest, chosen.head)
        agent.observe("broken")
        agent.context()
        assert len(log.lines) == 2

    @pytest.mark.invariant("REPLAY-01")
    def test_a_logged_pair_gives_its_texts_again(self, tmp_path):
        log = JsonlLog(tmp_path / "deep" / "pairs.jsonl")
        agent = make_agent(contrastive=log)
        premise, _ = corrected(agent)
        agent.context()
        agent.observe("broken")
        (line,) = log
        pair = read_pair(line, agent.ledger)
        assert pair.chosen.text == "[verified] It is 330 m high.\n[verified] 330 m, since 1889."
        assert pair.rejected.text.splitlines() == [
            "[conjecture] So it is 310 m.",
            "[uncorroborated] The tower is 310 m high.",
            "[uncorroborated] It is 330 m high.",
            "[uncorroborated] 330 m, since 1889.",
        ]
        assert (pair.line(), list(pair.because)) == (line, [premise.entry])
        assert b"tower" not in (tmp_path / "deep" / "pairs.jsonl").read_bytes()

    def test_a_context_of_an_earlier_head_makes_no_pair(self, agent):
        corrected(agent)
        shown = agent.context()
        assert contrast(shown, LedgerView(agent.ledger)) is not None
        agent.observe("broken")
        assert contrast(shown, LedgerView(agent.ledger)) is None

    def test_retractions_that_no_renderer_shows_make_no_pair(self):
        log = ListLog()
        agent = make_agent(contrastive=log, environ={"RENDERING": "flat"})
        corrected(agent)
        agent.context()
        assert log.lines == []

    def test_a_log_grows_by_lines_of_canonical_json(self, tmp_path):
        log = JsonlLog(tmp_path / "log.jsonl")
        assert list(log) == []
        log.write({"b": 1, "a": "zwölf"})
        JsonlLog(tmp_path / "log.jsonl").write({"a": None})
        assert (tmp_path / "log.jsonl").read_bytes() == '{"a":"zwölf","b":1}\n{"a":null}\n'.encode()
        assert list(log) == [{"a": "zwölf", "b": 1}, {"a": None}]

    @pytest.mark.parametrize("torn", [b'{"a":2', b'{"a":2}', b"{"])
    def test_a_line_that_a_crash_cut_short_is_no_line(self, tmp_path, torn):
        (tmp_path / "log.jsonl").write_bytes(b'{"a":1}\n' + torn)
        log = JsonlLog(tmp_path / "log.jsonl")
        log.write({"a": 3})
        assert list(log) == [{"a": 1}, {"a": 3}]

    def test_a_log_that_cannot_be_written_says_so(self, tmp_path):
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(StoreError):
            JsonlLog(tmp_path / "file" / "log.jsonl").write({})
