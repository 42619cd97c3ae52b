"""Blocks: the unit of work that is computed whole or not at all.

A block is an ordered set of masks together with everything that decides the bits of its scores: layout, scorer,
dtype and batch plan. Its score table is the only marker that it is done.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from attribution.errors import BlockError
from attribution.games.base import SWAPPED, States
from attribution.layout import TokenLayout
from ledger_core.kernel.digests import DIGEST_BYTES, DigestHex, Prefix, framed_hex
from ledger_core.stores.files import write_whole

if TYPE_CHECKING:
    from attribution.scorers.base import Scorer

Table = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Called with (blocks done, blocks in all)."""


@dataclass(frozen=True, eq=False)
class Block:
    """Ordered masks and the configuration that scores them.

    Raises:
        BlockError: states that are no ``uint8[mask, unit]`` of unit states.
    """

    states: States
    """``uint8[mask, unit]``, read-only."""
    layout_digest: DigestHex
    scorer_id: DigestHex
    dtype: str
    plan: str
    """Name and parameters of the scorer's batching."""

    def __post_init__(self) -> None:
        states = np.array(self.states, order="C")
        if states.dtype != np.uint8 or states.ndim != 2 or (states > SWAPPED).any():  # noqa: PLR2004 - [mask, unit]
            raise BlockError(
                f"states of dtype {states.dtype} and shape {states.shape} are not uint8[mask, unit] with values "
                "0 deleted, 1 present, 2 swapped"
            )
        states.setflags(write=False)
        object.__setattr__(self, "states", states)

    @cached_property
    def digest(self) -> DigestHex:
        """Content address: equal digests score to equal bits on machines of one class."""
        fields = {
            "dtype": self.dtype,
            "layout": self.layout_digest,
            "plan": self.plan,
            "scorer": self.scorer_id,
            "shape": self.states.shape,
        }
        described = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
        return framed_hex(Prefix.BLOCK, [described, self.states.tobytes()])


def make_blocks(scorer: Scorer, layout: TokenLayout, states: States, masks_per_block: int = 64) -> list[Block]:
    """Cut ``states`` (``uint8[mask, unit]``) into blocks of at most ``masks_per_block`` masks, in order.

    Raises:
        BlockError: states of another number of units than the layout's.
    """
    if states.ndim != 2 or states.shape[1] != len(layout.units):  # noqa: PLR2004 - [mask, unit]
        raise BlockError(f"states of shape {states.shape} do not fit a layout of {len(layout.units)} units")
    return [
        Block(states[start : start + masks_per_block], layout.digest, scorer.id, scorer.dtype, scorer.plan)
        for start in range(0, len(states), masks_per_block)
    ]


