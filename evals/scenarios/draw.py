"""Deterministic draws: SHA-256 in counter mode, so that a seed means the same on every Python and machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from evals.errors import ScenarioError
from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix

_Item = TypeVar("_Item")

_WORD_BYTES = 8
_WORDS = 1 << (8 * _WORD_BYTES)


class Draw:
    """A stream of draws named by its label; equal labels draw equally, whatever else has been drawn."""

    def __init__(self, *label: str | int) -> None:
        self._label = [str(part).encode() for part in label]
        self._counter = 0

    def below(self, bound: int) -> int:
        """A uniform integer in ``0 … bound − 1``.

        Raises:
            ScenarioError: a bound that leaves nothing to draw.
        """
        if bound < 1:
            raise ScenarioError(f"cannot draw below {bound}; a pool needs at least one member")
        limit = _WORDS - _WORDS % bound
        while True:
            word = int.from_bytes(self._next()[:_WORD_BYTES], "big")
            if word < limit:
                return word % bound

    def pick(self, pool: Sequence[_Item]) -> _Item:
        """One member of ``pool``."""
        return pool[self.below(len(pool))]

    def distinct(self, pool: Sequence[_Item], count: int, clash: Callable[[_Item, _Item], bool]) -> tuple[_Item, ...]:
        """``count`` members of ``pool``, no two of which clash.

        Raises:
            ScenarioError: the pool is too small for that many.
        """
        left = list(pool)
        chosen: list[_Item] = []
        while len(chosen) < count:
            if not left:
                raise ScenarioError(f"a pool of {len(pool)} does not hold {count} members that do not clash")
            member = self.pick(left)
            chosen.append(member)
            left = [other for other in left if not clash(member, other)]
        return tuple(chosen)

    def token(self, digits: int) -> str:
        """A lower-case hexadecimal string of ``digits`` digits."""
        return self._next().hex()[:digits]

    def _next(self) -> bytes:
        self._counter += 1
        return digests.framed(Prefix.SCENARIO, [b"draw", *self._label, self._counter.to_bytes(_WORD_BYTES, "big")])
