"""Filing and reversing verdicts: one transaction each, with the assessments it completes and the receipts it produces.

The verdict comes from a verifier or a scenario's oracle; whether anything follows from it is the fold's decision, never
the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from ledger_core.belief.independence import Assessment, Pair, assess, pairs_completed
from ledger_core.belief.index import LedgerIndex, index_statements
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.belief.quorum import testimony_of
from ledger_core.belief.receipts import ReceiptBody, expected_receipts
from ledger_core.harness.evidence import EvidenceReader
from ledger_core.kernel import digests, jcs
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.envelope import ErasureScope
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

if TYPE_CHECKING:
    from ledger_core.providers import EmbeddingProvider

NAMESPACE: Final = "veritas.verdicts"
_VERSION: Final = "1"

VerdictValue = Literal["contradict", "support", "undecided"]
ReversalReason = Literal["verifier_error", "source_corrected", "operator_decision", "erased"]


@dataclass(frozen=True, slots=True)
class FiledVerdict:
    """What a filing put into the log."""

    verdict: EventId
    value: VerdictValue
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

    def __init__(self, ledger: Ledger, embedder: EmbeddingProvider | None = None) -> None:
        """A desk over ``ledger``; it reads the log when the first verdict is filed.

        ``embedder`` is needed where the policy's recipe compares embeddings; without one such a pair is refused and not
        recorded as `unknown`: a pair is recorded once, and the next desk may have one.
        """
        self._ledger = ledger
        self._evidence = EvidenceReader(ledger, embedder)
        self._author = Author(ledger.scope, NAMESPACE, _VERSION)
        self._comparer = self._author if embedder is None else _configured(self._author, embedder.model)
        """Author of the assessments that hold a cosine: their configuration names the model it is of."""
        self._references = ReferenceIndex()
        self._read_to = 0
        self._filed: dict[EventId, FiledVerdict] = {}
        self._answers: dict[tuple[str, str, str], EventId] = {}
        """(target, candidate, recipe) -> the verdict that answers it."""
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
            PolicyError: the policy in force cannot be applied by this version, or not without an embedder.
            BlobError: the policy compares texts, and one is missing or damaged.
        """
        self.catch_up()
        body = VerdictFiledBody.make(
            candidate=candidate, recipe=recipe, stage_a=stage_a, stage_b=stage_b, target=target, verdict=verdict
        )
        cites = stage_a is not None or stage_b is not None
        statement = self._author.write(
            VerdictFiled,
            verdict_fact(NAMESPACE, target, candidate, recipe),
            body,
            erasure_scopes=self._erasure_scopes(target, candidate) if cites else (),
        )
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
            value=verdict,
            assessments=tuple(assessment.event_id for assessment in assessments),
            receipts=tuple(receipt.event_id for receipt in receipts),
            fired=any(isinstance(receipt, CascadeFired) for receipt in receipts),
            replayed=False,
        )

    def begin_run(self, first_seal: str) -> None:
        """From ``first_seal`` on another agent's run is recorded: what agents wrote before is not what it may echo."""
        self._evidence.first_seal = EventId(first_seal)

    def answered(self, target: str, candidate: str, recipe: str) -> FiledVerdict | None:
        """What ``recipe`` answered about the pair before, live or reversed; None where it was never asked.

        A recipe answers a pair once: look here before asking a model again.
        """
        self.catch_up()
        verdict = self._answers.get((target, candidate, recipe))
        return None if verdict is None else self._filed[verdict]

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

    def _erasure_scopes(self, *entries: str) -> tuple[ErasureScope, ...]:
        """An erasure of either entry's source fact finds the verdict, whose receipts may quote both."""
        scopes: set[tuple[Literal["source_fact", "privacy_subject", "record"], str]] = set()
        for entry in entries:
            statement = self._ledger.statement(entry)
            scopes.add(("source_fact", statement.source_fact_id))
            scopes.update((scope.kind, scope.target_digest) for scope in statement.erasure_scopes)
        return tuple(ErasureScope.make(kind=kind, target_digest=digest) for kind, digest in sorted(scopes))

    def _assessments(self, body: VerdictFiledBody, index: LedgerIndex, policy: Policy) -> Iterator[Statement]:
        evidence = self._evidence.about(EventId(body.target), policy)
        for pair in pairs_completed(body, index, testimony_of(index)):
            assessed = _assessment(pair, assess(pair, index, policy, evidence), policy.independence_recipe)
            author = self._author if assessed.cosine_ppm is None else self._comparer
            yield author.write(IndependenceAssessed, pair_fact(NAMESPACE, *pair), assessed)

    def _receipt(self, verdict: EventId, body: ReceiptBody) -> CascadeFired | CascadeRefused | ReputationAdjusted:
        if isinstance(body, CascadeFiredBody):
            return self._author.write(CascadeFired, receipt_fact(NAMESPACE, verdict, body.target), body)
        if isinstance(body, CascadeRefusedBody):
            return self._author.write(CascadeRefused, receipt_fact(NAMESPACE, verdict, body.target), body)
        fact = receipt_fact(NAMESPACE, verdict, body.cluster, body.family)
        return self._author.write(ReputationAdjusted, fact, body)

    def catch_up(self) -> None:
        """Read what was appended since the desk last looked: the whole log the first time."""
        for event in self._ledger.events(after=self._read_to):
            self._read_to = event.offset
            self._take_in(event.statement)

    def _take_in(self, statement: Statement) -> None:
        """Index ``statement``, and remember what was filed together with a verdict for the case of a replay."""
        self._references.add(statement)
        self._evidence.take_in(statement)
        key = statement.event_id
        if isinstance(statement, VerdictFiled):
            body = statement.body
            self._last_verdict = key
            self._filed[key] = FiledVerdict(key, body.verdict, (), (), fired=False, replayed=True)
            if statement.source_fact.namespace == NAMESPACE:
                self._answers[body.target, body.candidate, body.recipe] = key
            return
        known = None if self._last_verdict is None else self._filed[self._last_verdict]
        if known is not None and isinstance(statement, IndependenceAssessed):
            self._filed[known.verdict] = replace(known, assessments=(*known.assessments, key))
        elif known is not None and isinstance(statement, CascadeFired | CascadeRefused | ReputationAdjusted):
            fired = known.fired or isinstance(statement, CascadeFired)
            self._filed[known.verdict] = replace(known, receipts=(*known.receipts, key), fired=fired)
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
    embedder: EmbeddingProvider | None = None,
) -> FiledVerdict:
    """File one verdict; see :meth:`VerdictDesk.file`, which is cheaper for many."""
    return VerdictDesk(ledger, embedder).file(
        target=target, candidate=candidate, verdict=verdict, recipe=recipe, stage_a=stage_a, stage_b=stage_b
    )


def reverse_verdict(ledger: Ledger, verdict: str, reason: ReversalReason, note: ContentRef | None = None) -> EventId:
    """Withdraw one verdict; see :meth:`VerdictDesk.reverse`."""
    return VerdictDesk(ledger).reverse(verdict, reason, note)


def _configured(author: Author, embedder: str) -> Author:
    return replace(author, config_digest=digests.domain_hex(Prefix.CONFIG, jcs.encode({"embedder": embedder})))


def _assessment(pair: Pair, assessment: Assessment, recipe: str) -> IndependenceAssessedBody:
    first, second = pair
    found = assessment.comparison
    return IndependenceAssessedBody.make(
        cosine_ppm=found.cosine_ppm,
        echoes=assessment.echoes,
        first=first,
        jaccard_ppm=found.jaccard_ppm,
        recipe=recipe,
        result=found.result,
        second=second,
    )