class BlockCache:
    """Score tables on disk, one ``.npy`` per block, each followed by the SHA-256 of its bytes.

    ``numpy.load`` reads the files as they are. A table that is cut off, altered or of another shape counts as
    absent: it is computed again, never trusted.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, block: Block) -> Path:
        """Where the table of ``block`` is, or would be."""
        return self.folder / block.digest[:2] / f"{block.digest}.npy"

    def get(self, block: Block) -> Table | None:
        """The ``float64[mask, column]`` table of ``block``, or ``None`` when there is no whole one."""
        try:
            data = self.path(block).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BlockError(f"cannot read {str(self.path(block))!r}: {error.strerror or error}") from error
        body, checksum = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != checksum:
            return None
        table: Table = np.load(io.BytesIO(body), allow_pickle=False)
        return table if _belongs(table, block) else None

    def once(self, block: Block, columns: int, compute: Callable[[], Table]) -> Table:
        """The ``float64[mask, column]`` table of ``block``: the stored one, or what ``compute`` gives, then stored.

        Whoever asks for the same block meanwhile, in any thread or process that uses this folder, waits and finds it there.
        The lock is the operating system's: it ends with the process that holds it, however that ends, and the next in line
        computes the block. A stored table of another width than ``columns`` is computed again.

        Raises:
            BlockError: as :meth:`put`.
        """
        found = self.whole(block, columns)
        if found is not None:
            return found
        with self._held(block):
            found = self.whole(block, columns)
            if found is None:
                found = compute()
                self.put(block, found)
        return found

    def whole(self, block: Block, columns: int) -> Table | None:
        """The stored ``float64[mask, column]`` table of ``block`` if it has so many columns."""
        table = self.get(block)
        return table if table is not None and table.shape[1] == columns else None

    @contextmanager
    def _held(self, block: Block) -> Iterator[None]:
        """Hold the lock of ``block``; its file is there only as long as somebody holds it."""
        path = self.path(block).with_name(f".{block.digest}.lock")
        try:
            handle = _locked(path)
        except OSError as error:
            raise BlockError(
                f"cannot lock {str(path)!r}: {error.strerror or error}; choose another home with --home"
            ) from error
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            os.close(handle)

    def put(self, block: Block, table: Table) -> None:
        """Store the table durably; it appears whole, by one rename, or not at all.

        Raises:
            BlockError: a table that is not ``float64[mask, column]`` of finite numbers for this block, or a
                folder that cannot be written.
        """
        if not _belongs(table, block):
            raise BlockError(
                f"a table of dtype {table.dtype} and shape {table.shape} with "
                f"{int((~np.isfinite(table)).sum())} numbers that are not finite cannot be the scores of "
                f"{len(block.states)} masks"
            )
        stream = io.BytesIO()
        np.save(stream, np.ascontiguousarray(table), allow_pickle=False)
        body = stream.getvalue()
        try:
            write_whole(self.path(block), body + hashlib.sha256(body).digest())
        except OSError as error:
            raise BlockError(
                f"cannot write scores to {str(self.folder)!r}: {error.strerror or error}; "
                "free some space there or choose another home with --home"
            ) from error


@runtime_checkable
class ManyBlocks(Protocol):
    """What a scorer offers that computes blocks elsewhere, several at a time (``attribution/executors``)."""

    def score_all(
        self, layout: TokenLayout, blocks: Sequence[Block], cache: BlockCache | None, progress: Progress | None
    ) -> list[Table]:
        """Tables of ``blocks``, in order; only what ``cache`` does not hold is computed."""
        ...


def run_block(scorer: Scorer, layout: TokenLayout, block: Block, cache: BlockCache | None) -> Table:
    """The table ``float64[mask, column]`` of one block, computed at most once by all who use ``cache``.

    Raises:
        BlockError: a block made for another layout or scorer.
    """
    made_for = (block.layout_digest, block.scorer_id, block.dtype, block.plan)
    if made_for != (layout.digest, scorer.id, scorer.dtype, scorer.plan):
        raise BlockError(
            f"block {block.digest[:12]} was made for layout {block.layout_digest[:12]} and scorer "
            f"{block.scorer_id[:12]}, not for {layout.digest[:12]} and {scorer.id[:12]}; make it anew"
        )
    if cache is None:
        return scorer.score(layout, block)
    return cache.once(block, layout.columns, lambda: scorer.score(layout, block))


def score_blocks(
    scorer: Scorer,
    layout: TokenLayout,
    blocks: Sequence[Block],
    cache: BlockCache | None = None,
    progress: Progress | None = None,
) -> list[Table]:
    """Tables ``float64[mask, column]`` of ``blocks`` in order; computes only what ``cache`` does not hold.

    Raises:
        BlockError: a block made for another layout or scorer.
    """
    if isinstance(scorer, ManyBlocks):
        return scorer.score_all(layout, blocks, cache, progress)
    tables = []
    for done, block in enumerate(blocks, start=1):
        tables.append(run_block(scorer, layout, block, cache))
        if progress is not None:
            progress(done, len(blocks))
    return tables


def _locked(path: Path) -> int:
    """An open file at ``path`` that this call alone has locked; waits for whoever holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                return handle
        except OSError:
            os.close(handle)
            raise
        os.close(handle)  # whoever held it took the file away: the next holder locks another one


def _belongs(table: Table, block: Block) -> bool:
    return (
        table.dtype == np.float64
        and table.ndim == 2  # noqa: PLR2004 - [mask, column]
        and len(table) == len(block.states)
        and bool(np.isfinite(table).all())
    )
