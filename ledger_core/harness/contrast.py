"""Contrastive pairs: the context that an agent was shown, against the one it would have been shown without retractions.

Both are rendered from the same head by the same renderer; they differ in nothing but what verdicts took out, demoted or
promoted. Such pairs say what a retraction was worth, and are what a model can be trained or tested on: `chosen` is the
working set, `rejected` the same log taken at its word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledger_core.belief.fold import fold
from ledger_core.belief.state import BeliefState, FoldOptions
from ledger_core.harness.contexts import RenderedContext, context_at, render
from ledger_core.harness.view import LedgerView
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger

WITHOUT_VERDICTS = FoldOptions(ignore_verdicts=True)


@dataclass(frozen=True, slots=True)
class ContrastivePair:
    """Two readings of one head that differ."""

    chosen: RenderedContext
    rejected: RenderedContext
    because: Mapping[EventId, tuple[EventId, ...]]
    """Retracted entry -> the members of the quorum against it."""

    def line(self) -> dict[str, Any]:
        """The pair as a log holds it: no text."""
        return {
            "because": [{"members": list(members), "target": target} for target, members in self.because.items()],
            "chosen": _shown(self.chosen),
            "head": self.chosen.head,
            "policy": self.chosen.policy,
            "rejected": _shown(self.rejected),
            "renderer": self.chosen.renderer,
        }


def contrast(chosen: RenderedContext, view: LedgerView) -> ContrastivePair | None:
    """The pair of ``chosen``, which was rendered from the present head; None where verdicts make no difference."""
    head, statements, state, policy = view.look()
    if head != chosen.head or not state.retractions:
        return None
    rejected = render(
        fold(statements, policy, WITHOUT_VERDICTS),
        statements,
        view.texts(statements),
        head=head,
        policy=policy,
        renderer=chosen.renderer,
    )
    if rejected.digest == chosen.digest:
        return None
    return ContrastivePair(chosen, rejected, _because(state))


def read_pair(line: Mapping[str, Any], ledger: Ledger) -> ContrastivePair:
    """The pair of a log's line with its texts, made again from the ledger.

    Raises:
        BeliefError: the line is of another ledger.
    """
    of = {"head": line["head"], "policy": line["policy"], "renderer": line["renderer"]}
    return ContrastivePair(
        chosen=context_at(ledger, **of),
        rejected=context_at(ledger, **of, options=WITHOUT_VERDICTS),
        because={EventId(each["target"]): tuple(map(EventId, each["members"])) for each in line["because"]},
    )


def _because(state: BeliefState) -> dict[EventId, tuple[EventId, ...]]:
    return {target: retraction.members for target, retraction in state.retractions.items()}


def _shown(context: RenderedContext) -> dict[str, Any]:
    return {"digest": context.digest, "entries": list(context.entries)}
