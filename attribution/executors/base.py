"""What every executor has in common: it is a scorer, whoever computes its blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from attribution.blocks import Block, BlockCache, Progress, Table
from attribution.executors.budget import Deadline
from attribution.layout import TokenLayout
from attribution.scorers.base import Scorer
from ledger_core.kernel.digests import DigestHex


class ScoringExecutor(ABC):
    """A scorer with the identity of another: where a block is computed is no part of what it says."""

    def __init__(self, scorer: Scorer, deadline: Deadline | None = None) -> None:
        self._scorer = scorer
        self._deadline = deadline or Deadline()

    @property
    def id(self) -> DigestHex:
        """The scorer's."""
        return self._scorer.id

    @property
    def dtype(self) -> str:
        """The scorer's."""
        return self._scorer.dtype

    @property
    def plan(self) -> str:
        """The scorer's."""
        return self._scorer.plan

    def tokens(self, layout: TokenLayout, block: Block) -> int:
        """Tokens that the model reads for ``block``."""
        return self._scorer.tokens(layout, block)

    def score(self, layout: TokenLayout, block: Block) -> Table:
        """``float64[mask, scored_token]`` of one block, stored nowhere; see :meth:`score_all`."""
        return self.score_all(layout, [block], None)[0]

    @abstractmethod
    def score_all(
        self, layout: TokenLayout, blocks: Sequence[Block], cache: BlockCache | None, progress: Progress | None = None
    ) -> list[Table]:
        """Tables of ``blocks`` in order, stored in ``cache`` where there is one.

        Raises:
            BudgetError: the time is over and a block is missing.
        """
