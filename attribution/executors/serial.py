"""One block after the other, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.blocks import Block, BlockCache, Progress, Table, run_block
from attribution.executors.base import ScoringExecutor
from attribution.layout import TokenLayout


class SerialExecutor(ScoringExecutor):
    """A scorer that begins no block after the deadline. Bits, identity and order are the inner scorer's."""

    workers = 1

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
