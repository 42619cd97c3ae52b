"""Digests by number: what a dictionary would hold in four times the memory.

A log of a million events has a million ids, and as many facts and contents; each is 32 raw bytes here, once, and four to eight
bytes of an open-addressed table.
"""

from __future__ import annotations

from array import array

from ledger_core.kernel.digests import DIGEST_BYTES

_FREE = -1
_FIRST_SLOTS = 1 << 10
_RECENT = 1 << 12
"""Digests found last that are remembered apart: most references are to what came just before."""


class DigestTable:
    """Distinct digests of 32 bytes, numbered from 0 in the order in which they came."""

    def __init__(self, *, recent: int = _RECENT) -> None:
        """``recent``: how many of those found last are remembered apart; none where they are only added."""
        self._most_recent = recent
        self._held = bytearray()
        self._slots = array("i", [_FREE]) * _FIRST_SLOTS
        self._mask = _FIRST_SLOTS - 1
        self._count = 0
        self._recent: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> bytes:
        """The digest of ``number``; raises IndexError where there is none."""
        if not 0 <= number < self._count:
            raise IndexError(f"{number} is no number of {self._count} digests")
        return bytes(self._held[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES])

    def find(self, digest: bytes) -> int | None:
        """The number of ``digest``, or None."""
        number = self._recent.get(digest)
        if number is None:
            number = self._slots[self._slot(digest)]
            if number == _FREE:
                return None
            if self._most_recent:
                self._remember(digest, number)
        return number

    def add(self, digest: bytes) -> int | None:
        """The new number of ``digest``; None where it has one already."""
        if digest in self._recent:
            return None
        slot = self._slot(digest)
        if self._slots[slot] != _FREE:
            return None
        number = self._count
        self._slots[slot] = number
        self._held += digest
        self._count = number + 1
        if self._most_recent:
            self._remember(digest, number)
        if 2 * self._count > len(self._slots):
            self._grow()
        return number

    def _slot(self, digest: bytes) -> int:
        """Where ``digest`` is, or would be."""
        slots, mask, held = self._slots, self._mask, self._held
        # Python salts this hash anew in every process: nobody can choose digests that meet in it.
        slot = hash(digest) & mask
        while (number := slots[slot]) != _FREE:
            start = number * DIGEST_BYTES
            if held[start : start + DIGEST_BYTES] == digest:
                break
            slot = (slot + 1) & mask
        return slot

    def _remember(self, digest: bytes, number: int) -> None:
        if len(self._recent) >= self._most_recent:
            self._recent.clear()
        self._recent[digest] = number

    def _grow(self) -> None:
        self._slots = array("i", [_FREE]) * (2 * len(self._slots))
        self._mask = len(self._slots) - 1
        slots, mask = self._slots, self._mask
        for number in range(self._count):
            slot = hash(self[number]) & mask
            while slots[slot] != _FREE:
                slot = (slot + 1) & mask
            slots[slot] = number
