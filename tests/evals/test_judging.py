"""The real verifier in a scenario's loop, behind a real HTTP server: what it retracts, what it misses, what fails."""

from __future__ import annotations

import json
import re

import pytest

from evals.judging import ORACLE, OracleJudge, VerifierJudge, counted, wrongly_standing
from evals.metrics import Metric, measure
from evals.recorder import ScenarioRecorder
from evals.scenarios import generate
from evals.trials import Outcome, TrialRecord
from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel import digests
from ledger_core.providers import OpenAiLlm, RetryPolicy
from ledger_core.providers.fake import FakeEmbedder
from ledger_core.verification import Verifier
from tests.evals.byte_model import byte_model, open_memory
from tests.ledger_core.providers.conftest import no_certificates, server
from tests.ledger_core.providers.local_server import Reply, chat, error

__all__ = ["no_certificates", "server"]

FIRST, SECOND = generate("planted-premise", 2, 0)
(ATTACKED,) = generate("true-premise-attacked", 1, 0)


def records_of(request) -> tuple[str, str]:
    """Records A and B of what the verifier asked."""
    (fence,) = set(re.findall(r"^(===== \w+ =====)$", request.body["messages"][1]["content"], re.MULTILINE))
    parts = request.body["messages"][1]["content"].split(fence)
    return parts[2].strip(), parts[5].strip()


def relating(value_of):
    """A server that says how two records relate by the values they state."""

    def rule(request) -> Reply:
        a, b = records_of(request)
        ours, theirs = value_of(a), value_of(b)
        if ours is None or theirs is None:
            return chat(json.dumps({"relation": "neither", "quote_a": "", "quote_b": ""}))
        relation = "support" if ours == theirs else "contradict"
        return chat(json.dumps({"relation": relation, "quote_a": ours, "quote_b": theirs}))

    return rule


def values_of(scenario):
    known = [scenario.question.true, scenario.question.false]
    return lambda text: next((value for value in known if value and value in text), None)


class Loop:
    """A scenario in a ledger without its oracle's verdicts, and a judge over a server."""

    def __init__(self, scenario, server, folder, **connection) -> None:
        self.scenario = scenario
        self.ledger = open_memory()
        self.desk = VerdictDesk(self.ledger)
        recorder = ScenarioRecorder(self.ledger, byte_model(folder), judge=self)
        self.asked: list = []
        verifier = Verifier(OpenAiLlm(server.connection(**connection), "judge"), FakeEmbedder())
        self.verifying = VerifierJudge(self.ledger, verifier, self.desk)
        self.keys = {
            part.part.removeprefix("entry/"): part.event_id
            for part in recorder.record(scenario)
            if part.part.startswith("entry/")
        }

    def judge(self, target, candidates):
        self.asked.append((target, tuple(candidates)))
        return self.verifying.judge(target, candidates)

    @property
    def retracted(self) -> list[str]:
        state = fold([event.statement for event in self.ledger.events()], SEED_V4_CLUSTERS)
        return [key for key, entry in self.keys.items() if state.entries[entry].retracted]


def trial(scenario, outcome: Outcome, name: str = "2") -> TrialRecord:
    return TrialRecord(
        scenario_id=scenario.id,
        family=scenario.family,
        wording=scenario.wording,
        premise_order=scenario.order,
        variant=scenario.variant,
        arm=name,
        repeat=0,
        outcome=outcome,
        answer_digest=digests.body_hex(b""),
        answer=None if outcome is Outcome.ERROR else "",
        forced_choice=None,
        prompt_digest="0" * 64,
        fault="no answer" if outcome is Outcome.ERROR else None,
    )


