"""Filing and reversing verdicts: one transaction each, with the assessments it completes and the receipts it produces.

The verdict comes from a verifier or a scenario's oracle; whether anything follows from it is the fold's decision, never
the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ledger_core.belief.independence import Pair, assess, pairs_completed
from ledger_core.belief.index import LedgerIndex, index_statements
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.belief.quorum import testimony_of
from ledger_core.belief.receipts import ReceiptBody, expected_receipts
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.facts import pair_fact, receipt_fact, successor_fact, verdict_fact
from ledger_core.kernel.statements.verdicts import (
    CascadeFired,
    CascadeFiredBody,
    CascadeRefused,
    CascadeRefusedBody,
    IndependenceAssessed,
    IndependenceAssessedBody,
    ReputationAdjusted,
    VerdictFiled,
    VerdictFiledBody,
    VerdictReversed,
    VerdictReversedBody,
)
from ledger_core.kernel.types import EventId
from ledger_core.stores.ledger import Ledger

NAMESPACE: Final = "veritas.verdicts"
_VERSION: Final = "1"

VerdictValue = Literal["contradict", "support", "undecided"]
ReversalReason = Literal["verifier_error", "source_corrected", "operator_decision", "erased"]


@dataclass(frozen=True, slots=True)
class FiledVerdict:
    """What a filing put into the log."""

    verdict: EventId
    assessments: tuple[EventId, ...]
    """Pairs that this verdict completed."""
    receipts: tuple[EventId, ...]
    """A cascade receipt, then adjusted reputations; empty unless the verdict contradicts."""
    fired: bool
    """Whether this verdict completed the quorum against its target."""
    replayed: bool
    """Whether the same verdict stood in the log already; then nothing was written."""


class VerdictDesk:
    """Files many verdicts into one ledger, reading only what was appended since the last.

    One desk at a time writes verdicts into a ledger: receipts describe the log that the desk has read.
    """

    def __init__(self, ledger: Ledger) -> None:
        """A desk over ``ledger``; it reads the log when the first verdict is filed."""
        self._ledger = ledger
        self._author = Author(ledger.scope, NAMESPACE, _VERSION)
        self._references = ReferenceIndex()
        self._read_to = 0
        self._filed: dict[EventId, FiledVerdict] = {}
        self._last_verdict: EventId | None = None

    def file(
        self,
        *,
        target: str,
        candidate: str,
        verdict: VerdictValue,
        recipe: str,
        stage_a: ContentRef | None = None,
        stage_b: ContentRef | None = None,
    ) -> FiledVerdict:
        """File whether ``candidate`` contradicts ``target`` according to ``recipe``, with everything that follows.

        Raises:
            StatementError: an id or name that is none.
            UnknownReferenceError: target or candidate is no entry of this ledger.
            CollisionError: the same recipe answered otherwise before.
            PolicyError: the policy in force cannot be applied by this version.
        """
        self._catch_up()
        body = VerdictFiledBody.make(
            candidate=candidate, recipe=recipe, stage_a=stage_a, stage_b=stage_b, target=target, verdict=verdict
        )
        statement = self._author.write(VerdictFiled, verdict_fact(NAMESPACE, target, candidate, recipe), body)
        known = self._filed.get(statement.event_id)
        if known is not None:
            return known
        policy = self._ledger.policy()
        reach = self._references.around(EventId(target), EventId(candidate))
        index = index_statements(reach, policy)
        assessments = tuple(self._assessments(body, index, policy))
        receipts = tuple(
            self._receipt(statement.event_id, receipt)
            for receipt in expected_receipts(reach, (statement, *assessments), statement, policy)
        )
        self._ledger.append((statement, *assessments, *receipts), role="verifier")
        return FiledVerdict(
            verdict=statement.event_id,
            assessments=tuple(assessment.event_id for assessment in assessments),
            receipts=tuple(receipt.event_id for receipt in receipts),
            fired=any(isinstance(receipt, CascadeFired) for receipt in receipts),
            replayed=False,
        )

    def reverse(self, verdict: str, reason: ReversalReason, note: ContentRef | None = None) -> EventId:
        """Withdraw ``verdict``: state becomes exactly what it would be without it.

        Raises:
            UnknownReferenceError: ``verdict`` is no verdict of this ledger.
            CollisionError: it was reversed before, for another reason.
        """
        body = VerdictReversedBody.make(note=note, predecessor=None, reason=reason, verdict=verdict)
        statement = self._author.write(VerdictReversed, successor_fact(NAMESPACE, verdict, None), body)
        self._ledger.append((statement,), role="operator")
        return statement.event_id

    def _assessments(self, body: VerdictFiledBody, index: LedgerIndex, policy: Policy) -> Iterator[Statement]:
        for pair in pairs_completed(body, index, testimony_of(index)):
            yield self._author.write(
                IndependenceAssessed, pair_fact(NAMESPACE, *pair), _assessment(pair, index, policy.independence_recipe)
            )

    def _receipt(self, verdict: EventId, body: ReceiptBody) -> CascadeFired | CascadeRefused | ReputationAdjusted:
        if isinstance(body, CascadeFiredBody):
            return self._author.write(CascadeFired, receipt_fact(NAMESPACE, verdict, body.target), body)
        if isinstance(body, CascadeRefusedBody):
            return self._author.write(CascadeRefused, receipt_fact(NAMESPACE, verdict, body.target), body)
        fact = receipt_fact(NAMESPACE, verdict, body.cluster, body.family)
        return self._author.write(ReputationAdjusted, fact, body)

    def _catch_up(self) -> None:
        for event in self._ledger.events(after=self._read_to):
            self._read_to = event.offset
            self._take_in(event.statement)

    def _take_in(self, statement: Statement) -> None:
        """Index ``statement``, and remember what was filed together with a verdict for the case of a replay."""
        self._references.add(statement)
        key = statement.event_id
        if isinstance(statement, VerdictFiled):
            self._last_verdict = key
            self._filed[key] = FiledVerdict(key, (), (), fired=False, replayed=True)
            return
        known = None if self._last_verdict is None else self._filed[self._last_verdict]
        if known is not None and isinstance(statement, IndependenceAssessed):
            assessments = (*known.assessments, key)
            self._filed[known.verdict] = FiledVerdict(known.verdict, assessments, (), known.fired, replayed=True)
        elif known is not None and isinstance(statement, CascadeFired | CascadeRefused | ReputationAdjusted):
            fired = known.fired or isinstance(statement, CascadeFired)
            receipts = (*known.receipts, key)
            self._filed[known.verdict] = FiledVerdict(known.verdict, known.assessments, receipts, fired, replayed=True)
        else:
            self._last_verdict = None


def file_verdict(
    ledger: Ledger,
    *,
    target: str,
    candidate: str,
    verdict: VerdictValue,
    recipe: str,
    stage_a: ContentRef | None = None,
    stage_b: ContentRef | None = None,
) -> FiledVerdict:
    """File one verdict; see :meth:`VerdictDesk.file`, which is cheaper for many."""
    return VerdictDesk(ledger).file(
        target=target, candidate=candidate, verdict=verdict, recipe=recipe, stage_a=stage_a, stage_b=stage_b
    )


def reverse_verdict(ledger: Ledger, verdict: str, reason: ReversalReason, note: ContentRef | None = None) -> EventId:
    """Withdraw one verdict; see :meth:`VerdictDesk.reverse`."""
    return VerdictDesk(ledger).reverse(verdict, reason, note)


def _assessment(pair: Pair, index: LedgerIndex, recipe: str) -> IndependenceAssessedBody:
    first, second = pair
    return IndependenceAssessedBody.make(
        cosine_ppm=None,
        echoes=(),
        first=first,
        jaccard_ppm=None,
        recipe=recipe,
        result=assess(recipe, pair, index),
        second=second,
    )
