"""Agents: greedy answers in exact tokens, one answer for equal prompts, faults as values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from attribution.models import LanguageModel
from evals.agents import Answer, Choice, Fault, LocalAgent
from evals.agents.answer_cache import AnswerCache
from evals.agents.local import MAX_ANSWER_TOKENS, continuation_scores, first_sentence
from evals.agents.scripted import ScriptedAgent
from evals.matcher import read_answer
from evals.prompts import AssembledPrompt, Line, assemble, context_segments, question_segments
from evals.scenarios import Scenario, generate
from evals.trials import Outcome


def _prompt(model: LanguageModel, text: str = "The bell is red.") -> AssembledPrompt:
    return assemble((*context_segments([Line("x", text)]), *question_segments("Colour?", "It is")), model)


def test_an_answer_is_the_greedy_continuation(tiny: LanguageModel) -> None:
    prompt = _prompt(tiny)
    answer = LocalAgent(tiny).answer(prompt)
    assert isinstance(answer, Answer)
    ids = list(prompt.ids)
    for token in answer.ids:
        with torch.inference_mode():
            assert int(tiny.model(torch.tensor([ids])).logits[0, -1].argmax()) == token
        ids.append(token)
    assert len(answer.ids) <= MAX_ANSWER_TOKENS
    assert answer.text == first_sentence(tiny.detokenize(answer.ids).decode(errors="replace"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (" 45 euro. The hall is open.", " 45 euro."),
        (" Dr. Quill. He is new", " Dr. Quill."),
        (" 1.5 or so", " 1.5 or so"),
        ("", ""),
    ],
)
def test_an_answer_is_one_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_equal_prompts_are_answered_once(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    generate_once = tiny.generate
    monkeypatch.setattr(tiny, "generate", lambda *args, **kwargs: asked.append(1) or generate_once(*args, **kwargs))
    agent = LocalAgent(tiny)
    assert agent.answer(_prompt(tiny)) == agent.answer(_prompt(tiny))
    agent.answer(_prompt(tiny, "The bell is blue."))
    assert len(asked) == 2


def test_the_cache_key_holds_the_weights(tiny: LanguageModel) -> None:
    other = SimpleNamespace(
        files=replace(tiny.files, weights_digest="0" * 64),
        dtype=tiny.dtype,
        chat_template_pieces=tiny.chat_template_pieces,
        tokenize=tiny.tokenize,
    )
    keys = {LocalAgent(model)._key("answer", (1, 2)) for model in (tiny, other)}
    assert len(keys) == 2
    assert LocalAgent(tiny)._key("answer", (1, 2)) != LocalAgent(tiny)._key("choice", (1, 2))
    assert LocalAgent(tiny)._key("answer", (1, 2)) != LocalAgent(tiny)._key("answer", (258,))


def test_a_prompt_beyond_the_window_is_a_fault_and_no_abort(tiny: LanguageModel) -> None:
    prompt = AssembledPrompt((5,) * (tiny.context_window - 1), ())
    agent = LocalAgent(tiny)
    answer, choice = agent.answer(prompt), agent.forced_choice(prompt, "", {"true": ["red"]})
    assert isinstance(answer, Fault)
    assert "1023 tokens" in answer.reason
    assert isinstance(choice, Fault)
    assert "context window of 1024" in choice.reason


def test_a_failing_model_is_a_fault_of_one_line(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("out of memory\nwith a traceback")

    monkeypatch.setattr(tiny, "generate", fail)
    assert LocalAgent(tiny).answer(_prompt(tiny)) == Fault("RuntimeError: out of memory")


def test_continuations_score_as_in_separate_passes(tiny: LanguageModel) -> None:
    prefix = _prompt(tiny).ids
    continuations = [tiny.tokenize(text) for text in (" red", " the blue one", "x")]
    together = continuation_scores(tiny.model, prefix, continuations)
    alone = [tiny.constrained(prefix, ids).log_probability for ids in continuations]
    assert together == pytest.approx(alone, abs=1e-4)


def test_forced_choice_prefers_the_likeliest_value_at_the_slot(tiny: LanguageModel) -> None:
    prompt = _prompt(tiny)
    candidates = {"false": ["red"], "true": ["blue"], "third": ["green", "grey"]}
    choice = LocalAgent(tiny).forced_choice(prompt, " now", candidates)
    assert isinstance(choice, Choice)
    slot = (*prompt.ids, *tiny.tokenize(" now"))
    scored = {
        value: tiny.constrained(slot, tiny.tokenize(f" {value}")).log_probability
        for values in candidates.values()
        for value in values
    }
    assert dict(choice.log_probabilities) == pytest.approx(scored, abs=1e-4)
    best = max(scored, key=scored.__getitem__)
    assert best in candidates[choice.preferred]
    assert isinstance(LocalAgent(tiny).forced_choice(prompt, "", {}), Fault)


def test_a_choice_reads_on_from_the_answer_before_it(tiny: LanguageModel) -> None:
    prompt, agent, lengths = _prompt(tiny), LocalAgent(tiny), []
    agent.answer(prompt)
    hook = tiny.model.register_forward_pre_hook(lambda _, args, __: lengths.append(args[0].shape[1]), with_kwargs=True)
    agent.forced_choice(prompt, " now", {"false": ["red"], "true": ["blue"]})
    hook.remove()
    assert lengths[0] == 1 + len(tiny.tokenize(" now"))
    assert max(lengths) < len(prompt.ids)


def test_a_choice_has_the_same_bits_whatever_was_asked_before_it(tiny: LanguageModel, tmp_path: Path) -> None:
    """A run that was killed between an answer and its choice ends like one that was not."""
    prompt, candidates = _prompt(tiny), {"false": ["red"], "true": ["blue"], "third": ["green", "grey"]}

    def choice(*before: AssembledPrompt, cache: AnswerCache | None = None) -> Choice | Fault:
        agent = LocalAgent(tiny, cache)
        for earlier in before:
            agent.answer(earlier)
        return agent.forced_choice(prompt, " now", candidates)

    never_asked = choice()
    LocalAgent(tiny, AnswerCache(tmp_path)).answer(prompt)
    assert isinstance(never_asked, Choice)
    assert choice(prompt) == never_asked
    assert choice(prompt, _prompt(tiny, "The bell is blue.")) == never_asked
    assert choice(prompt, cache=AnswerCache(tmp_path)) == never_asked


def test_the_scripted_agent_answers_and_fails_as_told() -> None:
    prompt = AssembledPrompt((1,), ())
    agent = ScriptedAgent(lambda prompt: "red" if prompt.ids == (1,) else "1" + 1)  # type: ignore[operator]
    assert agent.answer(prompt) == Answer("red", ())
    choice = agent.forced_choice(prompt, "", {"false": ["blue"], "true": ["red"]})
    assert isinstance(choice, Choice)
    assert choice.preferred == "true"
    fault = agent.answer(AssembledPrompt((2,), ()))
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("TypeError")
    assert agent.forced_choice(AssembledPrompt((2,), ()), "", {"true": ["red"]}) == fault


def _ask(model: LanguageModel, agent: LocalAgent, scenario: Scenario) -> Outcome:
    assert scenario.question is not None
    lines = [Line(key, scenario.entry(key).text) for key in scenario.in_context]
    prompt = assemble(
        (*context_segments(lines), *question_segments(scenario.question.text, scenario.question.stem)), model
    )
    answer = agent.answer(prompt)
    assert isinstance(answer, Answer)
    return read_answer(scenario.question.expected, answer.text).outcome


@pytest.mark.slow
def test_the_packaged_model_is_competent(smollm2: LanguageModel) -> None:
    agent = LocalAgent(smollm2)
    outcomes = [_ask(smollm2, agent, scenario) for scenario in generate("competence", 20, 0)]
    assert outcomes.count(Outcome.ASSERTS_TRUE) >= 16
