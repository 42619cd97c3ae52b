"""What a verdict cites: one blob for each stage, from which anybody can see, and recompute, how it came about.

RFC 8785 JSON. Stage A holds what was measured and the bounds; stage B holds the model's own words and what was read out of
them. Quotes are byte ranges of the contents, so that a receipt repeats as little of them as it can; the model's words may
still quote, which is why the verdict is found by an erasure of either entry's source fact.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ledger_core.kernel import jcs
from ledger_core.kernel.errors import JcsProfileError, StatementError
from ledger_core.verification.adjudication import Adjudication, Ground, Turn, Verdict, conclude, read_turn
from ledger_core.verification.answers import Span
from ledger_core.verification.prompt import TEMPLATE
from ledger_core.verification.screening import Screening
from ledger_core.verification.settings import Settings


def stage_a_receipt(screening: Screening, recipe: str, embedder: str, settings: Settings) -> bytes:
    """What stage A measured of a pair that it let through."""
    return jcs.encode(
        {
            "candidate": _text(screening, "candidate"),
            "cosine_ppm": screening.cosine_ppm,
            "embedder": embedder,
            "overlap_ppm": screening.overlap_ppm,
            "recipe": recipe,
            "settings": asdict(settings),
            "stage": "A",
            "target": _text(screening, "target"),
        }
    )


def stage_b_receipt(screening: Screening, adjudication: Adjudication, recipe: str, llm: str) -> bytes:
    """What the language model was asked and said about a pair, and what follows."""
    return jcs.encode(
        {
            "candidate": screening.candidate.entry,
            "ground": adjudication.ground,
            "llm": llm,
            "recipe": recipe,
            "stage": "B",
            "target": screening.target.entry,
            "template": TEMPLATE,
            "turns": [_turn(turn, screening) for turn in adjudication.turns],
            "verdict": adjudication.verdict,
        }
    )


class _Turn(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    answer: str
    ended: bool
    model: str
    target_first: bool


class _StageB(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    turns: tuple[_Turn, ...]


def recomputed(stage_b: bytes, target: str, candidate: str) -> tuple[Verdict, Ground]:
    """The verdict that the words recorded in a stage B receipt give over the two texts, without asking anybody.

    Raises:
        StatementError: ``stage_b`` is no such receipt.
    """
    try:
        jcs.parse(stage_b)
        recorded = _StageB.model_validate_json(stage_b)
    except (JcsProfileError, ValidationError) as error:
        raise StatementError(f"no receipt of stage B: {error}") from error
    turns = tuple(Turn(turn.target_first, turn.model, turn.ended, turn.answer) for turn in recorded.turns)
    return conclude(turns, target, candidate)


def _text(screening: Screening, which: str) -> dict[str, Any]:
    text = screening.target if which == "target" else screening.candidate
    shown = screening.shown[0 if which == "target" else 1]
    return {
        "content": text.digest,
        "entry": text.entry,
        "passages": [[passage.start, passage.start + len(passage.text)] for passage in shown],
    }


def _turn(turn: Turn, screening: Screening) -> dict[str, Any]:
    read = read_turn(turn, screening.target.text, screening.candidate.text)
    return {
        "answer": turn.answer,
        "candidate_quote": _range(read.candidate_quote),
        "defect": read.defect,
        "ended": turn.ended,
        "model": turn.model,
        "relation": read.relation,
        "target_first": turn.target_first,
        "target_quote": _range(read.target_quote),
    }


def _range(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.stop]
