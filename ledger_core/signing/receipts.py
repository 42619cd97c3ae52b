"""The signed append receipt: what a client keeps, to show later that the log acknowledged its event.

    veritas/append-receipt@v1
    {"chain":…,"event_id":…,"family":…,"position":{…},"receipt":…}

    — name signature

A log that has lost the event, or holds another one in its place, is convicted by this file alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledger_core.kernel.errors import NoteError
from ledger_core.signing.keys import SigningKey, VerifierKey
from ledger_core.signing.leaves import Leaf, leaf_of
from ledger_core.signing.notes import SignedNote
from ledger_core.stores.protocols import StoredEvent

RECEIPT = "veritas/append-receipt@v1"


def sign_append(event: StoredEvent, key: SigningKey) -> SignedNote:
    """The receipt of ``event`` as it stands in the log."""
    return key.sign(f"{RECEIPT}\n{leaf_of(event).canonical_bytes().decode()}\n")


def check_receipt(receipt: SignedNote, trusted: Iterable[VerifierKey]) -> Leaf:
    """The leaf that ``receipt`` acknowledges.

    Raises:
        SignatureError: no trusted key signed it.
        NoteError, StatementError: it is no append receipt.
    """
    receipt.require(trusted)
    head, _, rest = receipt.text.partition("\n")
    if head != RECEIPT or rest.count("\n") != 1:
        raise NoteError(f"an append receipt is two lines, {RECEIPT!r} and a leaf; the first is {head[:80]!r}")
    return Leaf.decode(rest.removesuffix("\n").encode())
