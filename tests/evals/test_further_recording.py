"""What the further families become in a ledger: guesses, audits, attacks, reversals; and what the fold makes of them."""

from __future__ import annotations

import pytest

from evals.agents.scripted import ScriptedAgent
from evals.arms import arm
from evals.origins import AUDITED_AT, SEALED_AT
from evals.recorder import ScenarioRecorder
from evals.scenario_log import belief_under
from evals.scenarios import FAMILIES, generate
from evals.trial_runner import prompt_of, run_trial
from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4, SEED_V4_CLUSTERS
from ledger_core.belief.state import FoldOptions
from ledger_core.providers.fake import FakeEmbedder
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.verify import verify
from tests.evals.byte_model import NOW, SCOPE, byte_model
from tests.evals.recorded import logged

POLICY = SEED_V4.model_copy(update={"stale_after_seconds": 30 * 24 * 60 * 60})
SILENT = ScriptedAgent(lambda _: "I do not know.")
FURTHER = sorted(FAMILIES.keys() - {"planted-premise", "mixed-parents", "null", "competence"})


@pytest.fixture
def model(tmp_path):
    return byte_model(tmp_path)


def invalidated(log, policy=POLICY) -> set[str]:
    state = belief_under(log, policy, "declared")
    return {key for key, event in log.entry_ids.items() if state.entries[event].invalidated}


def of_kind(log, kind: str) -> list:
    return [statement for statement in log.statements if statement.kind == kind]


def counts(log, name: str, model, policy=POLICY) -> dict[str, int]:
    record = run_trial(log, arm(name), SILENT, model, policy).record
    names = (
        "true_claims", "true_claims_invalidated", "dependents", "dependents_left_standing",
        "attacks", "attacks_passed", "honest_pairs", "honest_pairs_merged", "guesses", "guesses_laundered",
    )  # fmt: skip
    return {name: value for name in names if (value := getattr(record, name)) is not None}


def test_a_ledger_of_every_family_verifies_and_recording_again_adds_nothing(model):
    with Ledger.in_memory(SCOPE, now=NOW, policy=POLICY, policy_name="under-test") as ledger:
        scenarios = [s for family in FURTHER for v in FAMILIES[family].variants for s in generate(family, 1, 0, v)]
        recorder = ScenarioRecorder(ledger, model, FakeEmbedder())
        parts = [recorder.record(scenario) for scenario in scenarios]
        head = ledger.head()
        assert verify(ledger).first_divergence is None
        again = ScenarioRecorder(ledger, model, FakeEmbedder())
        assert [again.record(scenario) for scenario in scenarios] == parts
        assert ledger.head() == head


def test_a_guess_is_a_conjecture_and_what_cites_it_is_believed_less_than_one_observation(model):
    for scenario in generate("laundered-guess", 2, 0):
        log = logged(scenario, model)
        state = belief_under(log, SEED_V4_CLUSTERS, "declared")
        guess, cited, sealed = (state.entries[log.entry_ids[key]] for key in ("guess", "claim-1", "correction-a"))
        assert (guess.tier, cited.tier, sealed.tier) == ("conjecture", "derived", "sealed_unverified")
        assert guess.belief < cited.belief < sealed.belief
        assert counts(log, "2", model) == {"guesses": 2, "guesses_laundered": 0}
        assert "guesses" not in counts(log, "1", model)


@pytest.mark.parametrize(
    ("family", "outcomes"), [("poisoned-tool", ["mismatch", "tampered"]), ("stale-source", ["stale"])]
)
def test_the_ledgers_own_auditor_suspends_a_source_and_what_rests_on_it(model, family, outcomes):
    found = []
    for variant in FAMILIES[family].variants:
        for scenario in generate(family, 2, 0, variant):
            log = logged(scenario, model, POLICY)
            (audit,) = of_kind(log, "replay.audited")
            found.append(audit.body.outcome)
            assert invalidated(log) == {"source", "claim-1"}
            assert counts(log, "2", model)["dependents_left_standing"] == 0
            shown = prompt_of(log, arm("2"), model, POLICY)[0].keys
            assert log.entry_ids["source"] not in shown
            assert log.entry_ids["correction-b"] in shown
            seals = {seal.event_id: seal for seal in of_kind(log, "seal.minted")}
            assert (seals[audit.body.seal].observed_at, audit.observed_at) == (SEALED_AT, AUDITED_AT)
            assert seals[audit.body.seal].body.origin_host == scenario.entry("source").host
    assert sorted(set(found)) == outcomes


