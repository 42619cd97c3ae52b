"""Arms over recorded scenarios: what each shows, and the counts of its cascade and edges, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evals.agents.scripted import ScriptedAgent
from evals.arms import ARMS, arm
from evals.errors import ArmError, ScenarioError
from evals.recorder import ScenarioRecorder
from evals.scenarios import generate
from evals.trial_runner import ScenarioLog, belief_under, prompt_of, run_trial
from evals.trials import Outcome
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.kernel.content import JSON
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.facts import measurement_fact
from ledger_core.kernel.statements.measurement import EdgesMeasured, EdgesMeasuredBody, Interval, MeasuredEntry
from tests.evals.byte_model import SCOPE, WEIGHTS, byte_model, open_memory, shown

PREMISE_FIRST, CORRECTIONS_FIRST = generate("planted-premise", 2, 0)
LEAVING = generate("planted-premise", 1, 0, variant="corrections-leave")[0]
USED = generate("mixed-parents", 1, 0, variant="used-retracted")[0]
UNUSED = generate("mixed-parents", 1, 0, variant="unused-retracted")[0]
SILENT = ScriptedAgent(lambda _: "I do not know.")


@pytest.fixture
def model(tmp_path):
    return byte_model(tmp_path)


def logged(scenario, model, *, measured: bool = False, found: str = "used", rest: str = "null") -> ScenarioLog:
    ledger = open_memory()
    parts = ScenarioRecorder(ledger, model).record(scenario)
    keys = {part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")}
    if measured:
        generation = next(part.event_id for part in parts if part.part.startswith("generation/"))
        ledger.append((measurement(ledger, keys, generation, keys[found], rest),), role="attributor")
    return ScenarioLog(scenario, tuple(event.statement for event in ledger.events()), keys)


def measurement(ledger, keys, generation, found, rest) -> EdgesMeasured:
    """The claim rests on ``found`` alone; the verdict of whatever else its context held is ``rest``."""
    recipe = ledger.put_blob(b"{}", JSON)
    context = [region.entry for region in ledger.statement(generation).body.context if region.entry]
    entries = [
        MeasuredEntry.make(
            entry=entry,
            interval=Interval.make(low=0, high=0),
            labels=(),
            ppm=1_000_000 if entry == found else None,
            verdict="edge" if entry == found else rest,
        )
        for entry in sorted(context)
    ]
    body = EdgesMeasuredBody.make(
        claim=keys["claim-1"],
        claim_result="grounded",
        cuts=(),
        entries=tuple(entries),
        flags=(),
        gate="cuts-v1",
        generation=generation,
        predecessor=None,
        recipe=recipe,
        rows_digest="0" * 64,
        scorer_weights_digest=WEIGHTS,
        total_effect=None,
    )
    fact = measurement_fact("veritas.attribution", generation, keys["claim-1"], recipe.digest, "0" * 64)
    return Author(SCOPE, "veritas.attribution", "1").write(EdgesMeasured, fact, body)


def lines(log: ScenarioLog, name: str, model) -> list[tuple[str, str]]:
    """(scenario key, what is shown beyond the entry's text) of each line."""
    names = {event: key for key, event in log.entry_ids.items()}
    _, found = prompt_of(log, arm(name), model, SEED_V4_CLUSTERS)
    marked = []
    for line in found:
        text = log.scenario.entry(names[line.key]).text
        assert line.text.endswith(text)
        marked.append((names[line.key], line.text.removesuffix(text).strip()))
    return marked


EVERYTHING = ["premise", "filler", "claim-1", "correction-a", "correction-b"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1", [(key, "") for key in EVERYTHING]),
        ("1o", [("filler", ""), ("correction-a", ""), ("correction-b", "")]),
        ("2", [("filler", "[uncorroborated]"), ("correction-a", "[verified]"), ("correction-b", "[verified]")]),
        ("2d", [("filler", ""), ("correction-a", ""), ("correction-b", "")]),
        (
            "2k",
            [
                ("premise", "[uncorroborated]"),
                ("filler", "[uncorroborated]"),
                ("claim-1", "[derived]"),
                ("correction-a", "[verified]"),
                ("correction-b", "[verified]"),
            ],
        ),
        (
            "2m",
            [
                ("premise", "[RETRACTED] [uncorroborated]"),
                ("filler", "[uncorroborated]"),
                ("claim-1", "[RETRACTED] [derived]"),
                ("correction-a", "[verified]"),
                ("correction-b", "[verified]"),
            ],
        ),
        (
            "2r",
            [("correction-a", "[verified]"), ("correction-b", "[verified]"), ("filler", "[uncorroborated]")],
        ),
    ],
)
def test_an_arm_shows_its_reading(model, name, expected):
    assert sorted(lines(logged(PREMISE_FIRST, model), name, model)) == sorted(expected)
    if name != "2r":
        assert lines(logged(PREMISE_FIRST, model), name, model) == expected


