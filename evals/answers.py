"""Which context entries an answer rests on: the answer as one more claim of the exact prompt it was given to.

A leaf: an answer is no entry of the ledger, so this is never written back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attribution.trajectory import Claim, ContextItem, Generation, Trajectory, Wording, exact_trajectories
from evals.matcher import read_answer
from evals.prompts import AssembledPrompt, Line
from evals.scenarios import Question

if TYPE_CHECKING:
    from attribution.models import LanguageModel


def context_items(prompt: AssembledPrompt, texts: Mapping[str, str]) -> tuple[ContextItem, ...]:
    """The regions of ``prompt`` as a scorer ablates them: each key of ``texts`` is a unit, in their order."""
    units = {key: number for number, key in enumerate(texts)}
    return tuple(
        ContextItem(
            entry=region.key,
            kind="template" if region.key is None else "entry.observed",
            role="tool",
            text="" if region.key is None else texts[region.key],
            unit=None if region.key is None else units[region.key],
            token_start=region.start,
            token_stop=region.stop,
        )
        for region in prompt.regions
    )


def answer_trajectory(
    model: LanguageModel,
    key: str,
    prompt: AssembledPrompt,
    lines: Sequence[Line],
    answer: str,
    answer_ids: Sequence[int],
    question: Question,
    swaps: dict[str, str],
) -> Trajectory:
    """Lay out an answer as the only claim of its prompt; its foils are the answer with the other values in place.

    Args:
        model: the model that answered.
        key: name of the answer.
        prompt: exact prompt.
        lines: the entries' lines in it.
        answer: the sentence that counts as the answer; generated text beyond it is laid out and not attributed.
        answer_ids: exact ids of everything the model said.
        question: values that the answer could have held.
        swaps: matched text per entry.
    """
    said = model.detokenize(answer_ids)
    texts = {line.key: line.text for line in lines if line.key is not None}
    items = context_items(prompt, texts)
    generation = Generation(
        event_id=key,
        record=key,
        step=0,
        context=items,
        response=said.decode("utf-8", "replace"),
        claims=(Claim(key, 0, _stop_of(answer, said), "sentence"),),
        prompt_ids=prompt.ids,
        response_ids=tuple(answer_ids),
        weights_digest=model.files.weights_digest,
    )
    (trajectory,) = exact_trajectories(
        [generation],
        Wording({key: answer_foils(answer, question)}, swaps),
        tokenize=model.tokenize,
        token_bytes=model.token_bytes,
        context_window=model.context_window,
    )
    return trajectory


def _stop_of(answer: str, said: bytes) -> int:
    """Bytes of ``said`` that read as ``answer``: one that was cut off inside a character holds fewer than its text."""
    stops = [stop for stop in range(len(said) + 1) if said[:stop].decode("utf-8", "replace") == answer]
    return stops[-1] if stops else len(said)


def answer_foils(answer: str, question: Question) -> tuple[str, ...]:
    """The answer with the value it asserts replaced by each other value the question knows; empty where it asserts none."""
    reading = read_answer(question.expected, answer)
    if not reading.asserted:
        return ()
    mention = reading.asserted[0]
    said = reading.text[mention.start : mention.stop]
    others = dict.fromkeys(value for value in (question.true, question.false, *question.third) if value)
    return tuple(
        reading.text[: mention.start] + value + reading.text[mention.stop :] for value in others if value != said
    )
