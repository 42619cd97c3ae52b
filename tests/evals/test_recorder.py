"""Scenarios in a ledger: exact prompts that grow, claims constrained by the model, verdicts that retract the premise."""

from __future__ import annotations

import pytest

from evals.prompts import SYSTEM
from evals.recorder import ORACLE, ScenarioRecorder
from evals.scenarios import generate
from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.kernel.tokens import unpack_tokens
from ledger_core.stores.verify import verify
from tests.evals.byte_model import WEIGHTS, byte_model, open_memory, shown

(PLANTED,) = generate("planted-premise", 1, 0)
(MIXED,) = generate("mixed-parents", 1, 0)
EVERY = [
    *generate("planted-premise", 2, 0),
    *generate("mixed-parents", 2, 0),
    *generate("null", 2, 0),
    *generate("competence", 1, 0),
]


@pytest.fixture
def ledger():
    return open_memory()


@pytest.fixture
def model(tmp_path):
    return byte_model(tmp_path)


def statements(ledger, kind: str | None = None) -> list:
    found = [event.statement for event in ledger.events()]
    return [statement for statement in found if kind in (None, statement.kind)]


def entry_ids(parts) -> dict[str, str]:
    return {part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")}


def test_every_part_becomes_what_the_scenario_says(ledger, model):
    parts = ScenarioRecorder(ledger, model).record(PLANTED)
    assert [(part.part, part.kind) for part in parts] == [
        ("seal/premise", "seal.minted"),
        ("entry/premise", "entry.observed"),
        ("seal/filler", "seal.minted"),
        ("entry/filler", "entry.observed"),
        ("generation/claim-1", "generation.recorded"),
        ("entry/claim-1", "entry.derived"),
        ("seal/correction-a", "seal.minted"),
        ("entry/correction-a", "entry.observed"),
        ("seal/correction-b", "seal.minted"),
        ("entry/correction-b", "entry.observed"),
        ("verdict/premise/correction-a", "verdict.filed"),
        ("verdict/premise/correction-b", "verdict.filed"),
    ]
    for part in parts:
        assert ledger.statement(part.event_id).kind == part.kind


def test_recording_again_adds_nothing_and_names_the_same_events(ledger, model):
    first = ScenarioRecorder(ledger, model).record(PLANTED)
    head, count = ledger.head(), ledger.count()
    assert ScenarioRecorder(ledger, model).record(PLANTED) == first
    assert (ledger.head(), ledger.count()) == (head, count)


def test_equal_scenarios_in_equal_ledgers_give_equal_heads(model):
    heads = []
    for _ in range(2):
        ledger = open_memory()
        recorder = ScenarioRecorder(ledger, model)
        for scenario in EVERY:
            recorder.record(scenario)
        heads.append(ledger.head())
    assert heads[0] == heads[1]


def test_a_ledger_of_every_family_verifies(ledger, model):
    recorder = ScenarioRecorder(ledger, model)
    for scenario in EVERY:
        recorder.record(scenario)
    assert verify(ledger).first_divergence is None


def test_verdicts_retract_the_planted_premise_and_nothing_else(ledger, model):
    keys = entry_ids(ScenarioRecorder(ledger, model).record(PLANTED))
    state = fold(statements(ledger), SEED_V4_CLUSTERS)
    assert set(state.retractions) == {keys["premise"]}
    assert state.retractions[keys["premise"]].members == tuple(sorted((keys["correction-a"], keys["correction-b"])))
    invalidated = {name for name, key in keys.items() if state.entries[key].invalidated}
    assert invalidated == {"premise", "claim-1"}
    assert {verdict.body.recipe for verdict in statements(ledger, "verdict.filed")} == {ORACLE}


def test_the_context_of_a_generation_tiles_its_prompt(ledger, model):
    recorder = ScenarioRecorder(ledger, model)
    for scenario in EVERY:
        recorder.record(scenario)
    generations = statements(ledger, "generation.recorded")
    assert len(generations) == 6
    for generation in generations:
        prompt = unpack_tokens(ledger.read_blob(generation.body.prompt_tokens))
        regions = generation.body.context
        assert [region.token_start for region in regions] == [0, *(region.token_stop for region in regions[:-1])]
        assert regions[-1].token_stop == len(prompt)
        assert generation.body.is_exact


def test_a_prompt_holds_the_notes_so_far_and_the_response_the_claim(ledger, model):
    keys = entry_ids(ScenarioRecorder(ledger, model).record(PLANTED))
    (generation,) = statements(ledger, "generation.recorded")
    premise, filler = PLANTED.entry("premise").text, PLANTED.entry("filler").text
    prompt = unpack_tokens(ledger.read_blob(generation.body.prompt_tokens))
    assert shown(prompt) == f"<system\n{SYSTEM}>\n<user\nNotes:\n{premise}\n{filler}\n"
    assert model.prompts == [prompt]
    owned = [(region.entry, region.unit) for region in generation.body.context]
    assert owned == [(None, None), (keys["premise"], 0), (keys["filler"], 1)]
    said = unpack_tokens(ledger.read_blob(generation.body.response_tokens))
    claim = PLANTED.entry("claim-1").text
    assert shown(said) == ledger.read_blob(generation.body.response).decode() == claim
    assert (generation.body.decoding, generation.body.attestation) == ("constrained", "boundary")
    assert (generation.body.weights_digest, generation.body.model) == (WEIGHTS, "bytes")


def test_a_later_generations_prompt_begins_with_the_earlier_prompt_and_response(ledger, model):
    scenario = two_claims()
    ScenarioRecorder(ledger, model).record(scenario)
    first, second = (
        [unpack_tokens(ledger.read_blob(ref)) for ref in (g.body.prompt_tokens, g.body.response_tokens)]
        for g in statements(ledger, "generation.recorded")
    )
    assert second[0][: len(first[0]) + len(first[1])] == first[0] + first[1]


def two_claims():
    """The planted premise with its claim said a second time, under another key."""
    again = PLANTED.entry("claim-1").model_copy(update={"key": "claim-2"})
    position = list(PLANTED.entries).index(PLANTED.entry("claim-1")) + 1
    entries = (*PLANTED.entries[:position], again, *PLANTED.entries[position:])
    say = next(step for step in PLANTED.steps if step.step == "say")
    steps = list(PLANTED.steps)
    steps.insert(steps.index(say) + 1, say.model_copy(update={"entry": "claim-2"}))
    return PLANTED.model_copy(update={"entries": entries, "steps": tuple(steps)})


def test_a_claim_declares_the_scenarios_parents_and_spans_the_whole_response(ledger, model):
    keys = entry_ids(ScenarioRecorder(ledger, model).record(MIXED))
    (claim,) = statements(ledger, "entry.derived")
    declared = {parent.entry: parent.ppm for parent in claim.body.parents}
    assert declared == {keys["used"]: 1_000_000, keys["unused"]: 1_000_000}
    assert (claim.body.span.start, claim.body.span.stop) == (0, len(MIXED.entry("claim-1").text.encode()))


def test_origins_are_the_hosts_of_the_scenario(ledger, model):
    ScenarioRecorder(ledger, model).record(PLANTED)
    hosts = [seal.body.origin_host for seal in statements(ledger, "seal.minted")]
    assert hosts == [entry.host for entry in PLANTED.entries if entry.kind == "seal"]
    assert len(set(hosts)) == 4


@pytest.mark.parametrize(("own_value", "differs"), [(None, False), ("turnips.", True)])
def test_a_free_continuation_that_would_have_said_another_value_is_flagged(tmp_path, ledger, own_value, differs):
    parts = ScenarioRecorder(ledger, byte_model(tmp_path, own_value)).record(PLANTED)
    flags = {part.part: part.free_continuation_differs for part in parts}
    assert flags["generation/claim-1"] is differs
    assert {flag for part, flag in flags.items() if not part.startswith("generation/")} == {None}


def test_what_the_model_would_have_said_before_the_value_does_not_count(tmp_path, ledger):
    class Rephrasing(type(byte_model(tmp_path))):
        def constrained(self, prompt_ids, response_ids):
            stem = len(PLANTED.entry("claim-1").stem.encode())
            said = super().constrained(prompt_ids, response_ids).greedy_ids
            return type(super().constrained(prompt_ids, response_ids))((63,) * stem + said[stem:])

    model = Rephrasing(byte_model(tmp_path).files)
    parts = ScenarioRecorder(ledger, model).record(PLANTED)
    assert [p.free_continuation_differs for p in parts if p.part.startswith("generation/")] == [False]
