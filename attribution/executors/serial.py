"""One block after the other, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.blocks import Block, BlockCache, Progress, Table, run_block
from attribution.executors.budget import Deadline
from attribution.layout import TokenLayout
from attribution.scorers.base import Scorer
from ledger_core.kernel.digests import DigestHex


class SerialExecutor:
    """A scorer that begins no block after the deadline. Bits, identity and order are the inner scorer's."""

    workers = 1

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
        """``float64[mask, scored_token]`` of one block, stored nowhere.

        Raises:
            BudgetError: the time is over.
        """
        return self.score_all(layout, [block], None)[0]

    def score_all(
        self, layout: TokenLayout, blocks: Sequence[Block], cache: BlockCache | None, progress: Progress | None = None
    ) -> list[Table]:
        """Tables of ``blocks`` in order; what ``cache`` holds is read even when the time is over.

        Raises:
            BudgetError: the time is over and a block is missing.
        """
        tables = []
        for done, block in enumerate(blocks, start=1):
            table = None if cache is None else cache.whole(block, layout.columns)
            if table is None:
                self._deadline.check()
                table = run_block(self._scorer, layout, block, cache)
            tables.append(table)
            if progress is not None:
                progress(done, len(blocks))
        return tables

    def close(self) -> None:
        """Nothing was started."""
