"""A claim said again after its own stem, with entries of its context gone, read by the typed matcher."""

from __future__ import annotations

import pytest

from attribution.trajectory import Claim, ContextItem, Generation, Wording, exact_trajectories
from evals.agents.answer_cache import AnswerCache
from evals.prompts import Line, assemble, context_segments
from evals.reasserting import Reassertion, expected_of
from evals.scenarios import generate
from tests.evals.byte_model import ByteModel, byte_model

SCENARIO = next(s for s in generate("planted-premise", 4, 5) if s.entry("claim-1") and len(s.claims) == 1)
SAID = SCENARIO.entry("claim-1")
CONTEXT = SCENARIO.entries[: SCENARIO.entries.index(SAID)]


class Parrot(ByteModel):
    """Says the claim's value where its prompt still states it twice over, else the other value; counts what it is asked."""

    dtype = "float32"
    asked = 0

    def generate(self, prompt_ids, max_new_tokens, **_):
        self.asked += 1
        text = bytes(token for token in prompt_ids if token < 256).decode()
        assert text.endswith(SAID.stem), "the claim is continued from its own stem"
        value = SAID.value if SAID.value in text else SCENARIO.question.true
        return self.tokenize(f" {value} by night")[:max_new_tokens]


@pytest.fixture
def model(tmp_path):
    return Parrot(byte_model(tmp_path).files)


def trajectory(model):
    """The claim's own generation, one unit an entry of its context."""
    prompt = assemble(context_segments([Line(entry.key, entry.text) for entry in CONTEXT]), model)
    numbers = {entry.key: number for number, entry in enumerate(CONTEXT)}
    items = tuple(
        ContextItem(
            region.key,
            "template" if region.key is None else "entry.observed",
            "tool",
            "" if region.key is None else SCENARIO.entry(region.key).text,
            None if region.key is None else numbers[region.key],
            region.start,
            region.stop,
        )
        for region in prompt.regions
    )
    said = Claim("c", 0, len(SAID.text.encode()), "sentence")
    generation = Generation("g", "r", 0, items, SAID.text, (said,), prompt.ids, model.tokenize(SAID.text), None)
    wording = Wording({"c": SAID.foils}, {entry.key: entry.swap for entry in CONTEXT})
    (found,) = exact_trajectories(
        [generation], wording, tokenize=model.tokenize, token_bytes=model.token_bytes, context_window=8192
    )
    return found


def reassertion(model, cache=None):
    laid_out = trajectory(model)
    expected = expected_of(SAID, SCENARIO.question)
    return Reassertion(model, laid_out, laid_out.claims[0], SAID, expected, cache or AnswerCache())


def test_a_claim_falls_with_the_entry_that_states_its_value_and_with_no_other(model):
    again = reassertion(model)
    premise = [entry.key for entry in CONTEXT].index("premise")
    others = [number for number in range(len(CONTEXT)) if number != premise]
    assert again.asserts(frozenset())
    assert not again.asserts({premise})
    assert others
    assert again.asserts(set(others))
    assert not again.asserts(set(range(len(CONTEXT))))


def test_equal_prompts_are_generated_once(model, tmp_path):
    first, second = (reassertion(model, AnswerCache(tmp_path)) for _ in range(2))
    assert [first.asserts({0}), first.asserts({0}), second.asserts({0})] == [first.asserts({0})] * 3
    assert model.asked == 1


def test_a_claim_is_compared_with_the_values_of_its_scenarios_question():
    expected = expected_of(SAID, SCENARIO.question)
    assert (expected.true, expected.kind) == (SAID.value, SCENARIO.question.kind)
    assert {SCENARIO.question.true, *SCENARIO.question.third} <= set(expected.vocabulary)


def test_what_cannot_be_compared_is_not():
    """No question, so no kind of value; a claim without a value; a claim about something else."""
    assert expected_of(SAID, None) is None
    assert expected_of(SAID.model_copy(update={"value": None}), SCENARIO.question) is None
    assert expected_of(SAID.model_copy(update={"value": "nothing of the kind"}), SCENARIO.question) is None
