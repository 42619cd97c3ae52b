"""The end of a run: what its ledgers hold is signed, so that none of it can be taken back unseen."""

from __future__ import annotations

from collections.abc import Iterable

from ledger_core.kernel.statements import Scope
from ledger_core.signing import open_key
from ledger_core.stores.checkpoints import SignedCheckpoint, key_file, make_checkpoint, note_file
from pipelines.workspace import Workspace


def checkpoint_scopes(at: Workspace, scopes: Iterable[Scope]) -> tuple[SignedCheckpoint, ...]:
    """Sign both trees of every scope with the home's key and keep the notes in the home; again adds nothing.

    The key is not bound: runs with equal inputs end with equal heads, and keys are random.

    Raises:
        VerificationError: an earlier checkpoint says that a ledger was another.
        SigningKeyError: the home's key cannot be used.
    """
    home = at.settings.home
    key = open_key(key_file(home))
    made: list[SignedCheckpoint] = []
    for scope in scopes:
        with at.ledger(scope) as ledger:
            made.extend(make_checkpoint(ledger, key, [note_file(home, scope)], bind=False))
    return tuple(made)