def test_v1_shows_everything_with_its_belief_and_marks_only_what_was_retracted_itself(model):
    found = dict(lines(logged(PREMISE_FIRST, model), "2v1", model))
    assert list(found) == EVERYTHING
    assert {key for key, tag in found.items() if tag.startswith("[RETRACTED]")} == {"premise"}
    assert found["premise"] == "[RETRACTED] [sealed_unverified 0.03]"


def test_the_log_order_is_the_scenarios_own_order(model):
    found = [key for key, _ in lines(logged(CORRECTIONS_FIRST, model), "1", model)]
    assert found == ["correction-a", "correction-b", "premise", "filler", "claim-1"]


def test_what_left_the_context_is_shown_by_no_arm_and_still_retracts(model):
    log = logged(LEAVING, model)
    assert [key for key, _ in lines(log, "1", model)] == ["premise", "filler", "claim-1"]
    assert [key for key, _ in lines(log, "2", model)] == ["filler"]


def test_a_prompt_ends_in_the_question_and_the_stem_of_the_answer(model):
    prompt, _ = prompt_of(logged(PREMISE_FIRST, model), arm("1o"), model, SEED_V4_CLUSTERS)
    question = PREMISE_FIRST.question
    assert shown(prompt.ids).endswith(f"Question: {question.text}>\n<assistant\n{question.stem}")


def counts(log: ScenarioLog, name: str, model) -> dict[str, int | None]:
    record = run_trial(log, arm(name), SILENT, model, SEED_V4_CLUSTERS).record
    names = (
        "true_claims", "true_claims_invalidated", "dependents", "dependents_left_standing",
        "planted_edges", "planted_edges_found", "claims_measured", "claims_with_false_edge",
    )  # fmt: skip
    return {name: getattr(record, name) for name in names}


UNDEFINED = dict.fromkeys(
    ("true_claims", "true_claims_invalidated", "dependents", "dependents_left_standing",
     "planted_edges", "planted_edges_found", "claims_measured", "claims_with_false_edge")
)  # fmt: skip


def cascade(true: int, invalidated: int, dependents: int, standing: int) -> dict[str, int]:
    return {
        "true_claims": true, "true_claims_invalidated": invalidated,
        "dependents": dependents, "dependents_left_standing": standing,
    }  # fmt: skip


def edges(planted: int, found: int, measured: int, false: int) -> dict[str, int]:
    return {
        "planted_edges": planted, "planted_edges_found": found,
        "claims_measured": measured, "claims_with_false_edge": false,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scenario", "name", "expected"),
    [
        (PREMISE_FIRST, "2", cascade(0, 0, 1, 0) | edges(1, 1, 1, 0)),
        (PREMISE_FIRST, "2x", cascade(0, 0, 1, 0) | edges(1, 1, 1, 0)),
        (USED, "2", cascade(0, 0, 1, 0) | edges(1, 1, 1, 1)),
        (USED, "2x", cascade(0, 0, 1, 0) | edges(1, 1, 1, 0)),
        (USED, "3", cascade(0, 0, 1, 0) | edges(1, 1, 1, 0)),
        (UNUSED, "2", cascade(1, 1, 0, 0) | edges(1, 1, 1, 1)),
        (UNUSED, "2m", cascade(1, 1, 0, 0) | edges(1, 1, 1, 1)),
        (UNUSED, "2x", cascade(1, 0, 0, 0) | edges(1, 1, 1, 0)),
        (UNUSED, "3", cascade(1, 0, 0, 0) | edges(1, 1, 1, 0)),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "variant", ""),
)
def test_the_counts_of_a_readings_cascade_and_edges(model, scenario, name, expected):
    log = logged(scenario, model, measured=scenario is not PREMISE_FIRST)
    assert counts(log, name, model) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [("used", edges(1, 1, 1, 0)), ("unused", edges(1, 0, 1, 1))],
    ids=["the right one", "another"],
)
def test_a_declared_parent_that_stays_was_neither_found_nor_invented(model, found, expected):
    """What measuring cannot tell stays declared: it costs the claim its standing, and no edge is counted for it."""
    log = logged(UNUSED, model, measured=True, found=found, rest="undetermined")
    assert counts(log, "3", model) == cascade(1, 1, 0, 0) | expected


