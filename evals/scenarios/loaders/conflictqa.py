"""ConflictQA on StrategyQA: what a model remembered wrongly, and two texts for the opposite.

The premise is the model's own text for its wrong answer; the corrections are a model's text and an annotator's facts for the
right one. Nearly all answers of the file are "yes", so the question put is not the file's: by seed it is whether the wrong
or whether the right statement is correct, and an agent that always says yes is right half of the time.

Source: Xie, Zhang, Chen, Lou and Su, Adaptive Chameleon or Stubborn Sloth (ICLR 2024), the released `*.jsonl` files.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence

from pydantic import Field

from evals.matcher import ValueKind
from evals.scenarios.base import Question
from evals.scenarios.draw import Draw
from evals.scenarios.loaders.planting import LOADER_VERSION, STEM, Claim, Passage, Planted
from evals.scenarios.loaders.source import Row, Unusable, cluster_name, one_line

_ABOUT_ITSELF = re.compile(r"\b(?:claim|answer|statement|note|sorry)\b|^\W*(?:false|true)\b", re.IGNORECASE)
"""Where a statement of the file talks about its own truth instead of about the world."""

_PASSAGES = ("parametric_memory", "counter_memory", "counter_memory_aligned_evidence")

_OPPOSITE = {"yes": "no", "no": "yes"}
_NEITHER = "open"


class ConflictQaRow(Row):
    """One question with the two sides of its conflict."""

    question: str = Field(min_length=1)
    popularity: float | str | None = None
    ground_truth: list[str] = Field(min_length=1)
    memory_answer: str
    parametric_memory: str
    counter_answer: str
    counter_memory: str
    parametric_memory_aligned_evidence: str
    counter_memory_aligned_evidence: str


class Likes:
    """The passages of a file by field and length."""

    def __init__(self, rows: Sequence[ConflictQaRow]) -> None:
        self._passages = {
            field: sorted((len(text), text, row.question) for row in rows if (text := one_line(getattr(row, field))))
            for field in _PASSAGES
        }

    def nearest(self, field: str, text: str, question: str) -> str | None:
        """The passage nearest in length to ``text`` that is about another question; of two equally near ones the shorter."""
        passages = self._passages[field]
        above = bisect_left(passages, (len(text),))
        below = above - 1
        while above < len(passages) or below >= 0:
            gap_above = passages[above][0] - len(text) if above < len(passages) else math.inf
            gap_below = len(text) - passages[below][0] if below >= 0 else math.inf
            at = below if gap_below <= gap_above else above
            _, found, asked = passages[at]
            if asked != question and found != text:
                return found
            if at == below:
                below -= 1
            else:
                above += 1
        return None


def plant(likes: Likes, row: ConflictQaRow, seed: int) -> Planted:
    """What ``row`` plants; a passage's matched swap is the like passage of another question, of the nearest length.

    Raises:
        Unusable: not a yes-or-no question, or a side of it that states nothing about the world or what the other states.
    """
    if row.ground_truth not in (["True"], ["False"]):
        raise Unusable("its ground truth is neither True nor False; only yes-or-no questions are read")
    wrong, right = one_line(row.memory_answer), one_line(row.counter_answer)
    for statement in (wrong, right):
        if not statement or _ABOUT_ITSELF.search(statement):
            raise Unusable("one of its statements talks about its own truth")
    if _bare(right) in _bare(wrong) or _bare(wrong) in _bare(right):
        raise Unusable("its two statements say the same")
    draw = Draw(LOADER_VERSION, "conflictqa", row.question, seed)
    about_wrong = draw.below(2) == 1
    true = "no" if about_wrong else "yes"
    put = wrong if about_wrong else right
    return Planted(
        wording=cluster_name("q", row.question, row.question),
        premise=_passage(likes, row, "parametric_memory"),
        claim=Claim(
            Passage(_claim(put, _OPPOSITE[true]), _claim(put, _NEITHER), _OPPOSITE[true]), (_claim(put, true),)
        ),
        corrections=(
            _passage(likes, row, "counter_memory"),
            _passage(likes, row, "counter_memory_aligned_evidence"),
        ),
        question=Question(
            false=_OPPOSITE[true],
            ignored=(),
            kind=ValueKind.YES_NO,
            stem=STEM,
            text=f"Is this correct, yes or no? “{put}”",
            third=(),
            true=true,
            vocabulary=(),
        ),
        variant="wrong-statement" if about_wrong else "right-statement",
    )


def _claim(statement: str, value: str) -> str:
    return f"Whether this is correct, “{statement}”: the answer is {value}."


def _bare(statement: str) -> str:
    return statement.rstrip(".!? ").casefold()


def _passage(likes: Likes, row: ConflictQaRow, field: str) -> Passage:
    text = one_line(getattr(row, field))
    if not text:
        raise Unusable(f"its {field} is empty")
    swap = likes.nearest(field, text, row.question)
    if swap is None:
        raise Unusable("the file has no other question to take a matched passage from")
    return Passage(text, swap)
