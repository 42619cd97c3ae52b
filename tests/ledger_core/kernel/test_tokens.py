"""Token ids as bytes and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.tokens import pack_tokens, unpack_tokens


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_token_ids_survive_packing(ids):
    assert list(unpack_tokens(pack_tokens(ids))) == ids


def test_packed_ids_are_little_endian_words():
    assert pack_tokens([1, 258]) == b"\x01\0\0\0\x02\x01\0\0"


@pytest.mark.parametrize("wrong", [-1, 2**32])
def test_what_is_no_id_is_refused(wrong):
    with pytest.raises(StatementError, match="token ids are integers"):
        pack_tokens([wrong])


def test_what_is_no_whole_number_of_ids_is_refused():
    with pytest.raises(StatementError, match="5 bytes"):
        unpack_tokens(b"12345")
