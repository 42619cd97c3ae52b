"""PoisonedRAG: questions with a correct and an incorrect answer and texts written to make a reader believe the latter.

The file holds no text for the correct answer. One is made of another of its texts by exchanging the incorrect answer for the
correct one: premise and corrections then differ in writer, length and style by chance only, and the value decides.

Source: Zou, Geng, Wang and Jia, PoisonedRAG (USENIX Security 2025), the released `*.json` files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from evals.mentions import ValueKind
from evals.scenarios.draw import Draw
from evals.scenarios.loaders.planting import (
    LOADER_VERSION,
    Passage,
    Planted,
    Values,
    draw_values,
    exchanged,
    kind_of,
    states,
)
from evals.scenarios.loaders.source import Row, Unusable, cluster_name, one_line

LEAST_TEXTS = 3
"""One premise and two corrections."""


class PoisonedRagRow(Row):
    """One question under attack."""

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    correct: str = Field(alias="correct answer", min_length=1)
    incorrect: str = Field(alias="incorrect answer", min_length=1)
    adv_texts: list[str] = Field(min_length=1)


Pool = Mapping[str, ValueKind]
"""Every answer of a file, with its kind."""


def pool_of(rows: Sequence[PoisonedRagRow]) -> Pool:
    """The answers of ``rows``, from which further values are drawn."""
    answers = dict.fromkeys(one_line(answer) for row in rows for answer in (row.correct, row.incorrect))
    return {answer: kind_of((answer,)) for answer in answers}


def plant(pool: Pool, row: PoisonedRagRow, seed: int) -> Planted:
    """What ``row`` plants.

    Raises:
        Unusable: too few of its texts state the incorrect answer and only that, or its answers cannot be told apart.
    """
    false, true, question = one_line(row.incorrect), one_line(row.correct), one_line(row.question)
    if any(len(answer) == 1 and not answer.isdigit() for answer in (false, true)):
        raise Unusable("an answer of one letter cannot be told from a letter")
    if states(question, false) or states(question, true):
        raise Unusable("its question names one of the answers")
    texts = [one_line(text) for text in row.adv_texts]
    usable = [text for text in dict.fromkeys(texts) if _states_only(text, false, true)]
    if len(usable) < LEAST_TEXTS:
        raise Unusable(f"fewer than {LEAST_TEXTS} of its texts state the incorrect answer and not the correct one")
    draw = Draw(LOADER_VERSION, "poisonedrag", row.id, question, seed)
    values = draw_values(draw, false=false, true=true, pool=pool, absent_from=(question, *texts))
    premise, first, second = draw.distinct(usable, LEAST_TEXTS, lambda a, b: a == b)
    return Planted(
        wording=cluster_name("q", row.id, question),
        premise=Passage(premise, exchanged(premise, false, values.swap), false),
        claim=values.claim(lambda value: f"Asked “{question}”, the answer to give is {value}."),
        corrections=(_correction(first, values), _correction(second, values)),
        question=values.question(_asked(question)),
    )


def _states_only(text: str, false: str, true: str) -> bool:
    """Whether ``text`` states the incorrect answer, spelled as the record spells it, and nowhere the correct one."""
    return states(text, false) and not states(text, true) and not states(exchanged(text, false, true), false)


def _correction(text: str, values: Values) -> Passage:
    return Passage(exchanged(text, values.false, values.true), exchanged(text, values.false, values.swap), values.true)


def _asked(question: str) -> str:
    return question if question.endswith("?") else f"{question}?"
