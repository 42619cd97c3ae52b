"""Token ids as stored bytes (media type :data:`~ledger_core.kernel.content.TOKENS`)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ledger_core.kernel.errors import StatementError

WORD = 4
"""Bytes of one id."""


def pack_tokens(ids: Sequence[int]) -> bytes:
    """Token ids as unsigned 32-bit little-endian integers; raises :class:`StatementError` for an id that is none."""
    try:
        return struct.pack(f"<{len(ids)}I", *ids)
    except struct.error as error:
        raise StatementError(f"token ids are integers from 0 to 2³²−1 ({error})") from error


def unpack_tokens(data: bytes) -> tuple[int, ...]:
    """Token ids from :func:`pack_tokens`; raises :class:`StatementError` for bytes that are no whole ids."""
    if len(data) % WORD:
        raise StatementError(f"{len(data)} bytes are no whole number of token ids of {WORD} bytes")
    return struct.unpack(f"<{len(data) // WORD}I", data)
