"""What every scorer offers: log-probabilities of claim and foil tokens under masks."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from attribution.blocks import Block
from attribution.layout import TokenLayout
from ledger_core.kernel.digests import DigestHex


class Scorer(Protocol):
    """Scores a whole trajectory under every mask of a block.

    A target is scored on the tokens before it as its mask leaves them, with its *own* unit present: a claim whose
    own unit is ablated is a side branch that later tokens do not see. So the score of a target does not depend on
    its own unit nor on any unit after it.
    """

    @property
    def id(self) -> DigestHex:
        """Identity over everything that can move a score: kind, weights, tokenizer, dtype, batch plan."""
        ...

    @property
    def dtype(self) -> str:
        """Arithmetic of the forward pass, such as ``float32``."""
        ...

    @property
    def plan(self) -> str:
        """Name and parameters of the batching, which decides the last bits."""
        ...

    def tokens(self, layout: TokenLayout, block: Block) -> int:
        """Tokens that the model reads for ``block``."""
        ...

    def score(self, layout: TokenLayout, block: Block) -> npt.NDArray[np.float64]:
        """``float64[mask, scored_token]`` of log-probabilities in nats; columns as in ``layout.scored``."""
        ...
