"""What attribution found out, for people: edges, cuts, a table, a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from attribution.decision.verdicts import LabelName, Result, Verdict

if TYPE_CHECKING:
    import polars as pl


Tier = Literal["scored", "regenerated"]
"""`scored`: log-probabilities of exact tokens. `regenerated`, the lower tier: how often an answer still makes the claim."""


@dataclass(frozen=True, slots=True)
class Source:
    """A part of the context that was ablated as a whole."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceVerdict:
    """What one source is to one claim."""

    source: Source
    verdict: Verdict
    """``edge``, ``null`` (shown to have no effect), ``opposes``, or ``undetermined``."""
    effect_nats: float | None
    """Mean effect of the source's presence on the claim's log-odds against its foils (its log-probability where it has none)."""
    interval: tuple[float, float] | None
    """(low, high) of the effect, nats."""
    labels: tuple[LabelName, ...]
    weight: float | None
    """For an edge: the share of the claim that is lost with this source alone, 0 to 1, uncalibrated."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A claim rests on a source."""

    claim: str
    source: Source
    weight: float | None
    labels: tuple[LabelName, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """A claim is lost when all of ``sources`` are gone, and with no part of them."""

    claim: str
    sources: tuple[Source, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class ClaimAttribution:
    """One claim of the response: a sentence, or the span that was asked about."""

    text: str
    start: int
    """First character in the response."""
    stop: int
    result: Result
    reason: str | None
    """Why nothing was decided, such as no floor for claims of this size under this model; None where something was."""
    contrasted: bool
    """Whether the score is the odds against the claim with another value; without, it is a bare log-probability."""
    verdicts: tuple[SourceVerdict, ...]
    """One a source, in the context's order."""
    cuts: tuple[Cut, ...]
    total_effect_nats: float | None
    passes: int
    """Distinct ablations that were scored for this claim."""
    tier: Tier = "scored"

    def ranked(self, top_k: int | None = None) -> tuple[SourceVerdict, ...]:
        """Verdicts by effect, the strongest support first; all of them, or the first ``top_k``. Undefined effects come last."""
        ordered = sorted(self.verdicts, key=lambda one: (one.effect_nats is None, -(one.effect_nats or 0.0)))
        return tuple(ordered if top_k is None else ordered[:top_k])


@dataclass(frozen=True, slots=True)
class Attribution:
    """A response's claims and what each rests on."""

    response: str
    sources: tuple[Source, ...]
    claims: tuple[ClaimAttribution, ...]
    model: str
    """Name and weights digest of the scorer."""
    generated: bool
    """Whether this very model wrote the response; otherwise edges are about the scorer, not about whoever wrote it."""

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, claims in order."""
        return tuple(
            Edge(claim.text, verdict.source, verdict.weight, verdict.labels)
            for claim in self.claims
            for verdict in claim.verdicts
            if verdict.verdict == "edge"
        )

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """All minimal sets of two or more sources whose joint absence loses a claim."""
        return tuple(cut for claim in self.claims for cut in claim.cuts)

    def rows(self, top_k: int | None = None) -> list[dict[str, Any]]:
        """One row a claim and source, plain values; None is undefined.

        Args:
            top_k: of every claim only the sources with the largest effects, in that order; None keeps the context's order.
        """
        return [
            {
                "claim": number,
                "claim_text": claim.text,
                "result": claim.result,
                "source": verdict.source.key,
                "source_text": verdict.source.text,
                "verdict": verdict.verdict,
                "weight": verdict.weight,
                "effect_nats": verdict.effect_nats,
                "low_nats": verdict.interval[0] if verdict.interval else None,
                "high_nats": verdict.interval[1] if verdict.interval else None,
                "labels": list(verdict.labels),
                "tier": claim.tier,
            }
            for number, claim in enumerate(self.claims)
            for verdict in (claim.verdicts if top_k is None else claim.ranked(top_k))
        ]

    def to_polars(self, top_k: int | None = None) -> pl.DataFrame:
        """:meth:`rows` as a data frame with a fixed schema."""
        import polars as pl

        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            "claim": pl.Int64,
            "claim_text": pl.String,
            "result": pl.String,
            "source": pl.String,
            "source_text": pl.String,
            "verdict": pl.String,
            "weight": pl.Float64,
            "effect_nats": pl.Float64,
            "low_nats": pl.Float64,
            "high_nats": pl.Float64,
            "labels": pl.List(pl.String),
            "tier": pl.String,
        }
        return pl.DataFrame(self.rows(top_k), schema=schema)

    def show(self) -> None:
        """Print every claim with its sources, shaded by effect."""
        from attribution.library.views import print_attribution

        print_attribution(self)

    def to_html(self) -> str:
        """A page of its own with the same content; needs no script and no network."""
        from attribution.library.views import html_page

        return html_page(self)
