"""From token log-probabilities to one score per mask and claim.

The contrast asks how much likelier the claim is than the same claim with another value. Whatever lifts every
sentence about an entity lifts claim and foils alike and cancels, which a bare log-probability cannot do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from attribution.errors import BlockError
from attribution.layout import Ids, ScoredSpan, TokenLayout

Table = npt.NDArray[np.float64]


def contrast(layout: TokenLayout, table: Table) -> Table:
    """``float64[mask, target]``: ``log p(c|S) − log mean_φ p(φ|S)`` in nats, or ``log p(c|S)`` without foils.

    Claim and foils are compared from their first differing token on; the tokens before it are the same events
    under the same context and cancel exactly. Foils of any length are whole events, so nothing is divided by a token
    count and nothing is clipped.

    Args:
        layout: what was scored.
        table: ``float64[mask, column]`` of token log-probabilities, columns as in ``layout.scored``.

    Raises:
        BlockError: a table of another width.
    """
    spans = _spans_by_target(layout, table)
    scores = np.empty((table.shape[0], len(layout.targets)))
    for target, (claim, *foils) in enumerate(spans):
        shared = _shared_prefix(layout.variants(target)) if foils else 0
        scores[:, target] = _event(table, claim, shared)
        if foils:
            events = np.stack([_event(table, foil, shared) for foil in foils])
            scores[:, target] -= logsumexp(events, axis=0) - np.log(len(foils))
    return scores


def log_probability(layout: TokenLayout, table: Table) -> Table:
    """``float64[mask, target]``: ``log p(c|S)`` of every whole claim in nats, whether or not it has foils.

    Raises:
        BlockError: a table of another width.
    """
    claims = [spans[0] for spans in _spans_by_target(layout, table)]
    return np.stack([_event(table, claim, 0) for claim in claims], axis=1) if claims else np.empty((len(table), 0))


def uncontrasted(layout: TokenLayout) -> tuple[bool, ...]:
    """Per target, whether it has no foil, so that its edges carry the label ``uncontrasted``."""
    return tuple(not target.foils for target in layout.targets)


def _shared_prefix(variants: Sequence[Ids]) -> int:
    """Tokens that claim and every foil begin with."""
    return next((place for place, tokens in enumerate(zip(*variants, strict=False)) if len(set(tokens)) > 1), 0)


def _event(table: Table, span: ScoredSpan, shared: int) -> Table:
    log_p: Table = table[:, span.start + shared : span.stop].sum(axis=1)
    return log_p


def _spans_by_target(layout: TokenLayout, table: Table) -> list[list[ScoredSpan]]:
    if table.ndim != 2 or table.shape[1] != layout.columns:  # noqa: PLR2004 - a table has rows and columns
        raise BlockError(
            f"a table of shape {table.shape} does not belong to a layout of {layout.columns} scored tokens; "
            "score the layout again"
        )
    spans: list[list[ScoredSpan]] = [[] for _ in layout.targets]
    for span in layout.scored:
        spans[span.target].append(span)
    return spans
