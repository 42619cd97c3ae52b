"""`key.bound`: which public key signs for a ledger, stated in the ledger itself.

A binding helps a reader who trusts a head to find the key. It cannot vouch for itself: whoever can rewrite the ledger
can bind another key, so a verifier brings its own keys or an anchor.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import KeyBound, KeyBoundBody
from ledger_core.kernel.statements.envelope import SourceFact
from ledger_core.kernel.statements.facts import FIRST
from ledger_core.kernel.text import is_contract_id
from ledger_core.signing.keys import VerifierKey

CHECKPOINT_ROLE = "checkpoint"
"""Role of a key that signs checkpoints and append receipts."""

PRODUCER = "veritas.signing"
_VERSION = "1"


def key_name(key: VerifierKey) -> str:
    """The `key_id` of a binding: the key's name, a dot and its id in hex, as one id of ours.

    Raises:
        StatementError: a foreign name, which no binding can hold.
    """
    name = f"{key.name}.{key.key_id.hex()}"
    if not is_contract_id(name):
        raise StatementError(
            f"key name {key.name!r} cannot be bound: a lower-case letter, then at most 118 of a-z, 0-9, `_`, `.`, `-`"
        )
    return name


def bind_key(scope: Scope, key: VerifierKey, role: str = CHECKPOINT_ROLE) -> KeyBound:
    """The statement that binds ``key`` to ``role`` in ``scope``; the same key gives the same statement."""
    name = key_name(key)
    body = KeyBoundBody.make(algorithm="ed25519", key_id=name, public_key=key.public_key.hex(), role=role)
    fact = SourceFact.make(key=name, namespace=PRODUCER, object=role, revision=FIRST)
    return Author(scope, PRODUCER, _VERSION).write(KeyBound, fact, body)


def bound_keys(statements: Iterable[Statement], role: str = CHECKPOINT_ROLE) -> tuple[VerifierKey, ...]:
    """The keys bound to ``role``, in order; bindings whose `key_id` is not that of their key are left out."""
    keys: list[VerifierKey] = []
    for statement in statements:
        if isinstance(statement, KeyBound) and statement.body.role == role:
            name, _, key_id = statement.body.key_id.rpartition(".")
            key = VerifierKey(name, bytes.fromhex(statement.body.public_key))
            if name and key.key_id.hex() == key_id:
                keys.append(key)
    return tuple(keys)
