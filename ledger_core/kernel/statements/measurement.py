"""`edges.measured`: which context entries a claim was measured to rest on, and which sets of them."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope
from ledger_core.kernel.types import ContractId, Digest, Items, MicroNats, Ppm, ascending

EdgeVerdict = Literal["edge", "null", "undetermined", "opposes"]
EdgeLabel = Literal["necessary", "redundant-with", "sufficient", "conjunct-with", "partial", "declared-kept"]
ClaimResult = Literal["grounded", "ungrounded", "diffuse", "undetermined"]
MeasurementFlag = Literal["proxy-scored", "uncalibrated", "uncontrasted", "provisional-floor", "windowed"]


class Interval(Record):
    """A closed interval of an effect, in micro-nats."""

    high: MicroNats
    low: MicroNats

    @model_validator(mode="after")
    def _is_ordered(self) -> Interval:
        if self.low > self.high:
            raise ValueError(f"interval {self.low}..{self.high} runs backwards")
        return self


class MeasuredEntry(Record):
    """The verdict on one ablatable context entry; only an `edge` carries a weight."""

    entry: Digest
    interval: Interval | None
    labels: Items[EdgeLabel]
    ppm: Ppm | None
    verdict: EdgeVerdict

    @model_validator(mode="after")
    def _only_edges_weigh(self) -> MeasuredEntry:
        if (self.verdict == "edge") != (self.ppm is not None):
            raise ValueError("an `edge` has a weight in ppm and nothing else has one")
        ascending("labels", self.labels)
        return self


class MeasuredCut(Record):
    """A minimal set whose joint absence loses the claim: an AND-group of the belief function."""

    members: Items[Digest]
    ppm: Ppm

    @model_validator(mode="after")
    def _members_are_a_set(self) -> MeasuredCut:
        if not self.members:
            raise ValueError("a cut has at least one member")
        ascending("members of a cut", self.members)
        return self


class EdgesMeasuredBody(Record):
    """One claim's measurement; every ablatable entry of its context is listed exactly once."""

    claim: Digest
    claim_result: ClaimResult
    cuts: Items[MeasuredCut]
    entries: Items[MeasuredEntry]
    flags: Items[MeasurementFlag]
    gate: ContractId
    generation: Digest
    predecessor: Digest | None
    recipe: ContentRef
    """Floor, scorer, design, template and tokenisation, as canonical JSON."""
    rows_digest: Digest
    """Root of the score rows the measurement was computed from."""
    scorer_weights_digest: Digest
    total_effect: MicroNats | None

    @model_validator(mode="after")
    def _is_consistent(self) -> EdgesMeasuredBody:
        ascending("measured entries", [measured.entry for measured in self.entries])
        ascending("cuts", self.cuts, lambda cut: " ".join(cut.members))
        edges = {measured.entry for measured in self.entries if measured.verdict == "edge"}
        for cut in self.cuts:
            if not edges.issuperset(cut.members):
                raise ValueError("every member of a cut is an `edge`")
        ascending("flags", self.flags)
        return self


class EdgesMeasured(Envelope):
    """`edges.measured`."""

    kind: Literal["edges.measured"]
    body: EdgesMeasuredBody
