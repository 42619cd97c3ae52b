"""Assembling prompts: regions tile, tokens never depend on neighbours, transcripts only grow."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.models import LanguageModel
from evals.errors import ArmError
from evals.prompts import AssembledPrompt, Line, assemble, context_segments, question_segments
from evals.scenarios import generate


class ByteFrame:
    closing = (257, 10)

    def opening(self, role: str) -> tuple[int, ...]:
        return (256, *role.encode(), 10)


class ByteTokenizer:
    """Bytes, but ``ab`` is one token: joint tokenisation would differ from separate."""

    chat_template_pieces = ByteFrame()

    def tokenize(self, text: str, /) -> tuple[int, ...]:
        ids: list[int] = []
        for byte in text.encode():
            if byte == ord("b") and ids and ids[-1] == ord("a"):
                ids[-1] = 300
            else:
                ids.append(byte)
        return tuple(ids)


TOKENIZER = ByteTokenizer()
LINES = st.lists(st.text(alphabet="ab c\u00e9", max_size=6), max_size=5).map(
    lambda texts: [Line(f"e{i}", text) for i, text in enumerate(texts)]
)


def _text(prompt: AssembledPrompt, key: str) -> tuple[int, ...]:
    region = prompt.region(key)
    return prompt.ids[region.start : region.text_stop]


@given(LINES)
def test_regions_tile_the_ids_and_hold_each_line_by_itself(lines: list[Line]) -> None:
    prompt = assemble((*context_segments(lines), *question_segments("q?", "a is")), TOKENIZER)
    assert prompt.regions[0].start == 0
    assert prompt.regions[-1].stop == len(prompt.ids)
    assert all(left.stop == right.start for left, right in pairwise(prompt.regions))
    assert all(left.key is not None or right.key is not None for left, right in pairwise(prompt.regions))
    assert list(prompt.keys) == [line.key for line in lines]
    for line in lines:
        assert _text(prompt, line.key) == TOKENIZER.tokenize(line.text)
        assert prompt.ids[prompt.region(line.key).text_stop : prompt.region(line.key).stop] == (10,)


@given(LINES)
def test_a_transcript_only_grows(lines: list[Line]) -> None:
    whole = assemble((*context_segments(lines), *question_segments("q?", "a is")), TOKENIZER)
    for count in range(len(lines) + 1):
        part = assemble(context_segments(lines[:count]), TOKENIZER)
        assert whole.ids[: len(part.ids)] == part.ids
        if count < len(lines):
            assert whole.region(lines[count].key).start == len(part.ids)


def test_the_whole_prompt_reads_as_designed() -> None:
    prompt = assemble((*context_segments([Line("x", "One.")]), *question_segments("Two?", "Three is")), TOKENIZER)
    spelled = bytes(i for i in prompt.ids if i < 256).decode()
    assert spelled == (
        "system\nYou answer questions from the notes.\nuser\nNotes:\nOne.\nQuestion: Two?\nassistant\nThree is"
    )
    assert [i for i in prompt.ids if i in (256, 257)] == [256, 257, 256, 257, 256]
    assert [(region.key, region.stop - region.start) for region in prompt.regions][1] == ("x", 5)


def test_an_entry_with_two_lines_is_refused() -> None:
    with pytest.raises(ArmError, match="two lines"):
        context_segments([Line("x", "a"), Line("x", "b")])


def test_an_entry_that_is_not_there_is_named() -> None:
    prompt = assemble(context_segments([Line("x", "a")]), TOKENIZER)
    with pytest.raises(ArmError, match=r"'y' is not in the prompt; it holds x"):
        prompt.region("y")


def test_the_digest_is_of_the_ids() -> None:
    assert AssembledPrompt((1, 2), ()).digest == AssembledPrompt((1, 2), ()).digest
    assert AssembledPrompt((1, 2), ()).digest != AssembledPrompt((2, 1), ()).digest
    assert AssembledPrompt((258,), ()).digest != AssembledPrompt((1, 2), ()).digest


def test_chat_tokens_inside_an_entry_stay_text(tiny: LanguageModel) -> None:
    prompt = assemble(context_segments([Line("x", "a<|im_end|>b")]), tiny)
    region = prompt.region("x")
    assert tiny.special("<|im_end|>") not in prompt.ids[region.start : region.stop]


@pytest.mark.slow
def test_trajectories_fit_two_hundred_tokens_and_swaps_the_length(smollm2: LanguageModel) -> None:
    for family in ("planted-premise", "mixed-parents", "null", "competence"):
        for scenario in generate(family, 80, 3):
            lines = [Line(entry.key, entry.text) for entry in scenario.entries]
            question = scenario.question
            tail = () if question is None else question_segments(question.text, question.stem)
            assert len(assemble((*context_segments(lines), *tail), smollm2).ids) <= 200, scenario.wording
            for entry in scenario.entries:
                length = len(smollm2.tokenize(entry.text))
                assert all(len(smollm2.tokenize(foil)) == length for foil in entry.foils)
                if entry.value is not None:
                    assert len(smollm2.tokenize(entry.swap)) == length
