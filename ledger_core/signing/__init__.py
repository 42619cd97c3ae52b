"""Ed25519 keys, signed notes, checkpoints, proofs and append receipts: what a reader can check without the ledger."""

from ledger_core.signing.bindings import CHECKPOINT_ROLE, bind_key, bound_keys
from ledger_core.signing.checkpoint import Checkpoint, origin_of
from ledger_core.signing.keys import SigningKey, VerifierKey, load_key, open_key
from ledger_core.signing.leaves import Leaf, leaf_of
from ledger_core.signing.notes import SignedNote
from ledger_core.signing.proofs import ConsistencyProof, InclusionProof
from ledger_core.signing.receipts import check_receipt, sign_append

__all__ = [
    "CHECKPOINT_ROLE",
    "Checkpoint",
    "ConsistencyProof",
    "InclusionProof",
    "Leaf",
    "SignedNote",
    "SigningKey",
    "VerifierKey",
    "bind_key",
    "bound_keys",
    "check_receipt",
    "leaf_of",
    "load_key",
    "open_key",
    "origin_of",
    "sign_append",
]
