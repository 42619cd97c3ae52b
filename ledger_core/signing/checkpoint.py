"""The text of a checkpoint (C2SP tlog-checkpoint): origin, size, root; one a line, nothing else.

The origin of a family's tree is ``veritas/<tenant>/<project>/<family>``. Extension lines are refused: what no auditor
can recompute has no place under a signature.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

from ledger_core.kernel.errors import NoteError
from ledger_core.kernel.merkle import HASH_BYTES, MAX_SIZE
from ledger_core.kernel.statements import FAMILIES, LogFamily, Scope
from ledger_core.kernel.text import is_contract_id
from ledger_core.signing.notes import decode_base64

_SIZE = re.compile(r"0|[1-9][0-9]{0,19}")
_LINES = 3
_ORIGIN_PARTS = 4


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree at one size."""

    origin: str
    size: int
    """Leaves, at least 1."""
    root: bytes
    """32 bytes."""

    def __post_init__(self) -> None:
        """Refuse a tree that cannot be."""
        if not 0 < self.size <= MAX_SIZE:
            raise NoteError(
                f"a checkpoint of size {self.size} says nothing: every log begins with the empty tree"
                if self.size == 0
                else f"a tree has 1 to {MAX_SIZE} leaves, not {self.size}"
            )
        if len(self.root) != HASH_BYTES:
            raise NoteError(f"a root has {HASH_BYTES} bytes, not {len(self.root)}")

    @property
    def text(self) -> str:
        """The note's text."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """The checkpoint of a note's text; raises :class:`NoteError` for any other text."""
        lines = text.removesuffix("\n").split("\n")
        if len(lines) != _LINES or not all(lines) or not text.endswith("\n"):
            raise NoteError("a checkpoint has three lines: origin, size, root")
        origin, size, root = lines
        if _SIZE.fullmatch(size) is None:
            raise NoteError(f"size {size[:40]!r} of a checkpoint is no decimal number")
        return cls(origin, int(size), decode_base64(root, "the root of a checkpoint"))

    @property
    def subject(self) -> tuple[Scope, LogFamily] | None:
        """The scope and family of the tree; None where another program's log is meant."""
        parts = self.origin.split("/")
        if len(parts) != _ORIGIN_PARTS or parts[0] != "veritas":
            return None
        _, tenant, project, family = parts
        found = [known for known in FAMILIES if known == family]
        if not found or not (is_contract_id(tenant) and is_contract_id(project)):
            return None
        return Scope.make(project_namespace=project, tenant_namespace=tenant), found[0]


def origin_of(scope: Scope, family: LogFamily) -> str:
    """The origin line of a family's checkpoints."""
    return f"veritas/{scope.tenant_namespace}/{scope.project_namespace}/{family}"
