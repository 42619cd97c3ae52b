"""Verdicts, their independence assessments and reversals, and the receipts of what followed from them."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.records import Record
from ledger_core.kernel.statements.envelope import Envelope
from ledger_core.kernel.types import ContractId, Count, Digest, Family, ForeignName, Items, PartsOfU, Ppm, ascending

IndependenceResult = Literal["dependent", "independent", "structured", "echo", "unknown"]


class VerdictFiledBody(Record):
    """A verifier's (or a scenario oracle's) answer to: does the candidate contradict the target?"""

    candidate: Digest
    recipe: ContractId
    stage_a: ContentRef | None
    stage_b: ContentRef | None
    target: Digest
    verdict: Literal["contradict", "support", "undecided"]

    @model_validator(mode="after")
    def _is_about_two(self) -> VerdictFiledBody:
        if self.candidate == self.target:
            raise ValueError("an entry neither contradicts nor supports itself")
        return self


class VerdictFiled(Envelope):
    """`verdict.filed`."""

    kind: Literal["verdict.filed"]
    body: VerdictFiledBody


class IndependenceAssessedBody(Record):
    """Whether two entries count as two origins; recorded once and never re-judged by a later recipe."""

    cosine_ppm: Ppm | None
    echoes: Items[Digest]
    """The members of the pair that were found to echo their own call or earlier agent text."""
    first: Digest
    jaccard_ppm: Ppm | None
    recipe: ContractId
    result: IndependenceResult
    second: Digest

    @model_validator(mode="after")
    def _pair_is_sorted(self) -> IndependenceAssessedBody:
        if self.first >= self.second:
            raise ValueError("the pair is two different entries, sorted")
        if (self.result == "echo") != bool(self.echoes):
            raise ValueError("the result `echo` names which members echo, and no other result does")
        if not {self.first, self.second}.issuperset(self.echoes):
            raise ValueError("only members of the pair echo")
        ascending("echoes", self.echoes)
        return self


class IndependenceAssessed(Envelope):
    """`independence.assessed`."""

    kind: Literal["independence.assessed"]
    body: IndependenceAssessedBody


class VerdictReversedBody(Record):
    """Withdraws a verdict: state becomes exactly what it would be without it."""

    note: ContentRef | None
    predecessor: Digest | None
    reason: Literal["verifier_error", "source_corrected", "operator_decision", "erased"]
    verdict: Digest


class VerdictReversed(Envelope):
    """`verdict.reversed`."""

    kind: Literal["verdict.reversed"]
    body: VerdictReversedBody


class AttenuatedEntry(Record):
    """What a cascade left of an entry."""

    attenuation: PartsOfU
    entry: Digest


class CascadeFiredBody(Record):
    """Receipt, without authority: the fold recomputes it and verification compares."""

    attenuated: Items[AttenuatedEntry]
    members: Items[Digest]
    target: Digest
    verdict: Digest

    @model_validator(mode="after")
    def _are_sets(self) -> CascadeFiredBody:
        ascending("attenuated entries", [left.entry for left in self.attenuated])
        ascending("members", self.members)
        return self


class CascadeFired(Envelope):
    """`cascade.fired`."""

    kind: Literal["cascade.fired"]
    body: CascadeFiredBody


class CascadeRefusedBody(Record):
    """Receipt, without authority: why a verdict did not complete a quorum."""

    eligible: Count
    """Members that may count at all."""
    largest_independent: Count
    """Size of the largest pairwise independent set among them."""
    reason: Literal["not_eligible", "too_few", "not_independent", "already_retracted", "outnumbered"]
    target: Digest
    verdict: Digest


class CascadeRefused(Envelope):
    """`cascade.refused`."""

    kind: Literal["cascade.refused"]
    body: CascadeRefusedBody


class ReputationAdjustedBody(Record):
    """Receipt, without authority: a cluster's counts in one predicate family after a retraction."""

    cluster: ForeignName
    failures: Count
    family: Family
    successes: Count
    target: Digest


class ReputationAdjusted(Envelope):
    """`reputation.adjusted`."""

    kind: Literal["reputation.adjusted"]
    body: ReputationAdjustedBody