class TestLoop:
    def test_a_verifier_that_sees_the_contradiction_retracts_the_premise(self, server, tmp_path):
        server.rule = relating(values_of(FIRST))
        loop = Loop(FIRST, server, tmp_path)
        assert loop.asked == [(loop.keys["premise"], (loop.keys["correction-a"], loop.keys["correction-b"]))]
        assert loop.retracted == ["premise"]
        assert wrongly_standing(FIRST, loop.retracted) == ()
        filed = [e.statement for e in loop.ledger.events() if e.statement.kind == "verdict.filed"]
        assert {statement.body.recipe for statement in filed} == {loop.verifying.recipe} != {ORACLE}
        # Two candidates, each in both orders.
        assert len(server.requests) == 4

    def test_a_verifier_that_sees_nothing_leaves_the_premise_standing(self, server, tmp_path):
        server.rule = relating(lambda _: None)
        loop = Loop(FIRST, server, tmp_path)
        assert loop.retracted == []
        assert loop.verifying.faults == {}
        assert wrongly_standing(FIRST, loop.retracted) == ("premise",)

    def test_a_server_that_fails_midway_is_noted_and_what_was_filed_stands(self, server, tmp_path):
        answers = relating(values_of(FIRST))
        server.rule = lambda request: answers(request) if len(server.requests) <= 2 else error(503)
        loop = Loop(FIRST, server, tmp_path, retry=RetryPolicy(attempts=1))
        assert list(loop.verifying.faults) == [loop.keys["premise"]]
        assert loop.verifying.faults[loop.keys["premise"]].startswith("ProviderUnavailableError: ")
        server.rule = answers
        before = len(server.requests)
        judged = loop.verifying.judge(loop.keys["premise"], [loop.keys["correction-a"], loop.keys["correction-b"]])
        assert [each.value for each in judged] == ["contradict", "contradict"]
        assert len(server.requests) - before == 2, "the first candidate is not asked about again"
        assert loop.verifying.faults == {}
        assert loop.retracted == ["premise"]

    def test_the_oracle_is_right_by_construction(self, server, tmp_path):
        server.rule = relating(lambda _: None)
        loop = Loop(FIRST, server, tmp_path)
        judged = OracleJudge(loop.desk).judge(
            loop.keys["premise"], [loop.keys["correction-a"], loop.keys["correction-b"]]
        )
        assert [each.value for each in judged] == ["contradict", "contradict"]
        assert loop.retracted == ["premise"]


class TestCounting:
    def test_a_premise_that_stands_counts_as_persisted_whatever_was_answered(self):
        records = [trial(FIRST, Outcome.ASSERTS_TRUE), trial(SECOND, Outcome.ASSERTS_TRUE)]
        found = counted(records, {FIRST.id: ("premise",), SECOND.id: ()}, {})
        assert [record.outcome for record in found] == [Outcome.ASSERTS_FALSE, Outcome.ASSERTS_TRUE]
        assert measure(Metric.PERSISTENCE, found).events == 1

    def test_a_verifier_that_did_not_serve_leaves_the_trial_in_the_denominator(self):
        records = [trial(FIRST, Outcome.ASSERTS_TRUE), trial(SECOND, Outcome.ASSERTS_TRUE)]
        found = counted(records, {FIRST.id: ("premise",)}, {FIRST.id: "ProviderUnavailableError: gone"})
        assert found[0].outcome is Outcome.ERROR
        assert found[0].fault == "no verdict: ProviderUnavailableError: gone"
        measured = measure(Metric.PERSISTENCE, found)
        assert (measured.accounting.planned, measured.accounting.errored, measured.missing) == (2, 1, 1)
        assert (measured.bounds.low, measured.bounds.high) == (0.0, pytest.approx(0.987, abs=1e-3))

    def test_arms_without_the_retraction_and_failed_answers_are_as_they_were(self):
        records = [trial(FIRST, Outcome.ASSERTS_TRUE, "2k"), trial(FIRST, Outcome.ERROR)]
        assert counted(records, {FIRST.id: ("premise",)}, {FIRST.id: "gone"}) == tuple(records)

    def test_a_true_premise_that_stands_is_no_fault(self):
        assert ATTACKED.retracted
        expected = tuple(k for k in sorted(ATTACKED.retracted) if ATTACKED.entry(k).role == "premise")
        assert wrongly_standing(ATTACKED, ()) == expected == ()