@pytest.mark.parametrize("name", ["1", "1o"])
def test_a_flat_context_has_neither_cascade_nor_edges(model, name):
    assert counts(logged(UNUSED, model), name, model) == UNDEFINED


def test_a_reading_that_retracts_nothing_has_no_cascade(model):
    assert counts(logged(UNUSED, model), "2k", model) == UNDEFINED | edges(1, 1, 1, 1)


@pytest.mark.parametrize("name", ["3", "3s"])
def test_an_arm_without_its_edges_is_refused_with_the_claim_and_the_way_out(model, name):
    log = logged(UNUSED, model)
    with pytest.raises(
        ArmError, match=rf"arm {name} reads measured edges, and 1 claims of .*{log.entry_ids['claim-1']}"
    ):
        counts(log, name, model)
    with pytest.raises(ArmError, match="leave the arm out for family mixed-parents"):
        prompt_of(log, arm(name), model, SEED_V4_CLUSTERS)


def test_only_the_arm_that_reads_measurements_is_moved_by_one(model):
    plain, measured = logged(UNUSED, model), logged(UNUSED, model, measured=True)
    for name, row in ARMS.items():
        before = belief_under(plain, SEED_V4_CLUSTERS, row.edges)
        after = belief_under(measured, SEED_V4_CLUSTERS, row.edges)
        assert (before.entries == after.entries) == (name not in {"3", "3s"})


def trial(scenario, name: str, model, script):
    return run_trial(logged(scenario, model), arm(name), ScriptedAgent(script), model, SEED_V4_CLUSTERS)


def test_an_answer_is_read_and_recorded_with_its_prompt(model):
    found = trial(PREMISE_FIRST, "1", model, lambda _: " potatoes, says the sign.")
    record = found.record
    assert (record.outcome, record.answer, record.fault) == (Outcome.ASSERTS_FALSE, " potatoes, says the sign.", None)
    assert (record.arm, record.family, record.premise_order) == ("1", "planted-premise", "premise-first")
    assert record.forced_choice == "false"
    assert record.prompt_digest == found.prompt.digest
    assert found.prompt_text.splitlines()[0] == PREMISE_FIRST.entry("premise").text
    assert found.prompt_text.splitlines()[-1] == PREMISE_FIRST.question.stem
    assert trial(PREMISE_FIRST, "1", model, lambda _: " carrots.").record.outcome is Outcome.ASSERTS_TRUE


def test_arms_that_show_the_same_ask_the_same(model):
    digests = {
        name: trial(PREMISE_FIRST, name, model, lambda _: "x").record.prompt_digest for name in ("1o", "2d", "2")
    }
    assert digests["1o"] == digests["2d"] != digests["2"]


def test_a_failing_agent_is_an_outcome_and_not_the_end_of_the_run(model):
    def fail(_):
        raise ZeroDivisionError("no memory")

    record = trial(PREMISE_FIRST, "2", model, fail).record
    assert (record.outcome, record.fault, record.answer, record.forced_choice) == (
        Outcome.ERROR, "ZeroDivisionError: no memory", None, None,
    )  # fmt: skip
    assert record.dependents == 1


@pytest.mark.parametrize(("scenario", "name", "seen"), [
    (PREMISE_FIRST, "1", True), (PREMISE_FIRST, "2", True), (LEAVING, "1", False), (LEAVING, "2", False),
])  # fmt: skip
def test_whether_a_correction_was_shown_is_recorded(model, scenario, name, seen):
    assert trial(scenario, name, model, lambda _: "x").record.correction_in_context is seen


def test_a_scenario_that_asks_nothing_has_no_trial(model):
    null = generate("null", 1, 0)[0]
    with pytest.raises(ScenarioError, match=f"{null.id} asks nothing"):
        trial(null, "1", model, lambda _: "x")


def test_a_lone_surrogate_in_an_answer_is_recorded(model):
    record = trial(PREMISE_FIRST, "1", model, lambda _: "\ud800 potatoes").record
    assert len(record.answer_digest) == 64
    assert record.outcome is Outcome.ASSERTS_FALSE


def test_statements_of_other_scenarios_are_not_needed(model):
    log = logged(PREMISE_FIRST, model)
    twice = replace(log, statements=log.statements + log.statements)
    assert counts(twice, "2", model) == counts(log, "2", model)
