"""The closed document of a study: everything the page prints, as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import ValidationError

from evals.errors import ReportError
from evals.report.data import Estimate
from evals.report.fields import Count, Number, Row, Text

SCHEMA = "veritas-quorum-attack-v1"

Part = Literal["fit", "check"]
"""Which part of a study a figure is of: questions on which thresholds were fitted, or others."""

Measure = Literal["passing", "merged", "silenced"]
"""Attacks that pass; pairs of honest origins taken for one; questions on which honest origins lose their quorum."""


class SetRow(Row):
    """One file of texts."""

    name: Text
    kind: Literal["attack", "honest"]
    part: Literal["fit", "check", "split"]
    """``split``: half of its questions belong to each part."""
    digest: Text
    """SHA-256 of the file."""
    who: Text
    questions: Count
    texts: Count
    pairs: Count
    median_length: Count
    """Characters of the texts as they are compared; honest ones are cut to lengths of the attack's."""
    alike: Count
    """Pairs of texts of different questions that are near-duplicates at Jaccard 0.7: they are not independent draws."""


class PointRow(Row):
    """Two thresholds with a name."""

    name: Text
    cosine_ppm: Count
    jaccard_ppm: Count
    note: Text


class FigureRow(Row):
    """One share at one named point."""

    point: Text
    set_name: Text
    part: Part
    measure: Measure
    events: Number
    """Questions, or for ``merged`` pairs."""
    of: Count
    """Questions, or for ``merged`` pairs, that were looked at."""
    share: Estimate
    """``merged`` is averaged within each question first; its n counts questions."""


class CurveRow(Row):
    """One share at one pair of thresholds of the sweep."""

    axis: Literal["cosine", "jaccard"]
    """Which threshold moves; the other stands where the fitted point has it."""
    cosine_ppm: Count
    jaccard_ppm: Count
    set_name: Text
    part: Part
    measure: Measure
    share: Estimate


class WitnessRow(Row):
    """How many of an attacker's texts about one question count as witnesses."""

    point: Text
    set_name: Text
    part: Part
    witnesses: Count
    """Size of the largest set of pairwise independent texts."""
    questions: Count


class RewriteRow(Row):
    """How a rewrite of the attack's own texts fares at one named point."""

    rewrite: Text
    what: Text
    point: Text
    set_name: Text
    part: Part
    passed: Count
    of: Count
    share: Estimate


class LedgerRow(Row):
    """Questions played through a real ledger, and whether its answer is the curve's."""

    point: Text
    set_name: Text
    kind: Literal["attack", "honest"]
    staged: Count
    retracted: Count
    agree: Count
    """Of ``staged``: the ledger retracted exactly where the pairs say that it would."""


class QuorumAttackData(Row):
    """A whole study."""

    schema_name: Literal["veritas-quorum-attack-v1"]
    embedder: Text
    quorum: Count
    minimum_shingles: Count
    command: Text
    """The command that makes the document again from the same files."""
    sets: tuple[SetRow, ...]
    points: tuple[PointRow, ...]
    figures: tuple[FigureRow, ...]
    curve: tuple[CurveRow, ...]
    witnesses: tuple[WitnessRow, ...]
    rewrites: tuple[RewriteRow, ...]
    ledger: tuple[LedgerRow, ...]

    def to_json(self) -> str:
        """One JSON document; equal studies give equal bytes."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def from_json(cls, data: bytes) -> QuorumAttackData:
        """The document of a written study; raises :class:`ReportError` for anything else."""
        try:
            return cls.model_validate_json(data, strict=True)
        except ValidationError as error:
            raise ReportError(f"no document of a quorum study: {error.errors()[0]['msg']}") from error

    def measured(self) -> tuple[tuple[str, Part, Measure], ...]:
        """What there is a figure of at every point, in order: set, part and measure."""
        return tuple(dict.fromkeys((row.set_name, row.part, row.measure) for row in self.figures))

    def most_witnesses(self) -> int:
        """The most texts that any question of an attack set has."""
        return max((row.witnesses for row in self.witnesses), default=0)

    def witnessed(self, point: str, set_name: str) -> tuple[int, ...]:
        """Questions of an attack set by the number of texts that count, from one up."""
        return tuple(row.questions for row in self.witnesses if (row.point, row.set_name) == (point, set_name))

    def figure(self, point: str, set_name: str, measure: Measure, part: Part) -> FigureRow | None:
        """The figure of that name, or None."""
        for row in self.figures:
            if (row.point, row.set_name, row.measure, row.part) == (point, set_name, measure, part):
                return row
        return None