def test_a_stale_source_stays_in_service_where_the_policy_names_no_age(model):
    log = logged(generate("stale-source", 1, 0)[0], model, SEED_V4)
    assert invalidated(log, SEED_V4) == set()


@pytest.mark.parametrize("variant", ["one-retracted", "both-retracted"])
def test_one_of_two_sources_is_retracted_by_its_quorum_or_both_are(model, variant):
    for scenario in generate("redundant-support", 2, 0, variant):
        log = logged(scenario, model, POLICY)
        state = belief_under(log, POLICY, "declared")
        assert {key for key, event in log.entry_ids.items() if event in state.retractions} == scenario.retracted
        expected = (1, 1, 0, 0) if variant == "one-retracted" else (0, 0, 1, 0)
        assert tuple(counts(log, "2", model).values()) == expected


@pytest.mark.parametrize(
    ("family", "variant", "passes"),
    [
        ("syndicated", "copied", 0),
        ("syndicated", "excerpted", 0),
        ("sybil", "dial-0", 0),
        ("sybil", "dial-3", 1),
    ],
)
def test_copies_are_no_quorum_and_texts_written_apart_are_one(model, family, variant, passes):
    for scenario in generate(family, 2, 0, variant):
        log = logged(scenario, model, POLICY)
        found = counts(log, "2", model)
        assert (found["attacks"], found["attacks_passed"]) == (1, passes)
        assert found["true_claims_invalidated"] == passes
        assert "honest_pairs" not in found


@pytest.mark.parametrize("family", ["syndicated", "sybil"])
def test_two_honest_witnesses_are_two(model, family):
    for scenario in generate(family, 2, 0, "honest"):
        found = counts(logged(scenario, model, POLICY), "2", model)
        assert (found["honest_pairs"], found["honest_pairs_merged"]) == (1, 0)
        assert "attacks" not in found


def test_a_wrong_retraction_costs_a_true_claim(model):
    for variant, falls in (("used", {"premise", "claim-1"}), ("unused", {"unused", "claim-1"})):
        for scenario in generate("true-premise-attacked", 2, 0, variant):
            log = logged(scenario, model, POLICY)
            assert invalidated(log) == falls
            assert tuple(counts(log, "2", model).values()) == (1, 1, 0, 0)


@pytest.mark.parametrize("scenario", generate("reversal", 4, 0), ids=lambda s: s.order)
def test_a_withdrawn_retraction_restores_every_belief(model, scenario):
    log = logged(scenario, model, POLICY)
    assert len(of_kind(log, "verdict.reversed")) == 2
    assert of_kind(log, "cascade.fired") != []
    after = fold(log.statements, POLICY)
    never = fold(log.statements, POLICY, FoldOptions(ignore_verdicts=True))
    assert after == never
    assert invalidated(log) == set()
    assert prompt_of(log, arm("2"), model, POLICY)[0].digest == prompt_of(log, arm("2k"), model, POLICY)[0].digest


def test_what_another_agent_wrote_before_is_nobodys_echo(model):
    """The same attack twice: in the second run the falsehood is an agent's own claim of the first."""
    with Ledger.in_memory(SCOPE, now=NOW, policy=POLICY, policy_name="under-test") as ledger:
        recorder = ScenarioRecorder(ledger, model, FakeEmbedder())
        honest = generate("sybil", 1, 0, "honest")[0]
        first = honest.entry("correction-a")
        said = honest.entry("claim-1").model_copy(
            update={"text": first.text, "value": first.value, "declared": (), "used": ()}
        )
        entries = tuple(said if entry.key == "claim-1" else entry for entry in honest.entries)
        recorder.record(honest.model_copy(update={"entries": entries, "index": 999}))
        recorder.record(honest)
        results = [
            event.statement.body.result for event in ledger.events() if event.statement.kind == "independence.assessed"
        ]
    assert results == ["echo", "independent"]
