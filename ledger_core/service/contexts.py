"""The working set of a whole scope, as the harness renders it: reproducible from the head, policy and renderer it names."""

from __future__ import annotations

from typing import Literal

from ledger_core.harness import contexts
from ledger_core.harness.view import LedgerView
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import BlobError
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.entries import EntryConjectured, EntryDerived, EntryGiven
from ledger_core.kernel.statements.sealing import EntryObserved
from ledger_core.service.answers import ContextAnswer, ContextLine
from ledger_core.service.problems import Problem, ProblemKind
from ledger_core.service.rooms import Belief, Room


def render(room: Room, renderer: Literal["v1", "v2"]) -> ContextAnswer:
    """What a model is to be shown of ``room``'s ledger; content that was erased is left out.

    Raises:
        Problem: content is missing or damaged.
    """
    belief = room.belief()
    statements = _until(room, belief)
    shown = [one for one in statements if content_of(one) is not None]
    if renderer == "v2":  # what vanishes without a marker need not be read
        shown = [one for one in shown if not belief.state.entries[one.event_id].invalidated]
    try:
        texts = LedgerView(room.reading).texts(shown)
    except BlobError as error:
        raise Problem(ProblemKind.DAMAGED, "content of an entry is missing or damaged; run `veritas verify`") from error
    made = contexts.render(belief.state, statements, texts, head=belief.head, policy=belief.policy, renderer=renderer)
    return ContextAnswer(
        head=made.head,
        lines=tuple(ContextLine(entry=line.key, text=line.text) for line in made.lines),
        policy=made.policy,
        renderer=renderer,
        text=made.text,
    )


def _until(room: Room, belief: Belief) -> list[Statement]:
    """The statements that ``belief`` is of: the log may have grown since."""
    statements: list[Statement] = []
    if belief.last is not None:
        for event in room.reading.events():
            statements.append(event.statement)
            if event.chain == belief.last:
                break
    return statements


def content_of(statement: Statement) -> ContentRef | None:
    """The content of an entry; None for any other statement."""
    if isinstance(statement, EntryObserved | EntryGiven | EntryDerived | EntryConjectured):
        return statement.body.content
    return None
