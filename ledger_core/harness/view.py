"""A ledger as it is read by an agent: its statements as logged, what is believed of them, and what the entries say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ledger_core.belief.projection import Projection
from ledger_core.belief.state import BeliefState
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import BlobError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import ENTRY_KINDS, Statement
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger
from ledger_core.stores.protocols import BlobStatus

MAX_BYTES = 64 << 10
"""Content beyond this is shown to an agent by its media type and size, as binary content is."""


class LedgerView:
    """Reads only what was appended since the last look, and judges anew only what that reaches."""

    def __init__(self, ledger: Ledger) -> None:
        """Over ``ledger``, read when first asked."""
        self._ledger = ledger
        self._statements: list[Statement] = []
        self._read_to = 0
        self._head = ""
        self._projection: Projection | None = None
        self._projected = 0
        """Statements that the projection has taken in."""
        self._state: BeliefState | None = None

    def look(self) -> tuple[str, tuple[Statement, ...], BeliefState, Policy]:
        """The evidence head, the statements up to it, what they make believed, and under which policy."""
        for event in self._ledger.events(after=self._read_to):
            self._read_to, self._head = event.offset, event.chain
            self._statements.append(event.statement)
        policy = self._ledger.policy()
        state = self._believed(policy)
        return self._head or self._ledger.head(), tuple(self._statements), state, policy

    def _believed(self, policy: Policy) -> BeliefState:
        projection, self._projection = self._projection, None  # one that fails half-way is not used again
        if projection is None or projection.policy != policy:
            projection, self._state = Projection(policy), None
            self._projected = 0
        new = self._statements[self._projected :]
        if new or self._state is None:
            projection.extend(new)
            self._projected += len(new)
            self._state = projection.state()
        self._projection = projection
        return self._state

    def texts(self, statements: Iterable[Statement]) -> Mapping[EventId, str]:
        """What the entries among ``statements`` say; erased ones are left out."""
        found: dict[EventId, str] = {}
        for statement in statements:
            if statement.kind in ENTRY_KINDS:
                content: ContentRef = statement.body.content  # type: ignore[union-attr]
                text = entry_text(self._ledger, content)
                if text is not None:
                    found[statement.event_id] = text
        return found


def entry_text(ledger: Ledger, content: ContentRef) -> str | None:
    """Content as an agent is shown it; None where it was erased on purpose.

    Raises:
        BlobError: missing or damaged content.
    """
    if content.byte_length > MAX_BYTES:
        return _described(content)
    try:
        return ledger.read_blob(content).decode()
    except UnicodeDecodeError:
        return _described(content)
    except BlobError:
        if ledger.blob_status(content) is BlobStatus.ERASED:
            return None
        raise


def _described(content: ContentRef) -> str:
    return f"({content.media_type}, {content.byte_length} bytes, {content.digest})"
